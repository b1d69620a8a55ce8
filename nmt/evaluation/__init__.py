"""Scores of translations and of alignments."""
