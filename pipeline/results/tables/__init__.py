"""Tables as CSV, Markdown and LaTeX."""
