"""Where things lie: here, in the run whose text this one takes, or among what somebody has released."""


def shards(corpora):
    """Every shard of some corpora as CORPUS/NUMBER."""
    return experiment.shards_of(CONFIG, corpora)


def runs(models):
    """Names of the runs of some models, in the order of the models, then of the seeds."""
    return list(runs_of(CONFIG, models))


def test_tokens(language):
    """One side of the tokenized test text."""
    return str(KEPT.test(language)) if KEPT else f"{DATA}/tokens/{TEST}/0.{language}.zst"


def set_tokens(set_, language):
    """One side of a tokenized set that is translated: the test text, or the whole development text."""
    if set_ == "test":
        return test_tokens(language)
    return str(KEPT.dev(language)) if KEPT else f"data/dev.{language}.zst"


def set_of(wildcards):
    """The set that a path is of: {set} is a folder, none for the test set."""
    return os.path.dirname(wildcards.set) or "test"


def folder_of(set_):
    """The inverse: what stands for {set} in paths."""
    return "" if set_ == "test" else f"{set_}/"


def scores_of(systems, set_="test"):
    """The scores of some runs or other systems on a set."""
    return [f"scores/{folder_of(set_)}{system}.json" for system in systems]


def vocabulary(language):
    """The words of a language by rank: those of the text, or of the first model in use where that is somebody else's."""
    if KEPT:
        return str(KEPT.vocabulary(language))
    side = "source" if language == SOURCE else "target"
    return f"{MODELS}/{USED[0]}/{side}.tsv" if CONFIG.released.models else f"{DATA}/vocabulary/{language}.tsv"


def perplexities():
    """Perplexities on the test set by system, where a table shows them: of systems that differ by decoding, the first's."""
    first = {}
    for system in COMPARED if tables_of("perplexity") else []:
        first.setdefault((SYSTEMS[system].members, SYSTEMS[system].average), system)
    return {
        system: str(KEPT.perplexity(system)) if KEPT else f"perplexity/{system}.json"
        for system in first.values()
    }


def raw_reference():
    """The reference as it came; none where it came as tokens."""
    if CONFIG.corpora[TEST].tokenized:
        return []
    return str(KEPT.raw_reference(TARGET)) if KEPT else f"{DATA}/raw/{TEST}/0.{TARGET}.zst"


def gold_alignments():
    """The known word alignments of the test text; none where nobody knows them."""
    if KEPT:
        return str(KEPT.gold) if KEPT.gold.is_file() else []
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


def run_files(runs, name):
    """One of the files that training leaves, of some runs."""
    return [str(KEPT.of_run(run, name)) if KEPT else f"{model_folder(run)}/{name}" for run in runs]


def translated(system, mode, set_="test"):
    """A system's translations of a set; a run's name is a system's, too."""
    if KEPT:
        return str(KEPT.translations(system, mode, set_))
    return f"translations/{folder_of(set_)}{system}.{mode}.jsonl"


def translations_of(systems, set_="test"):
    """The translations of some systems, of both modes each."""
    return [translated(system, mode, set_) for system in systems for mode in MODES]


def sidecars(files):
    """What made translations."""
    return [str(beside(Path(file))) for file in files]


def making_of(systems, set_="test"):
    """What made the translations of some systems, of both modes each."""
    return sidecars(translations_of(systems, set_))


def aligned(run):
    """A run's attention while it is made to write the reference."""
    return str(KEPT.alignments(run)) if KEPT else f"alignments/{run}.jsonl"


def tables_of(kind):
    """The papers' tables of a kind, each with its paper's file."""
    return {name: entry for name, entry in PAPER_TABLES.items() if entry[0].kind == kind}


def beside_models(table):
    """What a table of sentences shows beside the models on the test set: options with their values, a file the last."""
    given = [
        (set_, system, file)
        for set_ in table.sets
        for system, file in GIVEN.get(set_, {}).items()
        if system in table.others
    ]
    found = [("given" if set_ == "test" else "dev-given", system, file) for set_, system, file in given]
    if "dev" in table.sets:
        mode = "no_unk" if table.known else "all"
        models = CONFIG.artifacts.table3_models
        found += [("dev-translations", model, translated(model, mode, "dev")) for model in models]
        found.append(("dev-reference", set_tokens("dev", TARGET)))
    return found


def measured_runs():
    """Runs of the models in use that are held against known alignments."""
    return experiment.aligned_runs(CONFIG) if gold_alignments() else []


def originals(kept):
    """What the replication package copies, of files with their copies."""
    return [file for file, copy in kept]


def copies(kept):
    """Where it is copied to."""
    return [str(copy) for file, copy in kept]


def absent():
    """What `released` promises and does not hold, one line per file."""
    used = runs(CONFIG.use.models)
    names = RECORDS if KEPT else dict.fromkeys((*MODEL, *RECORDS))
    files = [file for name in names for file in run_files(used, name)]
    if KEPT:
        key, again = "results", "expected what `nmt results package` writes"
        text = [set_tokens(set_, language) for set_ in SETS for language in (SOURCE, TARGET)]
        for set_ in SETS:
            files += [*translations_of(COMPARED, set_), *making_of(COMPARED, set_)]
        files += [*text, *([raw_reference()] if raw_reference() else []), *map(aligned, measured_runs())]
    else:
        key, again = "models", "expected what `nmt unpack` writes"
    return [f"released.{key}: {file}: no such file; {again}" for file in files if not Path(file).is_file()]


if (CONFIG.released.models or KEPT) and (missing_files := absent()):
    refuse(missing_files)
