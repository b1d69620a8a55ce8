"""A trained model on disk: its folder, tensors, archive and card."""
