"""A check that the partitions of a cluster can run the jobs.

Otherwise Slurm would refuse a job hours later, or the job would wait forever.
"""

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


def find_unsatisfiable_jobs(jobs: Iterable[Job]) -> list[str]:
    """Return a line for each reason why submitted jobs would not start. Empty if Slurm does not answer."""
    node_groups = query_partitions()

    # of a rule's jobs with equal requests, only the longest is checked: it comes last, and replaces the others
    longest_jobs: dict[tuple[object, ...], Job] = {}
    for job in sorted(jobs, key=lambda job: job.resources.get("runtime", 0)):
        if not job.is_local:
            requests = [job.resources.get(name) for name in ("slurm_partition", "gpu", "qos")]
            longest_jobs[job.rule, *requests] = job

    problems: list[str] = []
    for job in longest_jobs.values():
        problems += _find_problems(node_groups, job)
    return list(dict.fromkeys(problems))


def _find_problems(node_groups: Mapping[str, Sequence[NodeGroup]], job: Job) -> Iterator[str]:
    """Yield a line for each resource that a job requests and none of its partitions has."""
    resources = job.resources
    partition = resources.get("slurm_partition", "")

    # 1. the groups of nodes of the partitions that the job may use, such as "cpu,gpu"
    groups: list[NodeGroup] = []
    for name in partition.split(","):
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
    location = f"partition {partition}" if partition else "the default partition"
    if resources.get("gpu") and not any(group.has_gpus for group in groups):
        yield f"jobs with a GPU: no node of {location} has one, as sinfo tells: set another slurm_partition"
        return

    # 3. time; a quality of service may lift the limits
    time_limit = max(group.time_limit for group in groups)
    minutes = resources.get("runtime", 0)
    if not resources.get("qos") and 60 * minutes > time_limit:
        # in hundredths of an hour, rounded down, so that the advised value is granted
        granted_hours = f"{math.floor(time_limit / 36) / 100:,g}"
        remedy = "name another partition"
        # the key of `resources` in the settings that limits the time, such as train_hours
        limit_key = resources.get("time_limit_key")
        if limit_key:
            remedy = f"set resources.{limit_key} to {granted_hours} or less, or {remedy}"
        yield (
            f"{job.rule}: a job asks for {minutes / 60:,.3g} hours, but {location} grants"
            f" {granted_hours}: {remedy}"
        )
