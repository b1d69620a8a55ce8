"""Figures of one sentence: its attention, or its tree; and the style of all figures."""
