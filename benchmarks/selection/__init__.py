"""What the selection of training text is worth: a language model of the selected part beside one of a random part."""
