"""What a run looks at before its first job."""


def preflight():
    """Say at once what long work would miss hours later, and what it will take."""
    from nmt.monitor.preflight import forecast, missing

    work = waiting_work()
    for line in forecast(CONFIG, work, Path.cwd()):
        print(line, file=sys.stderr)
    problems = missing(CONFIG, work, Path.cwd())
    if problems:
        refuse(problems)


def waiting_work():
    """What this Snakemake is about to do, as the preflight wants to know it."""
    from nmt.monitor.preflight import Work

    jobs = list(workflow.dag.needrun_jobs())
    paths = {job.wildcards.archive for job in jobs if job.rule.name == "download"}
    return Work(
        rules=frozenset(job.rule.name for job in jobs),
        runs=tuple(job.wildcards.model for job in jobs if job.rule.name == "train"),
        archives=tuple(name for name, archive in CONFIG.archives.items() if archive.path in paths),
        cluster=None if workflow.local_exec else asked_of_cluster(jobs),
    )


def asked_of_cluster(jobs):
    """What the jobs that are sent to a cluster ask it for."""
    from nmt.monitor.partition_check import Cluster, greediest

    status = getattr(workflow.executor_settings, "status_command", None)
    return Cluster(greediest(asked_by(job) for job in jobs if not job.is_local), status)


def asked_by(job):
    """What one job asks for; its time and memory are not known as long as its input is not there."""
    from nmt.monitor.partition_check import Asked

    stated = job.resources
    minutes, megabytes = (stated.get(name) for name in ("runtime", "mem_mb"))
    return Asked(
        job.rule.name,
        str(stated.get("slurm_partition") or ""),
        minutes if isinstance(minutes, int) else None,
        megabytes if isinstance(megabytes, int) else None,
        bool(stated.get("gpu")),
        str(stated.get("gpu_model") or ""),
        bool(stated.get("qos")),
    )
