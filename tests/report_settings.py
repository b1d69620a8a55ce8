"""Settings of tables and figures, for tests."""

from typing import Any


def report_settings(labels: dict[str, str], **changes: Any) -> dict[str, Any]:
    """What the subcommands of the report stage read as `--settings`, for models with these labels."""
    first = next(iter(labels))
    settings: dict[str, Any] = {
        "reported": False,
        "figure2_models": [first],
        "figure2_length": "source",
        "figure2_window": 10,
        "figure2_max_words": 60,
        "bootstrap_samples": 0,
        "bootstrap_seed": 1,
        "max_unknown_words": 10,
        "figure3_model": first,
        "figure3_words": [10, 20],
        "figure3_seed": 1,
        "table3_models": [first],
        "table3_words": 30,
        "table3_sentences": 3,
        "table3_seed": 1,
        "labels": labels,
        "model_types": {},
        "unknown": "allowed",
        "languages": {"source": "en", "target": "fr"},
        "tokenization": {"escape": True, "split_hyphens": True},
    }
    return settings | changes
