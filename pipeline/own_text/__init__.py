"""An experiment on somebody's own text: the text, and settings that suit it."""
