"""The training recipe: batches, optimizers, validation, checkpoints, exact resume."""
