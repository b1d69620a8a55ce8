"""Functions of a job: Snakemake calls them for each job, with its wildcards, its inputs and its attempt.

In:  CONFIG, plan, SHARED_GPUS (common.smk), lists of files (paths.smk).
Out: functions for `input`, `params`, `threads`, `priority` and `resources` of the rules.
"""

from pipeline.monitor.forecast import request_training_minutes

# --- parameters -------------------------------------------------------------------------------------------------------


def not_tracked(value):
    """Return a parameter with this value, whose change makes no job run again.

    Snakemake compares parameters with those of the finished job, except functions that take `input`.
    """

    def get_value(wildcards, input):
        return value

    return get_value


def literal_text(text):
    """Return a parameter with this text. In a plain text Snakemake would take braces for wildcards."""

    def get_text(wildcards):
        return text

    return get_text


# --- memory and time --------------------------------------------------------------------------------------------------

# MB of a data job that holds more than a few lines at a time.
DATA_MEMORY = 1000 * CONFIG.resources.data_memory_gb

# A repeated job requests at most a day: a partition might never grant more. Jobs that resume (training, decoding) request
# the same at every attempt.
MAX_REPEATED_MINUTES = 24 * 60


def scale_memory(megabytes, per_input_mb=0):
    """Return the memory of a job in MB: a base, and so many MB for each MB of its input.

    If the job fails, its second attempt requests twice as much, the third three times as much.
    """

    def request_memory(wildcards, input, attempt):
        input_mb = input.size_mb if per_input_mb else 0
        return attempt * round(megabytes + per_input_mb * input_mb)

    return request_memory


def scale_minutes(base, per_input_gb=0):
    """Return the time limit of a job: a base, and so many minutes for each GB of (compressed) input.

    If the job fails, its second attempt requests twice as much, the third three times as much, but at most a day.
    """

    def request_minutes(wildcards, input, attempt):
        input_gb = input.size_mb / 1000 if per_input_gb else 0
        minutes = round(base + per_input_gb * input_gb)
        return max(minutes, min(attempt * minutes, MAX_REPEATED_MINUTES))

    return request_minutes


# --- processors and GPUs ----------------------------------------------------------------------------------------------


def count_gpus(device):
    """Return one GPU per job, or 0 if the settings say that it computes on the processor."""
    return 0 if device == "cpu" else 1


def count_cores(threads):
    """Return the cores that a job on a GPU counts for.

    With several GPUs they are fewer than its threads, so that a lack of cores leaves no GPU idle. Snakemake only counts
    cores; the settings say how many threads compute.
    """
    if SHARED_GPUS < 2:
        return threads
    return min(threads, max(1, internals.count_cores(workflow) // SHARED_GPUS))


def shard_threads(corpus):
    """Return the number of shards of a corpus that a job works on at the same time."""
    return min(4, CONFIG.corpora[corpus].shards)


# Jobs with trained models, other than translation, which has settings of its own. time_limit_key: the key of `resources`
# to change if a partition does not grant the time.
MODEL_JOB_RESOURCES = {
    "gpu": count_gpus(CONFIG.decoding.device),
    "mem_mb": scale_memory(DATA_MEMORY, per_input_mb=1),
    "runtime": scale_minutes(60 * CONFIG.resources.translate_hours),
    "time_limit_key": "translate_hours",
}
MODEL_JOB_THREADS = count_cores(CONFIG.decoding.threads)
DECODING_OPTIONS = options.format_options(
    [
        ("batch_size", CONFIG.decoding.batch_size),
        ("threads", CONFIG.decoding.threads),
        ("device", CONFIG.decoding.device),
    ]
)


def list_rules_without_gpu():
    """Return the rules that a profile sends to the partition with GPUs, although none of their jobs computes on one."""
    training_devices = [CONFIG.models[model].training.device for model in CONFIG.use.models]
    system_devices = [system.decoding.device for system in plan.systems.values()]
    devices = {
        "train": training_devices,
        "train_on_phrases": training_devices,
        "translate": system_devices,
        "rescore": system_devices,
    }
    for rule_name in ("align", "perplexity", "vectors", "moses_phrase_scores"):
        devices[rule_name] = [CONFIG.decoding.device]
    return [rule_name for rule_name, rule_devices in devices.items() if set(rule_devices) == {"cpu"}]


# --- text -------------------------------------------------------------------------------------------------------------


def source_of_split(wildcards):
    """The source side of the text of a split (train or dev)."""
    return training_files(wildcards.split, SOURCE)


def target_of_split(wildcards):
    """The target side of the text of a split."""
    return training_files(wildcards.split, TARGET)


def source_of_corpus(wildcards):
    """The tokenized source side of a corpus."""
    return token_files([wildcards.corpus], SOURCE)


def target_of_corpus(wildcards):
    """The tokenized target side of a corpus."""
    return token_files([wildcards.corpus], TARGET)


def corpus_threads(wildcards):
    """The shards of a corpus that a job works on at the same time."""
    return shard_threads(wildcards.corpus)


def source_of_set(wildcards):
    """The source side of a set that is translated."""
    return set_file(wildcards.set, SOURCE)


def reference_of_set(wildcards):
    """The references of a set that is translated."""
    return set_file(wildcards.set, TARGET)


def dev_tokens(wildcards):
    """One side of all development corpora."""
    return token_files(CONFIG.use.dev, wildcards.language)


def archive_entry(wildcards):
    """The archive's address and checksums. If only its licence or other sources change, it is not downloaded again."""
    return find_archive(wildcards.archive).model_dump(exclude={"alternatives", "license"})


def archive_alternatives(wildcards, input):
    """Other archives with the same members. Snakemake does not compare them, since the function takes `input`."""
    return find_archive(wildcards.archive).model_dump()["alternatives"]


def language_model_text(wildcards):
    """The text of a language model: the in-domain corpora, or the sample of the training text."""
    if wildcards.domain == "in":
        return token_files(IN_DOMAIN_CORPORA, wildcards.language)
    return [f"data/selection/lm/out.{wildcards.language}.zst"]


def language_model_vocabulary_text(wildcards):
    """The text whose words are a language model's vocabulary; an empty list if its vocabulary is not limited."""
    if CONFIG.selection.lm_vocabulary == "in_domain":
        return token_files(IN_DOMAIN_CORPORA, wildcards.language)
    return []


def budget_scores(wildcards):
    """The scores of all corpora that share a word budget."""
    return [f"data/selection/{shard}.scores.npy" for shard in list_shards(BUDGETS[wildcards.budget])]


# --- training ---------------------------------------------------------------------------------------------------------


def base_files(wildcards):
    """The final state and the summary of the run that a run continues; an empty list if it continues none.

    The summary has the key of that training. So if the earlier run is trained again, this one is, too.
    """
    base = plan.runs[wildcards.run].base
    if base is None:
        return []
    return [f"models/{base}/final_state.safetensors", f"models/{base}/summary.json"]


def train_folder(wildcards, input):
    """The folder of the training text."""
    return os.path.dirname(input.train[0])


def dev_folder(wildcards, input):
    """The folder of the development text."""
    return os.path.dirname(input.dev[0])


def continue_from_option(wildcards, input):
    """The option that names the model which a run continues."""
    base = input.get("base")
    return options.format_option("continue-from", os.path.dirname(base[0])) if base else ""


def training_priority(wildcards):
    """The priority of a training: higher if other trainings wait for its end."""
    return cluster.get_priority(CONFIG, plan.runs[wildcards.run])


def nice_option(wildcards):
    """The option of sbatch that gives less urgent trainings a lower priority."""
    return f"--nice={10 * (cluster.HIGHEST_PRIORITY - training_priority(wildcards))}"


def training_settings(wildcards):
    """The settings `training` of a run's model."""
    return CONFIG.models[plan.runs[wildcards.run].model].training


def training_threads(wildcards):
    """The cores of a training."""
    return count_cores(training_settings(wildcards).threads)


def training_gpus(wildcards):
    """The GPUs of a training."""
    return count_gpus(training_settings(wildcards).device)


def training_minutes(wildcards):
    """The time limit of a training, from its speed."""
    return request_training_minutes(CONFIG, plan.runs[wildcards.run], Path())


# --- translation and scores -------------------------------------------------------------------------------------------


def model_of_run(wildcards):
    """The files of a run's model."""
    return model_files([wildcards.run])


def model_folder_of_run(wildcards):
    """The folder of a run's model."""
    return f"{plan.models_folder}/{wildcards.run}"


def member_models(wildcards):
    """The files of the models that translate together as a system."""
    return model_files(plan.systems[wildcards.system].members)


def member_arguments(wildcards):
    """The arguments after `--model` for the models of a system."""
    return model_arguments(plan.systems[wildcards.system])


def translation_threads(wildcards):
    """The cores of a translation."""
    return count_cores(plan.systems[wildcards.system].decoding.threads)


def translation_gpus(wildcards):
    """The GPUs of a translation."""
    return count_gpus(plan.systems[wildcards.system].decoding.device)


def system_model(wildcards):
    """The name of a system's entry in the settings."""
    return plan.systems[wildcards.system].model


def system_seed(wildcards):
    """The seed of a run; None for an ensemble, or a run with another decoding."""
    return plan.systems[wildcards.system].seed


def system_options(wildcards):
    """The options with a system's name and seed, which its scores record."""
    return options.format_options([("name", system_model(wildcards)), ("seed", system_seed(wildcards))])


def text_of_system(wildcards):
    """The text of a system's translations."""
    return plain_text_translations(wildcards.set, wildcards.system)


# --- n-best lists -----------------------------------------------------------------------------------------------------


def n_best_list(wildcards):
    """The n-best lists that are rescored: a file of the user's, or the translations by a system of this run."""
    name = CONFIG.rescored[wildcards.rescored].n_best_list
    return CONFIG.n_best_lists.get(name) or str(FOLDER.translations("test", name, "all"))


def rescoring_models(wildcards):
    """The files of the models that rescore."""
    return model_files(CONFIG.rescored[wildcards.rescored].members)


def rescoring_arguments(wildcards):
    """The arguments after `--model` for the models that rescore."""
    return model_arguments(CONFIG.rescored[wildcards.rescored])


def rescoring_weight(wildcards):
    """The weight of the models in the interpolated score."""
    return CONFIG.rescored[wildcards.rescored].weight


# --- results ---------------------------------------------------------------------------------------------------------


def tree_options(wildcards, output):
    """The options for the pictures that `nmt tree` writes."""
    return options.format_options(("output", file) for file in output)


def files_of_run(wildcards):
    """The files that a run adds to the package: translations, files of its training, attention, perplexity."""
    run = wildcards.run
    translations = [str(FOLDER.translations(set_name, run, mode)) for set_name in SETS for mode in MODES]
    files = translations + provenance_files(translations)
    files += [f"{plan.models_folder}/{run}/{name}" for name in RECORD_FILES]
    if run in OUTPUTS.aligned_runs:
        files.append(f"alignments/{run}.jsonl")
    if run in PERPLEXITY_SYSTEMS:
        files.append(f"perplexity/{run}.json")
    return files
