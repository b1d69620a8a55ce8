"""Tables of perplexity on the test set, with a row per system."""

from pipeline.results.inputs import Inputs
from pipeline.results.papers import PerplexityTable
from pipeline.results.seeds import Mean
from pipeline.results.tables.notes import reported_note, seeds_note
from pipeline.results.tables.table import Table, format_number


def make_perplexity_table(paper_table: PerplexityTable, paper_name: str, inputs: Inputs) -> Table:
    """Return the table of perplexity, with rows in the order of the models and ensembles."""
    settings = inputs.settings
    records = []
    rows = []
    word_counts = []
    seed_counts = {}
    for system, runs in inputs.perplexities().items():
        perplexity = Mean.from_values([run["perplexity"] for run in runs])
        reported_perplexity = format_number(paper_table.reported.get(system), 1)
        record = {
            "model": settings.label(system),
            "perplexity": format_number(perplexity.value, 2),
            "reported": reported_perplexity,
            "sentences": runs[0]["sentences"],
            "words": runs[0]["words"],
            "id": system,
            "perplexity_std": format_number(perplexity.std, 2),
            "seeds": None,  # an ensemble has no seed of its own
        }
        if runs[0]["seed"] is not None:
            record["seeds"] = len(runs)
            seed_counts[system] = len(runs)
        records.append(record)
        rows.append([record["model"], perplexity.format(2), reported_perplexity])
        word_counts.append(f"{record['words']:,}")

    headers = ["Model", "Perplexity", "Perplexity, reported"]
    distinct_counts = " or ".join(dict.fromkeys(word_counts))
    notes = [
        f"exp of the mean NLL of a word of the test set's reference ({distinct_counts} words, end symbols included; "
        "one without an id of its own counts as [UNK]). Systems that differ by their decoding alone share the first "
        "one's row.",
        *seeds_note(seed_counts, settings),
    ]
    if paper_table.reported:
        notes.append(reported_note(paper_name, paper_table.title))
    else:
        headers.pop()
        rows = [cells[:-1] for cells in rows]
    return Table(records, headers, rows, notes=notes)
