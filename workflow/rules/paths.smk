"""Where things lie: here, in the run whose text this one takes, or among models that somebody has released."""


def archive_at(path):
    """The entry of the catalogue that describes a file."""
    return next(archive for archive in CONFIG.archives.values() if archive.path == path)


def place_of(side):
    """The file that holds a side of a corpus: an archive, or one's own."""
    return f"data/archives/{CONFIG.archives[side.archive].path}" if side.archive else side.file


def shards(corpora):
    """Every shard of some corpora as CORPUS/NUMBER."""
    return experiment.list_shards(CONFIG, corpora)


def tokens(corpora, language, stage="tokens"):
    """One side of the tokenized text of some corpora, shard by shard."""
    return [f"{DATA}/{stage}/{shard}.{language}.zst" for shard in shards(corpora)]


def selected_files(corpus, end):
    """A file beside the selected text of each shard of a corpus."""
    return [f"data/selected/{shard}.{end}" for shard in shards([corpus])]


def shard_threads(corpus):
    """The shards of a corpus that a job works on at once."""
    return min(4, CONFIG.corpora[corpus].shards)


def text_of(part, language):
    """One side of training or development text, shard by shard."""
    return tokens(getattr(CONFIG.use, part), language, FINAL_STAGE if part == "train" else "tokens")


def test_tokens(language):
    """One side of the tokenized test text."""
    return tokens([TEST], language)[0]


def set_tokens(set_, language):
    """One side of a tokenized set that is translated: the test text, or the whole development text."""
    return test_tokens(language) if set_ == "test" else f"data/dev.{language}.zst"


def vocabulary(language):
    """The words of a language by rank: those of the text, or of the first model in use where that is somebody else's."""
    side = "source" if language == SOURCE else "target"
    return (
        f"{MODELS}/{RUNS_IN_USE[0]}/{side}.tsv"
        if CONFIG.pretrained.models
        else str(FOLDER.vocabulary(language))
    )


def perplexities():
    """Perplexities on the test set by system, where a table shows them."""
    shown = SYSTEMS_IN_USE if any(table.kind == "perplexity" for table in TABLES) else []
    names = select_distinct_systems(SYSTEMS[system] for system in shown)
    return {system: f"perplexity/{system}.json" for system in names}


def raw_reference():
    """The reference as it came; none where it came as tokens."""
    if CONFIG.corpora[TEST].tokenized:
        return []
    return f"{DATA}/raw/{TEST}/0.{TARGET}.zst"


def gold_alignments():
    """The known word alignments of the test text; none where nobody knows them."""
    generated = f"{DATA}/raw/{TEST}/0.align.zst" if CONFIG.corpora[TEST].grammar else []
    return CONFIG.artifacts.gold_alignments or generated


def model_files_of(runs):
    """What a command needs of trained models."""
    return [f"{MODELS}/{run}/{name}" for run in runs for name in NEEDED_FILES]


def model_files(wildcards):
    """What a command needs of the members of the system that stands for {model}."""
    return model_files_of(SYSTEMS[wildcards.model].members)


def model_options(system):
    """The models of a system as options of a command, and what they average."""
    return options.translators([f"{MODELS}/{run}" for run in system.members], system.average)


def records_of(files):
    """The records of how translations were made."""
    return [str(provenance_path(Path(file))) for file in files]


def other_system_file(set_name, system):
    """The translations of a set by a system that is no model: somebody's, Moses', or the best of rescored lists."""
    given = {
        "test": CONFIG.artifacts.moses_translations,
        "dev": CONFIG.artifacts.moses_dev_translations,
    }
    if system in CONFIG.use.rescored:
        return f"rescored/{system}.{TARGET}"
    if CONFIG.moses.enabled:
        return str(FOLDER.plain_translations(set_name, system))
    return given[set_name]


OTHER_SYSTEMS = {
    set_name: {
        system: other_system_file(set_name, system) for system in select_other_systems(CONFIG, set_name)
    }
    for set_name in SETS
}


def raw_text(corpus, language):
    """One side of a corpus before tokenization, shard by shard; of training text it is deleted once there are tokens."""
    files = [f"data/raw/{shard}.{language}.zst" for shard in shards([corpus])]
    return files if experiment.get_role(CONFIG, corpus) in ("dev", "test") else [temp(file) for file in files]


def base_files(wildcards):
    """What is needed of the model that a run continues; the summary, which Snakemake compares, has its key."""
    base = RUNS[wildcards.model].base
    return [f"models/{base}/{name}" for name in ("final_state.safetensors", "summary.json")] if base else []


def files_of_run(run, originals, count):
    """What the replication package copies of a run: translations and their records, attention, summary, perplexity.

    Of the originals of the package, so many are translations.
    """
    names = {f"{run}.jsonl", f"{run}.json", *(f"{run}.{mode}.jsonl" for mode in MODES)}
    files = [
        file for file in originals if os.path.basename(file) in names or file.split(os.sep)[-2:-1] == [run]
    ]
    return files + records_of(file for file in files if file in originals[:count])
