"""A cluster's partitions and configuration, as Slurm tells them. They are empty without an answer."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nmt.io.system import ask, seconds


@dataclass(frozen=True)
class Nodes:
    """Equal nodes of a partition. seconds: the partition's time limit; gpus: whether the nodes have any."""

    seconds: float
    gpus: bool


@dataclass(frozen=True)
class Partitions:
    """A cluster's partitions with their nodes. default: the partition of jobs that name none; None if there is none."""

    nodes: dict[str, list[Nodes]]
    default: str | None = None


def partitions() -> Partitions:
    """Return the partitions of this cluster."""
    nodes: dict[str, list[Nodes]] = {}
    default = None
    for line in ask("sinfo", "--noheader", "--exact", "--format=%P %l %G").splitlines():
        if not line.strip():
            continue
        marked, limit, resources = (line.split(maxsplit=2) + [""] * 2)[:3]
        name = marked.rstrip("*")
        default = name if marked.endswith("*") else default
        equal = Nodes(seconds(limit) or math.inf, re.search(r"\bgpu\b", resources) is not None)
        nodes.setdefault(name, []).append(equal)
    return Partitions(nodes, default)


def configuration() -> dict[str, str]:
    """Return the cluster's configuration by the names in slurm.conf, with values in Slurm's format (`300 sec`)."""
    lines = (line.partition("=") for line in ask("scontrol", "show", "config").splitlines())
    return {name.strip(): value.strip() for name, equals, value in lines if equals}
