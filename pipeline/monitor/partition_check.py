"""Checks that a cluster's partitions can run the jobs: others would be refused hours later, or wait for ever."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nmt.settings.checks import nearest
from pipeline.monitor.jobs import Job
from pipeline.monitor.slurm import Nodes, Partitions, configuration, partitions

FORGOTTEN_AFTER = 240
"""Seconds for which a scheduler must remember a finished job. The executor asks at least every 180 seconds."""


@dataclass(frozen=True)
class ResourceRequest:
    """What the jobs of a rule, or of several that are sent together, ask of Slurm.

    partition: names with commas between; empty for the cluster's default. minutes: None if not known. lifted: whether a
    quality of service is named, which may allow more time than the partition. limited_by: the key of `resources` with
    the time.
    """

    rule: str
    partition: str = ""
    minutes: float | None = None
    gpu: bool = False
    lifted: bool = False
    limited_by: str = ""


@dataclass(frozen=True)
class Cluster:
    """The requests of jobs for a cluster. status: the program that tells their states, squeue or sacct."""

    requests: tuple[ResourceRequest, ...] = ()
    status: str | None = None

    @staticmethod
    def of_jobs(jobs: Iterable[Job], status: str | None = None) -> Cluster:
        """Return what jobs that are about to run ask for: of those that differ in time alone, the longest."""
        longest: dict[ResourceRequest, float | None] = {}
        for stated in (_request(job.rule, job.resources) for job in jobs if not job.local):
            alike = replace(stated, minutes=None)
            times = [minutes for minutes in (stated.minutes, longest.get(alike)) if minutes is not None]
            longest[alike] = max(times, default=None)
        return Cluster(tuple(replace(alike, minutes=most) for alike, most in longest.items()), status)

    def on_partitions(self, names: Sequence[str], gpu_names: Sequence[str]) -> Cluster:
        """Return the same jobs on other partitions: those without a GPU on some, those with one on others.

        No names leave jobs on the partitions that they have.
        """
        moved = [
            replace(request, partition=name)
            for request in self.requests
            for name in (gpu_names if request.gpu else names) or (request.partition,)
        ]
        return replace(self, requests=tuple(moved))


def _request(rule: str, stated: Any) -> ResourceRequest:
    return ResourceRequest(
        stated.get("rules", rule),
        stated.get("slurm_partition", ""),
        stated.get("runtime"),
        bool(stated.get("gpu")),
        bool(stated.get("qos")),
        stated.get("limited_by", ""),
    )


def unsatisfiable(cluster: Cluster) -> list[str]:
    """Return why jobs would not start, or not be seen to end, a line each; nothing where Slurm does not answer."""
    known = partitions()
    lines = [line for request in cluster.requests for line in _refused(request, known)]
    return [*dict.fromkeys(lines), *_forgetful(cluster)]


def _refused(request: ResourceRequest, slurm: Partitions) -> Iterator[str]:
    """Yield what none of the partitions has that jobs may go to."""
    names = [name for name in (request.partition or slurm.default or "").split(",") if name]
    nodes: list[Nodes] = []
    for name in names:
        if slurm.nodes and name not in slurm.nodes:
            near, known = nearest(name, sorted(slurm.nodes)), ", ".join(sorted(slurm.nodes))
            yield f"slurm_partition: found {name!r}, which this cluster lacks{near}; known: {known}"
        nodes += slurm.nodes.get(name, [])
    if not nodes:
        return
    where = ", ".join(names)
    if request.gpu and not any(some.gpus for some in nodes):
        yield f"slurm_partition of jobs with a GPU: found {where}, none of whose nodes has a GPU, as sinfo tells"
        return
    longest = max(some.seconds for some in nodes)
    if request.minutes is not None and not request.lifted and 60 * request.minutes > longest:
        granted = f"{longest // 36 / 100:,g}"  # hours, rounded down to what may be asked for
        less = f"set resources.{request.limited_by} to {granted} or less, or " if request.limited_by else ""
        yield (
            f"{request.rule}: a job asks for {request.minutes / 60:,.3g} hours, but partition {where} grants"
            f" {granted}: {less}name another partition"
        )


def _forgetful(cluster: Cluster) -> Iterator[str]:
    """Yield a line if squeue is asked for the states of jobs that this cluster forgets too soon."""
    age = re.match(r"[0-9]+", configuration().get("MinJobAge", "")) if cluster.status == "squeue" else None
    remembered = int(age[0]) if age else math.inf
    if remembered < FORGOTTEN_AFTER:
        yield (
            f"slurm-status-command: found squeue, but this cluster forgets jobs {remembered} seconds after their end"
            " (MinJobAge), before it is asked for them: say sacct, if it has an accounting database"
        )
