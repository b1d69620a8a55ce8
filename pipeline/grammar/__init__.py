"""The demo's English-French, written by a grammar, with known alignments."""
