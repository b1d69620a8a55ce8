"""Checks that a cluster's partitions can run the jobs: others would be refused hours later, or wait for ever."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nmt.io.system import parse_slurm_duration, query_program
from nmt.settings.base import suggest_name
from pipeline.monitor.jobs import Job


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


def query_partitions() -> Partitions:
    """Return the partitions of this cluster."""
    nodes: dict[str, list[Nodes]] = {}
    default = None
    answer = query_program("sinfo", "--noheader", "--exact", "--format=%P %l %G") or ""
    for line in answer.splitlines():
        if not line.strip():
            continue
        marked, limit, resources = (line.split(maxsplit=2) + [""] * 2)[:3]
        name = marked.rstrip("*")
        default = name if marked.endswith("*") else default
        equal = Nodes(parse_slurm_duration(limit) or math.inf, re.search(r"\bgpu\b", resources) is not None)
        nodes.setdefault(name, []).append(equal)
    return Partitions(nodes, default)


def find_unsatisfiable_jobs(jobs: Iterable[Job]) -> list[str]:
    """Return why jobs that are sent would not start, a line each; nothing where Slurm does not answer."""
    known = query_partitions()
    longest: dict[tuple[str, ...], float] = {}
    for job in (job for job in jobs if not job.local):
        stated = {"rules": job.rule, **job.resources}
        names = ("rules", "slurm_partition", "gpu", "qos", "time_setting")
        alike = tuple(str(stated.get(name) or "") for name in names)
        longest[alike] = max(longest.get(alike, 0.0), stated.get("runtime", 0.0))
    lines = [line for alike, minutes in longest.items() for line in _refused(known, minutes, *alike)]
    return list(dict.fromkeys(lines))


def _refused(
    slurm: Partitions, minutes: float, rules: str, partition: str, gpu: str, qos: str, time_setting: str
) -> Iterator[str]:
    """Yield what none of the partitions has that jobs may go to. A quality of service may lift limits on the time."""
    names = [name for name in (partition or slurm.default or "").split(",") if name]
    nodes: list[Nodes] = []
    for name in names:
        if slurm.nodes and name not in slurm.nodes:
            near, known = suggest_name(name, sorted(slurm.nodes)), ", ".join(sorted(slurm.nodes))
            yield f"slurm_partition: found {name!r}, which this cluster lacks{near}; known: {known}"
        nodes += slurm.nodes.get(name, [])
    if not nodes:
        return
    where = ", ".join(names)
    if gpu and not any(some.gpus for some in nodes):
        yield f"slurm_partition of jobs with a GPU: found {where}, none of whose nodes has a GPU, as sinfo tells"
        return
    longest = max(some.seconds for some in nodes)
    if not qos and 60 * minutes > longest:
        granted = f"{longest // 36 / 100:,g}"  # hours, rounded down to what may be asked for
        less = f"set resources.{time_setting} to {granted} or less, or " if time_setting else ""
        yield (
            f"{rules}: a job asks for {minutes / 60:,.3g} hours, but partition {where} grants"
            f" {granted}: {less}name another partition"
        )
