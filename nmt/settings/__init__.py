"""The settings of a text, a model, its training and a search, as files and commands contain them."""
