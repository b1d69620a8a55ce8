"""Status, preflight, estimates: what is done, what is left, what it takes."""
