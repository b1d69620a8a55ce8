"""Files, text, progress, locks: what every other package reads and writes with."""
