"""A check that the partitions of a cluster can run the jobs.

Otherwise Slurm would refuse a job hours later, or the job would wait forever.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nmt.io.system import parse_slurm_duration, query_program
from nmt.settings.base import suggest_name
from pipeline.monitor.jobs import Job


@dataclass(frozen=True)
class NodeGroup:
    """A group of equal nodes of a partition: their time limit in seconds, and whether they have GPUs."""

    time_limit: float
    has_gpus: bool


def query_partitions() -> dict[str, list[NodeGroup]]:
    """Return the groups of nodes of each partition that sinfo lists; "" is the default partition.

    Without Slurm's answer there are none.
    """
    node_groups: dict[str, list[NodeGroup]] = {}
    answer = query_program("sinfo", "--noheader", "--exact", "--format=%P %l %G") or ""
    for line in answer.splitlines():
        fields = line.split(maxsplit=2)
        if len(fields) < 3:
            continue

        # a star marks the default partition: "cpu* 12:00:00 (null)", "gpu 2-00:00:00 gpu:a100:4"
        name, limit, resources = fields
        time_limit = parse_slurm_duration(limit) or math.inf  # an unreadable limit limits nothing
        group = NodeGroup(time_limit, has_gpus=re.search(r"\bgpu\b", resources) is not None)
        node_groups.setdefault(name.rstrip("*"), []).append(group)
        if name.endswith("*"):
            node_groups.setdefault("", []).append(group)
    return node_groups


@dataclass(frozen=True)
class Request:
    """What the jobs of a rule request of a cluster. time_limit_key: the key of `resources` that limits their time."""

    rule: str
    partition: str
    needs_gpu: bool
    has_quality_of_service: bool
    time_limit_key: str


def find_unsatisfiable_jobs(jobs: Iterable[Job]) -> list[str]:
    """Return a line for each reason why submitted jobs would not start. Empty if Slurm does not answer."""
    node_groups = query_partitions()

    # of jobs with equal requests, only the longest matters
    max_minutes: dict[Request, float] = {}
    for job in jobs:
        if not job.local:
            request = Request(
                rule=job.rule,
                partition=job.resources.get("slurm_partition", ""),
                needs_gpu=bool(job.resources.get("gpu")),
                has_quality_of_service=bool(job.resources.get("qos")),
                time_limit_key=job.resources.get("time_limit_key", ""),
            )
            minutes = job.resources.get("runtime", 0.0)
            max_minutes[request] = max(max_minutes.get(request, 0.0), minutes)

    problems: list[str] = []
    for request, minutes in max_minutes.items():
        problems += _find_problems(node_groups, request, minutes)
    return list(dict.fromkeys(problems))


def _find_problems(
    node_groups: Mapping[str, Sequence[NodeGroup]], request: Request, minutes: float
) -> Iterator[str]:
    """Yield a line for each resource that a request asks for and none of its partitions has."""
    # 1. the groups of nodes of the partitions that the job may use, such as "cpu,gpu"
    groups: list[NodeGroup] = []
    for name in request.partition.split(","):
        if name and node_groups and name not in node_groups:
            known_names = sorted(node_groups.keys() - {""})
            suggestion = suggest_name(name, known_names)
            yield (
                f"slurm_partition: found {name!r}, which this cluster lacks{suggestion};"
                f" known: {', '.join(known_names)}"
            )
        groups += node_groups.get(name, [])
    if not groups:
        return

    # 2. GPUs
    names = f"partition {request.partition}" if request.partition else "the default partition"
    if request.needs_gpu and not any(group.has_gpus for group in groups):
        yield f"jobs with a GPU: no node of {names} has one, as sinfo tells: set another slurm_partition"
        return

    # 3. time; a quality of service may lift the limits
    time_limit = max(group.time_limit for group in groups)
    if not request.has_quality_of_service and 60 * minutes > time_limit:
        # in hundredths of an hour, rounded down, so that the advised value is granted
        granted_hours = f"{math.floor(time_limit / 36) / 100:,g}"
        remedy = "name another partition"
        if request.time_limit_key:
            remedy = f"set resources.{request.time_limit_key} to {granted_hours} or less, or {remedy}"
        yield (
            f"{request.rule}: a job asks for {minutes / 60:,.3g} hours, but {names} grants"
            f" {granted_hours}: {remedy}"
        )
