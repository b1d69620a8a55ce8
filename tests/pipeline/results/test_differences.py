from pathlib import Path

from pipeline.results.differences import describe_difference


def test_difference_late_in_a_long_line_is_quoted():
    (line,) = describe_difference(
        Path("a.csv"), ["x", "y" * 200 + "2.6"], ["x", "y" * 200 + "2.7"], "follows"
    )
    assert line.startswith("a.csv, line 2: ") and "y2.6' is written, " in line and "y2.7' follows" in line
