"""The training recipe: updates, CUDA graphs, optimizers, validation, checkpoints, exact resume."""
