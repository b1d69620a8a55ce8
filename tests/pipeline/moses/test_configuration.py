"""What the decoder is told."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from nmt.errors import UserError
from pipeline.moses.configuration import System, format_configuration, make_initial_weights, read_weights


@dataclass(frozen=True)
class Table(System):
    """A system whose phrase table has so many scores."""

    phrase_scores: int = 4


SYSTEM = Table(
    *(Path("/m/phrases.gz"), Path("/m/order.gz"), Path("/m/lm")),
    reordering="msd-bidirectional-f",
    lm_order=3,
    distortion_limit=8,
    cube_pruning=None,
)
START = make_initial_weights(SYSTEM)


def test_weights_survive_configuration(tmp_path):
    weights = START.replace("0.5", "0.25")
    (tmp_path / "moses.ini").write_text(format_configuration(SYSTEM, weights))
    assert sorted(read_weights(tmp_path / "moses.ini").split("\n")) == sorted(weights.split("\n"))


def test_settings_of_the_decoder():
    text = format_configuration(SYSTEM, START)
    assert "\n[distortion-limit]\n8\n" in text and "path=/m/lm order=3\n" in text
    assert "num-features=6 type=wbe-msd-bidirectional-f-allff " in text
    assert "[weight]\nUnknownWordPenalty0= 1\nWordPenalty0= -1\n" in text
    # search algorithm 1 is cube pruning, whose stacks are as large as its pops
    options = "-search-algorithm 1 -cube-pruning-pop-limit 500 -s 500"
    assert replace(SYSTEM, cube_pruning=500).search_options == options.split()
    assert not SYSTEM.search_options


def test_one_more_score_has_one_more_weight():
    system = replace(SYSTEM, phrase_scores=5)
    text = format_configuration(system, make_initial_weights(system))
    assert "name=TranslationModel0 num-features=5 " in text
    assert "\nTranslationModel0= 0.2 0.2 0.2 0.2 0.2\n" in text


def test_path_with_space_is_refused():
    spaced = replace(SYSTEM, phrases=Path("/my text/phrases.gz"))
    with pytest.raises(UserError, match="reads no path with a space"):
        format_configuration(spaced, START)
