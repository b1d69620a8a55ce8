"""Pictures of one sentence: its attention, its tree."""
