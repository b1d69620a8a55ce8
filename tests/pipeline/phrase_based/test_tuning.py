"""Tuning that was stopped, with a script in the place of Moses' own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.phrase_based.configuration import START, System
from pipeline.phrase_based.programs import Moses
from pipeline.phrase_based.tuning import Tuning, tune
from tests.messages import refused

SCRIPT = r"""
# As Moses' script does it: it notes each whole round, and goes on from the last one only where it is told to.
my ($folder) = "@ARGV" =~ /--working-dir (\S+)/;
my $told = grep { $_ eq "--continue" } @ARGV;
open(my $calls, ">>", "CALLS"); print $calls ($told ? "goes on\n" : "begins\n"); close($calls);
mkdir $folder;
open(my $step, ">", "$folder/finished_step.txt"); print $step "1\n"; close($step);
die "stopped\n" if !$told;
open(my $ini, ">", "$folder/moses.ini"); print $ini "[weight]\nWEIGHTS"; close($ini);
"""


@pytest.fixture
def moses(tmp_path: Path) -> Moses:
    root = tmp_path / "moses"
    for name in ("bin/moses", "bin/mert", "scripts/training/mert-moses.pl"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    script = SCRIPT.replace("CALLS", str(tmp_path / "calls")).replace(
        "WEIGHTS", START.format(scores=" 0.2" * 4).replace("\n", "\\n")
    )
    (root / "scripts/training/mert-moses.pl").write_text(script, encoding="utf-8")
    return Moses(root)


@pytest.mark.skipif(not shutil.which("perl"), reason="no perl")
def test_a_stopped_tuning_goes_on_behind_its_last_whole_round(moses: Moses, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("phrases.gz", "reordering.gz", "lm", "dev.en", "dev.fr")]
    for file in files:
        file.touch()
    phrases, reordering, model, source, reference = files
    system = System(phrases, reordering, "wbe-msd-bidirectional-fe-allff", model, 5, 6)

    def call() -> None:
        output, tuning = tmp_path / "weights", Tuning("mert", 5, 100)
        tune(moses, system, source, reference, output, tmp_path / "work", tuning, [], 1)

    with refused():
        call()
    call()
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "begins\ngoes on\n"
    assert (tmp_path / "weights").is_file() and not (tmp_path / "work").exists()
