"""The models: encoders, decoders, attention, their initial weights, and their equations in plain loops."""
