"""The models: encoders, decoders, attention, their start values and files."""
