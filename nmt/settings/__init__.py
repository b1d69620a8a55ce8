"""What a text, a model, its training and a search are made of: settings that files and commands hold."""
