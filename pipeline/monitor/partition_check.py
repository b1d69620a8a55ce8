"""A check that the partitions of a cluster can run the jobs.

Otherwise Slurm would refuse a job hours later, or the job would wait forever.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nmt.io.system import parse_slurm_duration, query_program
from pipeline.monitor.jobs import Job

UNKNOWN_MEMORY_MB = 1
"""The memory that Slurm reports for a node whose memory is not configured."""
GPU_TYPE = re.compile(r"\bgpu\b(?::(?!\d+(?:[,(]|$))([^:,(]+))?")
"""A GPU among the resources of a node: gpu:a100:4(S:0-1) has the type a100, and gpu:4, without a type, the type ""."""


@dataclass(frozen=True)
class NodeGroup:
    """A group of equal nodes of a partition: time limit in seconds, memory in MB, and types of their GPUs.

    A GPU without a type has the type "".
    """

    time_limit: float
    memory_mb: float
    gpu_types: frozenset[str]


def query_partitions() -> dict[str, list[NodeGroup]]:
    """Return the groups of nodes of each partition that sinfo lists, also if it is hidden; "" is the default partition.

    If Slurm does not answer, there are no partitions.
    """
    answer = query_program("sinfo", "--all", "--noheader", "--exact", "--format=%P %l %m %G")
    if answer is None:
        return {}

    node_groups: dict[str, list[NodeGroup]] = {}
    for line in answer.splitlines():
        # a star marks the default partition: "cpu* 12:00:00 64000 (null)", "gpu 2-00:00:00 512000 gpu:a100:4(S:0-1)"
        fields = line.split(maxsplit=3)
        if len(fields) < 4:
            continue

        # limits that nobody knows are infinite
        name, limit, memory, resources = fields
        time_limit = parse_slurm_duration(limit) or math.inf
        is_memory_known = memory.isdecimal() and int(memory) > UNKNOWN_MEMORY_MB
        memory_mb = float(memory) if is_memory_known else math.inf
        gpu_types = GPU_TYPE.findall(resources)
        group = NodeGroup(time_limit, memory_mb, frozenset(gpu_types))
        node_groups.setdefault(name.rstrip("*"), []).append(group)
        if name.endswith("*"):
            node_groups.setdefault("", []).append(group)
    return node_groups


def find_unsatisfiable_jobs(jobs: Iterable[Job]) -> list[str]:
    """Return a line for each reason why submitted jobs would not start; [] if Slurm does not answer."""
    node_groups = query_partitions()
    problems: list[str] = []
    for job in jobs:
        if not job.is_local:
            problems += _find_problems(node_groups, job)
    return list(dict.fromkeys(problems))


def _find_problems(node_groups: Mapping[str, Sequence[NodeGroup]], job: Job) -> Iterator[str]:
    """Yield a line for each resource that a job requests and that none of the job's partitions has."""
    resources = job.resources
    partition = str(resources.get("slurm_partition", ""))  # a number if its name is one

    # 1. a type of GPU that Snakemake's executor would refuse
    gpu_model = resources.get("gpu_model", "")
    if not isinstance(gpu_model, str) or re.search(r"[^a-zA-Z0-9_.]", gpu_model):
        yield (
            f"gpu_model: Snakemake cannot request {gpu_model}, which is a number or has characters other than letters,"
            " digits, _ and . in it: leave it empty, and name a feature of the nodes as `constraint`"
        )
        return

    # 2. the groups of nodes of the partitions that the job may use, such as "cpu,gpu"
    groups: list[NodeGroup] = []
    for name in partition.split(","):
        if name and node_groups and name not in node_groups:
            known_names = ", ".join(sorted(node_groups.keys() - {""}))
            yield f"slurm_partition: found {name!r}, which this cluster lacks; known: {known_names}"
        groups += node_groups.get(name, [])
    if not groups:
        return

    # 3. GPUs, and their type
    location = f"partition {partition}" if partition else "the default partition"
    if resources.get("gpu"):
        gpu_types = {gpu_type or "without a type" for group in groups for gpu_type in group.gpu_types}
        if gpu_model:
            groups = [group for group in groups if gpu_model in group.gpu_types]
        groups = [group for group in groups if group.gpu_types]
        if not groups:
            request = f"a GPU of type {gpu_model}" if gpu_model else "a GPU"
            known = ", ".join(sorted(gpu_types)) or "none"
            yield f"jobs ask for {request}; {location} has: {known}; change slurm_partition or gpu_model"
            return

    # 4. memory and time; a quality of service may lift the limits of time
    remedy = "ask for less under `resources` in config.yaml, or name another partition"
    requested_gb = resources.get("mem_mb", 0) / 1000
    granted_gb = max(group.memory_mb for group in groups) / 1000
    if requested_gb > granted_gb and not resources.get("mem_mb_per_cpu"):
        yield (
            f"{job.rule}: a job asks for {requested_gb:,g} GB of memory, but no node of {location} has more than"
            f" {granted_gb:,g}: {remedy}"
        )
    requested_hours = resources.get("runtime", 0) / 60
    granted_hours = max(group.time_limit for group in groups) / 3600
    if requested_hours > granted_hours and not resources.get("qos"):
        yield (
            f"{job.rule}: a job asks for {requested_hours:,g} hours, but {location} grants {granted_hours:,g}:"
            f" {remedy}"
        )
