"""How a model computes: matrix products, compiled steps, and the device."""
