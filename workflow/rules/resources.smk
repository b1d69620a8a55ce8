"""What jobs ask for: memory, time, GPUs."""

# MB of a data job that holds more than a few lines at a time.
DATA_MEMORY = 1000 * CONFIG.resources.data_memory_gb

# Minutes beyond which an attempt that is repeated asks for no more time: a partition may not grant it, and the job would
# wait for ever. What resumes where its limit stopped it (training, decoding) asks for the same at every
# attempt.
LONGEST_REPETITION = 24 * 60


def memory(megabytes, per_input=0):
    """Memory in MB: some, and so many times the input's size; as much again with every attempt."""
    return lambda wildcards, input, attempt: attempt * round(
        megabytes + (per_input * input.size_mb if per_input else 0)
    )


def minutes(some, per_gigabyte=0):
    """A time limit: some minutes, some for every GB of (compressed) input; as much again with every attempt, to a day."""

    def limit(wildcards, input, attempt):
        first = round(some + (per_gigabyte * input.size_mb / 1000 if per_gigabyte else 0))
        return max(first, min(attempt * first, LONGEST_REPETITION))

    return limit


def gpu_of(device):
    """One GPU per job, unless the settings say that it computes on the processor."""
    return 0 if device == "cpu" else 1


def cores_of(threads):
    """The cores that a job on a GPU counts for: fewer with several GPUs, so that a lack of cores leaves no GPU idle.

    Snakemake only counts cores, how many threads compute the settings say.
    """
    if SHARED_GPUS < 2:
        return threads
    return min(threads, max(1, internals.cores(workflow) // SHARED_GPUS))


def rules_without_gpu():
    """The rules of which no job computes on a GPU, of those for which a profile states the partition with GPUs."""
    trained = [CONFIG.models[model].training.device for model in CONFIG.use.models]
    decoded = [system.decoding.device for system in SYSTEMS.values()]
    devices = {
        "train": trained,
        "train_on_phrases": trained,
        "translate": decoded,
        "rescore": decoded,
        **dict.fromkeys(("align", "perplexity", "vectors", "moses_phrase_scores"), [CONFIG.decoding.device]),
    }
    return {rule for rule, found in devices.items() if set(found) == {"cpu"}}


# What jobs with trained models ask for and are told, other than translation, which has settings of its own.
WITH_MODELS = {
    "gpu": gpu_of(CONFIG.decoding.device),
    "mem_mb": memory(DATA_MEMORY, per_input=1),
    "runtime": minutes(60 * CONFIG.resources.translate_hours),
    "time_setting": "translate_hours",
}
MODEL_CORES = cores_of(CONFIG.decoding.threads)
MODEL_OPTIONS = options.known(
    (name, getattr(CONFIG.decoding, name)) for name in ("batch_size", "threads", "device")
)
