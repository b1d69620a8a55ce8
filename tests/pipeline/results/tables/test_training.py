"""Table 2: its rows, our numbers and the paper's, several seeds."""

from tests.table_inputs import (
    DEVICE,
    csv_rows,
    five_models,
    markdown_cells,
    notes_of,
    render_table,
    several_seeds,
    summary,
)


def test_model_types_are_grouped() -> None:
    rows = csv_rows(render_table("table2", *five_models()))
    names = [row["model"] for row in rows]
    assert names == ["RNNencdec-30", "RNNencdec-50", "RNNsearch-30", "RNNsearch-50", "RNNsearch-50*"]
    first = rows[0]
    assert (first["updates"], first["epochs"], first["hours"]) == ("1234", "6.4321", "0.0342")
    assert (first["train_nll"], first["dev_nll"], first["device"]) == ("28.1235", "3.0000", DEVICE)
    assert (first["reported_updates"], first["reported_hours"]) == ("846000", "109")
    assert (first["reported_train_nll"], first["reported_dev_nll"]) == ("28.1", "53.0")


def test_reported_training_rows() -> None:
    cells = markdown_cells(render_table("table2", *five_models()))
    assert cells[0] == ["Model", "Updates", "Epochs", "Hours", "Device", "Train NLL", "Dev. NLL"]
    assert cells[2] == ["RNNencdec-30", "1,234", "6.4", "0.034", DEVICE, "28.1", "3.0"]
    assert cells[3] == ["RNNencdec-30, reported", "846,000", "6.4", "109", "TITAN BLACK", "28.1", "53.0"]
    forms = render_table("table2", *five_models(), reported=False)
    assert "TITAN" not in forms["csv"] + forms["md"]


def test_training_table_of_several_seeds() -> None:
    forms = render_table("table2", *several_seeds(), reported=False)
    one, three = csv_rows(forms)
    # hours 1, 2, 6: mean 3, deviation sqrt((4 + 1 + 9) / 2); dev NLL 30, 30.5, 31: deviation 0.5
    assert (three["hours"], three["hours_std"]) == ("3.0000", "2.6458")
    assert (three["dev_nll"], three["dev_nll_std"]) == ("30.5000", "0.5000")
    assert (three["train_nll"], three["train_nll_std"]) == ("20.0000", "0.0000")
    assert (three["updates"], three["seed"], three["seeds"]) == ("1200", "3 1 2", "3")
    assert (one["seed"], one["seeds"], one["hours_std"], one["dev_nll_std"]) == ("1", "1", "", "")
    cells = ["RNNsearch-50", "1,200 ± 346", "0.50", "3.0 ± 2.6", "CPU", "20.0", "30.5 ± 0.5"]
    assert markdown_cells(forms)[3] == cells


def test_kept_updates_note() -> None:
    """A model that continues another may keep the weights with which it began."""
    kept = [("rnnsearch-30", 1, 2000), ("rnnsearch-50", 1, None), ("rnnencdec-50", 1, 1200)]
    kept += [("rnnencdec-50", 2, 2600), ("rnnencdec-30", 1, 2600)]
    summaries = [summary(model, seed, updates=2600, best_update=best) for model, seed, best in kept]
    forms = render_table("table2", [], summaries, reported=False)
    note = (
        "the weights of update 2,000 of 2,600 (RNNsearch-30); 1,200 of 2,600 / 2,600 of 2,600 (RNNencdec-50)."
    )
    assert note in notes_of(forms)
    updates = {row["id"]: row["best_update"] for row in csv_rows(forms)}
    assert updates["rnnencdec-50"] == "1200 2600" and updates["rnnsearch-50"] == ""
    assert "weights of update" not in render_table("table2", *five_models())["md"]
