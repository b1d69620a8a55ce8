"""Input and output for all other packages: files, text, progress, locks."""
