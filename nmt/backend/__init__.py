"""How a model computes: matrix products, compiled steps, CUDA graphs, and the device."""
