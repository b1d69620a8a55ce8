"""Settings: their schema, layers, consistency, and which runs they describe."""
