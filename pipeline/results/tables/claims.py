"""The table of claims: the claims of the run's papers, the reported effects, and the verdicts of the run."""

from collections.abc import Sequence

from pipeline.config.artifacts import ReportSettings
from pipeline.results.bootstrap import SIGNIFICANCE_LEVEL
from pipeline.results.claims import Decision, find_reported_effect
from pipeline.results.paper_claims import AscendingNumbers, Claim, KeptScore
from pipeline.results.papers import Paper
from pipeline.results.tables.significance import format_p
from pipeline.results.tables.table import Table, format_difference, format_number

_HEADERS = ["Claim", "Where", "The paper", "This run", "95%", "p", "Verdict", "Measured"]


def make_claims_table(decisions: Sequence[Decision], settings: ReportSettings) -> Table:
    """Return the table of claims, in the order of the papers' files."""
    has_several_papers = len({decision.paper.name for decision in decisions}) > 1
    records = []
    rows = []
    group_starts = []
    for index, (name, paper, claim, measurement) in enumerate(decisions):
        if index > 0 and paper is not decisions[index - 1].paper:
            group_starts.append(index)
        low, high = measurement.interval or (None, None)
        record = {
            "paper": paper.name,
            "claim": claim.says,
            "place": claim.place,
            "reported": format_reported(paper, claim),
            "verdict": measurement.verdict,
            "effect": format_number(measurement.effect, 6),
            "low": format_number(low, 6),
            "high": format_number(high, 6),
            "p": format_number(measurement.p, 4),
            "measured": measurement.text,
            "id": name,
        }
        records.append(record)
        rows.append(
            [
                claim.says,
                f"{paper.name}, {claim.place}" if has_several_papers else claim.place,
                record["reported"],
                format_effect(claim, measurement.effect),
                " to ".join(format_effect(claim, bound) for bound in measurement.interval or ()),
                _format_p(claim, measurement.p, settings),
                measurement.verdict,
                measurement.text,
            ]
        )
    note = (
        "This run: a difference in the direction of the claim, or a fraction in percent; of an order of numbers the "
        "smallest step. A claim holds, or fails, if the effect is on its side, or on the other, with p below "
        f"{SIGNIFICANCE_LEVEL}; otherwise it is undecided. BLEU: paired bootstrap as in the table of significance. NLL "
        "and perplexity: Welch's t-test over seeds; with one seed there is no p, and the sign decides. The longest "
        f"sentences are those of the headline, the shortest have the {settings.figure2_window} smallest lengths. "
        "Not corrected for the number of claims."
    )
    return Table(
        records,
        _HEADERS,
        rows,
        text_columns=["Claim", "Where", "The paper", "Verdict", "Measured"],
        group_starts=group_starts,
        notes=[note],
    )


def format_reported(paper: Paper, claim: Claim) -> str:
    """Return the effect that the paper reports, or its evidence in words if it reports no numbers."""
    return format_effect(claim, find_reported_effect(paper, claim)) or claim.reported or ""


def format_effect(claim: Claim, effect: float | None) -> str:
    """Return an effect as text: a difference, or for a `KeptScore` a percentage; "" without an effect."""
    if effect is None:
        return ""
    return f"{100 * effect:.0f}%" if isinstance(claim, KeptScore) else format_difference(effect, 2)


def _format_p(claim: Claim, p: float | None, settings: ReportSettings) -> str:
    """Return a p-value, of the bootstrap as in the table of significance, without "n.s.", which the verdict says."""
    if p is not None and isinstance(claim, AscendingNumbers):  # Welch's test may give any p
        return "< 0.001" if p < 0.0005 else f"{p:.3f}"
    return format_p(p, settings.bootstrap_samples).removesuffix(" (n.s.)")
