"""From archives to binary text, in the order in which data flows."""
