"""The phrase-based system with the real Moses, from text to Table 1: `make test-moses`, since its build takes long."""

import csv
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from nmt.io.text_files import read_lines
from pipeline.moses.programs import provide_programs
from tests.running import MIRROR, ROOT, TINY, make_demo, run, snakemake_command

BUILT = ROOT / ".moses"
"""Where the workflow puts Moses."""
MEASURED = """
moses: {enabled: true, tuning_rounds: 3, n_best: 20, alignment_block: 2000, lm_order: 3}
"""
SCORED = """
moses: {phrase_model: rnnenc-phrases}
models:
  rnnenc-phrases: {label: Phrases, model_type: rnnencdec, max_words: 7, training: {updates: 20}}
"""
PAIRS, SENTENCES = 3000, 30


def fetch_source(path: Path) -> None:
    """Copy the archive of Moses' source, for a build."""
    archives = [*(MIRROR / "moses").glob("*.tar.gz")]
    assert archives, "NMT_TEST_MIRROR names a folder with the archive of Moses' source"
    shutil.copy(archives[0], path)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny demo with more text, and with Moses measured."""
    provide_programs(BUILT, fetch_source, parallel_jobs=2)
    folder = tmp_path_factory.mktemp("experiment")
    overlay = make_demo(folder)
    # tuned on 20 sentences, Moses has between 12 and 83 BLEU; on 60, between 84 and 86
    larger = TINY.replace("pairs: 400", f"pairs: {PAIRS}").replace("dev, pairs: 20", "dev, pairs: 60")
    overlay.write_text(larger + MEASURED)
    targets = ("results/table1.csv", "results/significance.csv", "moses/test/n_best.gz")
    result = run(command(folder, *targets))
    assert result.returncode == 0, result.stdout
    return folder


def command(experiment: Path, *targets: str) -> list[str]:
    options = ["--configfile", str(experiment / "tiny.yaml")]
    return snakemake_command(experiment, "--cores", "2", *targets, *options)


def test_moses_stands_in_table_1_beside_the_models(experiment):
    with (experiment / "results/table1.csv").open() as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    # 3,000 pairs are enough for phrases and far too few for a network of 8 units
    assert float(rows["Moses"]["bleu_all"]) > 30 + float(rows["RNNsearch-50"]["bleu_all"])
    translations = (experiment / "translations/test/moses.txt").read_text().splitlines()
    assert len(translations) == SENTENCES and all(line == line.strip() for line in translations)


def test_n_best_lists_are_of_different_translations_numbered_as_the_text(experiment):
    lists = defaultdict(list)
    for line in read_lines(experiment / "moses/test/n_best.gz"):
        number, hypothesis, _, score = line.split(" ||| ")
        lists[int(number)].append((hypothesis.strip(), float(score)))
    assert sorted(lists) == list(range(SENTENCES))
    best = (experiment / "translations/test/moses.txt").read_text().splitlines()
    for number, hypotheses in lists.items():
        assert len({text for text, _ in hypotheses}) == len(hypotheses) <= 20
        assert [score for _, score in hypotheses] == sorted((score for _, score in hypotheses), reverse=True)
        assert hypotheses[0][0] == best[number]


def test_a_model_of_its_phrases_scores_them_in_a_second_system(experiment):
    """Moses + RNNenc: a weight for one more score, a row of its own, and nothing of Moses' made again."""
    first = [experiment / name for name in ("moses/phrase-table.gz", "moses/weights.txt")]
    before = [path.stat().st_mtime_ns for path in first]
    (experiment / "scored.yaml").write_text(SCORED)
    options = ["--configfile", str(experiment / "tiny.yaml"), str(experiment / "scored.yaml")]
    result = run(snakemake_command(experiment, "--cores", "2", "results/table1.csv", *options))
    assert result.returncode == 0, result.stdout
    assert [path.stat().st_mtime_ns for path in first] == before
    weights = dict(
        line.split("= ") for line in (experiment / "moses/phrases/weights.txt").read_text().splitlines()
    )
    assert len(weights["TranslationModel0"].split()) == 5
    with (experiment / "results/table1.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["moses-rnnenc"]["model"] == "Moses + RNNenc"
    # what a model of 20 updates says of phrases is worth little: tuning must not lose what Moses knows
    assert float(rows["moses-rnnenc"]["bleu_all"]) > float(rows["moses"]["bleu_all"]) - 10
    translations = (experiment / "translations/test/moses-rnnenc.txt").read_text().splitlines()
    assert len(translations) == SENTENCES


def test_everything_after_the_alignment_repeats(experiment):
    made = [
        experiment / name
        for name in ("moses/phrase-table.gz", "moses/weights.txt", "translations/test/moses.txt")
    ]
    before = [path.read_bytes() for path in made]
    result = run(command(experiment, "translations/test/moses.txt", "--forcerun", "moses_phrases"))
    assert result.returncode == 0, result.stdout
    assert [path.read_bytes() for path in made] == before


def test_a_changed_search_tunes_and_translates_again(experiment):
    def planned(settings):
        target = "translations/test/moses.txt"
        result = run([*command(experiment, target, "-n"), "--config", f"moses={settings}"])
        return set(re.findall(r"^(?:local)?rule (moses_\w+):", result.stdout, flags=re.MULTILINE))

    assert planned("{n_best: 7}") == set()
    assert (
        planned("{distortion_limit: 3}") == planned("{cube_pruning: 9}") == {"moses_tune", "moses_translate"}
    )


def test_a_missing_program_is_one_line(experiment):
    hidden = BUILT / "hidden"
    (BUILT / "bin").rename(hidden)  # which may be a link to an installation
    try:
        result = run(command(experiment, "moses/weights.txt", "--forcerun", "moses_tune", "--quiet", "all"))
    finally:
        hidden.rename(BUILT / "bin")
    assert "bin/moses: no such file; remove " in result.stdout
    assert "Traceback" not in result.stdout
