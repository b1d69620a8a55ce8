from __future__ import annotations

from nmt.errors import UserError


def test_nothing_that_a_terminal_acts_on_is_in_a_message() -> None:
    assert str(UserError("a\x1b[31mb\r\x9bc\u202ed\ud800e\n\té ’")) == (
        "a\\x1b[31mb\\r\\x9bc\\u202ed\\ud800e\\n\té ’"
    )


def test_each_problem_has_a_line_and_no_path_makes_two() -> None:
    assert str(UserError("a\nb: none", "c")) == "a\\nb: none\nc"


def test_a_message_is_short_whatever_it_names() -> None:
    assert len(str(UserError("x" * 10**6))) < 2010
