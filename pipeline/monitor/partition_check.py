"""Checks that a cluster can run the jobs: others would be refused hours later, or wait for ever."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nmt.io.slurm import Nodes, Partitions, configuration, partitions
from nmt.settings.faults import nearest
from pipeline.monitor.jobs import Job

FORGOTTEN_AFTER = 240
"""Seconds for which a scheduler must remember a finished job. The executor asks at least every 180 seconds."""


@dataclass(frozen=True)
class ResourceRequest:
    """The largest request of the jobs of a rule, or of several rules whose jobs are sent together; None is not known.

    partition: names with commas between; empty for the cluster's default. lifted: whether a quality of service is
    named, which may allow more time than the partition. limited_by: the key of `resources` with the time.
    """

    rule: str
    partition: str = ""
    minutes: float | None = None
    megabytes: float | None = None
    gpu: bool = False
    gpu_model: str = ""
    lifted: bool = False
    limited_by: str = ""


@dataclass(frozen=True)
class Cluster:
    """The requests of jobs for a cluster. status: the program that tells their states, squeue or sacct."""

    requests: tuple[ResourceRequest, ...] = ()
    status: str | None = None

    @staticmethod
    def of_jobs(jobs: Iterable[Job], status: str | None = None) -> Cluster:
        """Return what jobs that are about to run make of it."""
        return Cluster(greatest(_request(job) for job in jobs if not job.local), status)

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


def _request(job: Job) -> ResourceRequest:
    stated = job.resources
    return ResourceRequest(
        stated.get("rules", job.rule),
        stated.get("slurm_partition", ""),
        stated.get("runtime"),
        stated.get("mem_mb"),
        bool(stated.get("gpu")),
        stated.get("gpu_model", ""),
        bool(stated.get("qos")),
        stated.get("limited_by", ""),
    )


def unsatisfiable(cluster: Cluster) -> list[str]:
    """Return why jobs would not start, or not be seen to end, a line each; nothing where Slurm does not answer."""
    known = partitions()
    lines = [
        _unknown(name, sorted(known.nodes))
        for name in _named(cluster)
        if known.nodes and name not in known.nodes
    ]
    for request in cluster.requests:
        lines += _too_much(request, known)
    return [*dict.fromkeys(lines), *_forgetful(cluster)]


def _named(cluster: Cluster) -> list[str]:
    return sorted({name for request in cluster.requests for name in request.partition.split(",") if name})


def _unknown(name: str, known: Sequence[str]) -> str:
    return f"slurm_partition: found {name!r}, which this cluster lacks{nearest(name, known)}; known: {', '.join(known)}"


def _too_much(request: ResourceRequest, slurm: Partitions) -> Iterator[str]:
    """Yield what none of the partitions has that jobs may go to."""
    names = [name for name in (request.partition or slurm.default or "").split(",") if name in slurm.nodes]
    nodes = [some for name in names for some in slurm.nodes[name]]
    if not nodes:
        return
    where = ", ".join(names) + (
        "" if request.partition else " (the cluster's own choice where none is named)"
    )
    if request.gpu and not any(some.gpus for some in nodes):
        yield (
            f"slurm_partition of jobs with a GPU: {where}: none of its nodes has a GPU, as sinfo tells; those of"
            f" {_having(slurm, lambda some: some.gpus)} have"
        )
        return
    models = {model.lower() for some in nodes for model in some.gpu_models}
    if request.gpu and request.gpu_model and request.gpu_model.lower() not in models:
        found = (
            f"its types: {', '.join(sorted(models))}" if models else "it tells no types apart: leave it empty"
        )
        yield f"gpu_model: found {request.gpu_model!r}, which partition {where} lacks; {found}"
    if request.gpu and (refused := re.sub(r"[a-zA-Z0-9_.]+", "", request.gpu_model)):
        yield (
            f"gpu_model: found {request.gpu_model!r}, but the executor sends no type with {refused[0]!r} in it: leave"
            " it empty, and name a partition or a constraint that has such GPUs alone"
        )
    longest = max(some.seconds for some in nodes)
    if request.minutes is not None and not request.lifted and 60 * request.minutes > longest:
        granted = _hours(longest // 36 * 36)  # rounded down to what may be asked for
        yield (
            f"{request.rule}: a job asks for {_hours(60 * request.minutes)} hours, but partition {where} grants"
            f" {granted}: {_less_time(request.limited_by, granted)}another partition"
        )
    largest = max(some.megabytes for some in nodes if some.gpus or not request.gpu)
    if request.megabytes is not None and request.megabytes > largest:
        size = "train_memory_gb" if request.limited_by == "train_hours" else "data_memory_gb"
        yield (
            f"{request.rule}: a job asks for {request.megabytes / 1000:,.0f} GB, but a node of partition {where} has"
            f" {largest / 1000:,.0f}: lower resources.{size}, or name another partition"
        )


def _having(slurm: Partitions, has: Callable[[Nodes], bool]) -> str:
    return ", ".join(name for name, nodes in slurm.nodes.items() if any(map(has, nodes))) or "no partition"


def _less_time(setting: str, granted: str) -> str:
    if not setting:
        return "name "
    return f"set resources.{setting} to {granted} or less, or name "


def _hours(duration: float) -> str:
    return f"{duration / 3600:,.2f}".removesuffix("0").removesuffix("0").removesuffix(".")


def _forgetful(cluster: Cluster) -> Iterator[str]:
    """Yield a line if the program that is asked for the states of jobs (squeue, sacct) cannot know them."""
    if cluster.status is None or not (config := configuration()):
        return
    accounting = not config.get("AccountingStorageType", "").endswith("none")
    age = re.match(r"[0-9]+", config.get("MinJobAge", ""))
    remembered = int(age[0]) if age else math.inf
    if cluster.status == "sacct" and not accounting:
        yield "slurm-status-command: found sacct, but this cluster keeps no accounting database; expected squeue"
    if cluster.status == "squeue" and remembered < FORGOTTEN_AFTER:
        cure = (
            "say sacct"
            if accounting
            else f"it keeps no accounting database, so ask its administrators for {FORGOTTEN_AFTER} seconds"
        )
        yield (
            f"slurm-status-command: found squeue, but this cluster forgets jobs {remembered} seconds after their end"
            f" (MinJobAge), before it is asked for them: {cure}"
        )


def greatest(requests: Iterable[ResourceRequest]) -> tuple[ResourceRequest, ...]:
    """Return one request, for the most time and memory, in place of those that differ in these alone."""
    found: dict[ResourceRequest, ResourceRequest] = {}
    for request in requests:
        alike = replace(request, minutes=None, megabytes=None)
        other = found.get(alike, alike)
        found[alike] = replace(
            request,
            minutes=_most(request.minutes, other.minutes),
            megabytes=_most(request.megabytes, other.megabytes),
        )
    return tuple(found.values())


def _most(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)
