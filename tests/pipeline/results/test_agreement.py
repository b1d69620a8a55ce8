"""Whether two packages agree: in their verdicts, in single cells, and in weights."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from nmt.cli import commands
from nmt.evaluation.translations import provenance_path, read_provenance, sha256_of_lines
from nmt.io.files import write_json
from nmt.io.text_files import read_lines, write_lines
from pipeline.results.agreement import (
    DIFFERENT,
    EQUAL,
    NOT_CONTRADICTED,
    SAME_VERDICT,
    UNKNOWN,
    WITHIN,
    _compare_numbers,
    compare_packages,
)
from pipeline.results.inputs import Inputs
from tests.messages import refused

PACKAGES = Path(__file__).parents[3] / "results" / "packages"


def compare(mine: Path, theirs: Path) -> dict[str, str]:
    comparisons = compare_packages(Inputs(mine), Inputs(theirs))
    return {comparison.name: comparison.agreement for comparison in comparisons}


def copy_first_seed(folder: Path) -> Path:
    """Copy a package without its later seeds: intervals and verdicts below are those of one run."""
    package = shutil.copytree(PACKAGES / "multi30k-subwords", folder)
    config = json.loads((package / "config.json").read_text(encoding="utf-8"))
    (package / "config.json").write_text(json.dumps(config | {"seeds": None}), encoding="utf-8")
    return package


def replace_translations(package: Path, run: str, count: int) -> None:
    """Let the first translations of a run be those of the worse model."""
    folder = package / "translations" / "test"
    path = folder / f"{run}.all.jsonl.gz"
    lines = list(read_lines(path))
    lines[:count] = list(read_lines(folder / "rnnencdec-40.all.jsonl.gz"))[:count]
    with write_lines(path) as writer:
        for line in lines:
            writer.write(line)
    provenance = read_provenance(path) | {"lines": sha256_of_lines(path)}
    write_json(provenance_path(path), provenance)


@pytest.mark.parametrize(("count", "agreement"), [(1, WITHIN), (1000, DIFFERENT)])
def test_one_cell_differs(count: int, agreement: str, tmp_path: Path) -> None:
    mine, theirs = copy_first_seed(tmp_path / "mine"), copy_first_seed(tmp_path / "theirs")
    replace_translations(theirs, "rnnsearch-40", count)
    summary = theirs / "runs" / "rnnencdec-40" / "summary.json"
    values = json.loads(summary.read_text(encoding="utf-8"))
    values |= {"weights": "0" * 64, "dev_nll": values["dev_nll"] + 0.001}
    summary.write_text(json.dumps(values), encoding="utf-8")

    agreements = compare(mine, theirs)
    assert agreements["Table 1, All: RNNsearch-40, subwords"] == agreement
    assert agreements["Table 1, All: RNNencdec-40, subwords"] == EQUAL
    assert agreements["Table 1, No UNK°: RNNsearch-40, subwords"] == EQUAL
    for name in ("Weights", "Development NLL"):
        assert agreements[f"{name}: RNNencdec-40, subwords"] == UNKNOWN
        assert agreements[f"{name}: RNNsearch-40, subwords"] == EQUAL
    result = CliRunner().invoke(commands, ["agree", str(mine), str(theirs)])
    assert result.exit_code == (agreement == DIFFERENT)


@pytest.mark.parametrize(
    ("theirs", "agreement"),
    [((1.0, 2.0, 3.0), EQUAL), ((3.0, 4.0, 5.0), WITHIN), ((4.0, 5.0, 6.0), DIFFERENT), ((2.0,), UNKNOWN)],
)
def test_numbers_of_several_runs(theirs: tuple[float, ...], agreement: str) -> None:
    """By Welch's test with four degrees of freedom, the means differ from 2.776 sqrt(2/3) = 2.27 on."""
    my_runs, their_runs = (
        [{"dev_nll": number} for number in numbers] for numbers in ((1.0, 2.0, 3.0), theirs)
    )
    assert _compare_numbers("", "dev_nll", my_runs, their_runs).agreement == agreement


def test_runs_on_other_text_have_only_claims_in_common(tmp_path: Path) -> None:
    agreements = compare(PACKAGES / "demo", copy_first_seed(tmp_path / "theirs"))
    assert set(agreements.values()) == {SAME_VERDICT, NOT_CONTRADICTED, DIFFERENT}
    assert agreements["RNNsearch-50 above RNNencdec-50"] == SAME_VERDICT
    assert agreements["RNNsearch-50 scores higher without unknown words"] == NOT_CONTRADICTED
    assert agreements["RNNsearch-50 keeps 80% of its BLEU on the longest sentences"] == DIFFERENT


def test_packages_with_nothing_in_common_are_refused() -> None:
    with refused():
        compare(PACKAGES / "multi30k-subwords", PACKAGES / "cho2014b-demo")
