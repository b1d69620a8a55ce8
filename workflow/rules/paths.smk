"""Where things lie: here, in the run whose text this one takes, or among models that somebody has released."""


def archive_at(path):
    """The entry of the catalogue that describes a file."""
    return next(archive for archive in CONFIG.archives.values() if archive.path == path)


def place_of(side):
    """The file that holds a side of a corpus: an archive, or one's own."""
    return f"data/archives/{CONFIG.archives[side.archive].path}" if side.archive else side.file


def shards(corpora):
    """Every shard of some corpora as CORPUS/NUMBER."""
    return experiment.shards_of(CONFIG, corpora)


def tokens(corpora, language, stage="tokens"):
    """One side of the tokenized text of some corpora, shard by shard."""
    return [f"{DATA}/{stage}/{shard}.{language}.zst" for shard in shards(corpora)]


def held_out_tokens(corpus, language):
    """One side of the development and test text, in which the sentences of a training corpus are looked for."""
    return tokens([*CONFIG.use.dev, *CONFIG.use.test], language) if corpus in CONFIG.use.train else []


def text_of(part, language):
    """One side of training or development text, shard by shard."""
    return tokens(getattr(CONFIG.use, part), language, FINAL_STAGE if part == "train" else "tokens")


def test_tokens(language):
    """One side of the tokenized test text."""
    return tokens([TEST], language)[0]


def set_tokens(set_, language):
    """One side of a tokenized set that is translated: the test text, or the whole development text."""
    return test_tokens(language) if set_ == "test" else f"data/dev.{language}.zst"


def set_of(wildcards):
    """The set that a path is of."""
    return "dev" if wildcards.dev else "test"


def folder_of(set_):
    """The inverse: what stands for {dev} in the set's paths."""
    return "" if set_ == "test" else "dev/"


def vocabulary(language):
    """The words of a language by rank: those of the text, or of the first model in use where that is somebody else's."""
    side = "source" if language == SOURCE else "target"
    return (
        f"{MODELS}/{RUNS_IN_USE[0]}/{side}.tsv"
        if CONFIG.released.models
        else f"{DATA}/vocabulary/{language}.tsv"
    )


def perplexities():
    """Perplexities on the test set by system, where a table shows them."""
    shown = SYSTEMS_IN_USE if any(table.kind == "perplexity" for table in TABLES) else []
    names = differing_in_models(SYSTEMS[system] for system in shown)
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


def model_folder(run):
    """Where a run's model lies: here, or where somebody has trained it."""
    return SHARED.get(run, f"{MODELS}/{run}")


def model_files_of(runs):
    """What a command needs of trained models."""
    return [f"{model_folder(run)}/{name}" for run in runs for name in MODEL]


def model_files(wildcards):
    """What a command needs of the members of the system that stands for {model}."""
    return model_files_of(SYSTEMS[wildcards.model].members)


def translated(system, mode, set_="test"):
    """A system's translations of a set; a run's name is a system's, too."""
    return f"translations/{folder_of(set_)}{system}.{mode}.jsonl"


def records_of(files):
    """The records of how translations were made."""
    return [str(record_path(Path(file))) for file in files]


def other_systems(set_, given):
    """Translations of a set by systems that are no models: Moses, measured here or given, and rescored n-best lists."""
    found = {PHRASE_BASED: given} if given else {}
    if CONFIG.moses.enabled:
        measured = [PHRASE_BASED, *([WITH_PHRASE_MODEL] if CONFIG.moses.phrase_model else [])]
        found = {system: f"translations/{folder_of(set_)}{system}.txt" for system in measured if set_ in SETS}
    if set_ == "test":
        found |= {name: f"rescored/{name}.{TARGET}" for name in CONFIG.use.rescored}
    return found


OTHER_SYSTEMS = {
    "test": other_systems("test", CONFIG.artifacts.moses_translations),
    "dev": other_systems("dev", CONFIG.artifacts.moses_dev_translations),
}
