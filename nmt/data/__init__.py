"""Data processing, from raw text to binarized text."""
