"""Fake CUDA tensors without a GPU: they have shapes and devices, and no numbers. Importing this imports torch.

Whatever would have to wait for a GPU's numbers fails on them (`.item()`, `nonzero`, `if` on a tensor), and so does a
mixture of devices. It hides functions of PyTorch, so it is for the version that it was written for, in a process of its
own (`program.py`). tests/unit/training/test_without_gpu.py says what it needs.
"""
