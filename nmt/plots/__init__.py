"""Figures of one sentence: its attention, or its tree."""
