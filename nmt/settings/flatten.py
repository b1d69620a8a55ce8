"""Flattens nested settings to dotted keys, and compares two of them."""

from __future__ import annotations

from typing import Any

Flat = dict[str, Any]


def flatten(tree: dict[str, Any], prefix: str = "") -> Flat:
    """Return nested settings with dotted keys: {"a": {"b": 1}} becomes {"a.b": 1}."""
    flat: Flat = {}
    for key, value in tree.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def differences(was: Flat, now: Flat, ignore: frozenset[str] = frozenset()) -> str:
    """Return what changed as text, which is empty if nothing did."""
    keys = sorted(
        key for key in was.keys() | now.keys() if was.get(key) != now.get(key) and key not in ignore
    )
    return ", ".join(f"{key} was {was.get(key)!r} and is now {now.get(key)!r}" for key in keys)
