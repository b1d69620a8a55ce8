"""Lists of files: of this experiment, of the experiment whose text it uses, or of somebody else's models.

In:  CONFIG, plan, FOLDER (common.smk).
Out: functions of names, which the rules call when they are read.
"""

# --- text -------------------------------------------------------------------------------------------------------------


def find_archive(path):
    """Return the entry of `archives` that has this path."""
    return next(archive for archive in CONFIG.archives.values() if archive.path == path)


def origin_file(side):
    """Return the file that a side of a corpus comes from: an archive, or the user's own file."""
    return f"data/archives/{CONFIG.archives[side.archive].path}" if side.archive else side.file


def list_shards(corpora):
    """Return every shard of some corpora as CORPUS/NUMBER."""
    return experiment.list_shards(CONFIG, corpora)


def raw_files(corpus, language):
    """Return one side of a corpus before tokenization, shard by shard.

    Snakemake deletes those of training text once they are tokenized.
    """
    files = [f"data/raw/{shard}.{language}.zst" for shard in list_shards([corpus])]
    if experiment.get_role(CONFIG, corpus) in ("dev", "test"):
        return files
    return [temp(file) for file in files]


def token_files(corpora, language, stage="tokens"):
    """Return one side of the tokenized text of some corpora, shard by shard."""
    return [f"{DATA}/{stage}/{shard}.{language}.zst" for shard in list_shards(corpora)]


def selected_files(corpus, ending):
    """Return a file of each shard of a corpus' selected text, such as its counts."""
    return [f"data/selected/{shard}.{ending}" for shard in list_shards([corpus])]


def training_files(split, language):
    """Return one side of the text that models learn from (split: train or dev), shard by shard."""
    if split == "train":
        return token_files(CONFIG.use.train, language, FINAL_STAGE)
    return token_files(CONFIG.use.dev, language)


def set_file(set_name, language):
    """Return one side of a tokenized set that is translated: the test text, or the whole development text."""
    return token_files([TEST], language)[0] if set_name == "test" else f"data/dev.{language}.zst"


def list_raw_references():
    """Return a list with the references of the test set before tokenization, or [] if they came as tokens."""
    return [] if CONFIG.corpora[TEST].tokenized else [f"{DATA}/raw/{TEST}/0.{TARGET}.zst"]


def list_gold_alignments():
    """Return a list with the file of the test text's gold alignments, or [] if there are none."""
    if CONFIG.artifacts.gold_alignments:
        return [CONFIG.artifacts.gold_alignments]
    return [f"{DATA}/raw/{TEST}/0.align.zst"] if CONFIG.corpora[TEST].grammar else []


def vocabulary_file(language):
    """Return the file of a language's vocabulary: that of the text or, for pretrained models, that of the first model."""
    if not CONFIG.pretrained.models:
        return str(FOLDER.vocabulary(language))
    side = "source" if language == SOURCE else "target"
    return f"{plan.models_folder}/{plan.selected_runs[0]}/{side}.tsv"


# The ids of training and development text, with the vocabularies: inputs of a training.
BITEXT = {split: expand(f"{DATA}/binary/{split}/{{name}}", name=BITEXT_FILES) for split in ("train", "dev")}
VOCABULARIES = {
    "source_vocabulary": f"{DATA}/vocabulary/{SOURCE}.tsv",
    "target_vocabulary": f"{DATA}/vocabulary/{TARGET}.tsv",
}

# --- models, and what they write --------------------------------------------------------------------------------------


def model_files(runs):
    """Return the files that a command needs of the models of some runs, and the stamps of pretrained ones."""
    return list_needed_files(runs) + PRETRAINED_STAMPS


def list_needed_files(runs):
    """Return the files that a command needs of the models of some runs."""
    return [f"{plan.models_folder}/{run}/{name}" for run in runs for name in NEEDED_FILES]


# Size and date of pretrained models, since older ones may replace them.
PRETRAINED_STAMPS = []
if CONFIG.pretrained.models:
    stamps = job_settings.get_file_stamps(list_needed_files(plan.selected_runs))
    PRETRAINED_STAMPS = [SETTINGS_FILES.add("pretrained", {"files": stamps})]


def model_arguments(system):
    """Return the arguments after `--model` for the models of a system."""
    folders = [f"{plan.models_folder}/{run}" for run in system.members]
    return options.list_model_arguments(folders, system.average)


def provenance_files(files):
    """Return the provenance files of translations."""
    return [str(provenance_path(Path(file))) for file in files]


def list_perplexity_systems():
    """Return the systems whose perplexity on the test set a table shows."""
    if not any(table.kind == "perplexity" for table in PAPER_TABLES):
        return []
    return select_distinct_systems(plan.systems[system] for system in plan.selected_systems)


def plain_text_translations(set_name, system):
    """Return the file with the translations of a set by Moses, or with the best hypotheses of a rescored n-best list."""
    if system in CONFIG.use.rescored:
        return f"rescored/{system}.{TARGET}"
    if CONFIG.moses.enabled:
        return str(FOLDER.moses_translations(set_name, system))
    return CONFIG.artifacts.moses_translations


def result_file(name, report_category):
    """Return a file of the results, which Snakemake's report shows if it is a table (CSV), figure, page or error rate.

    The report has the same headings and captions as results/report.html.
    """
    file = f"results/{name}"
    if not name.endswith((".csv", ".png", ".html", ".json")):
        return file
    stem, _, extension = name.rpartition(".")
    # alignment_error_rate/RUN.json has the caption of its folder
    texts = CAPTIONS.get(stem) or CAPTIONS.get(os.path.dirname(name)) or {}
    heading, caption = texts.get("heading", stem), texts.get("caption", "")
    return report(
        file,
        category=report_category,
        caption=SETTINGS_FILES.add_caption(stem, caption),
        labels={"result": heading, "form": extension.upper()},
    )
