"""An experiment on the text of a user: the text, and settings that suit it."""
