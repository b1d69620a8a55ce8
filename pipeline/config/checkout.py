"""The checkout with the pipeline."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
