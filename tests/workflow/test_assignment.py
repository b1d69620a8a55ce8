"""The assignment of docs/assignment: its answers are right, wrong ones are named, and it trains the library's model."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from nmt.data.batches import Batch, pad_pairs
from tests.running import ROOT

FOLDER = ROOT / "docs" / "assignment"
SOLUTION = FOLDER / "solutions" / "attention.py"
WRONG = [
    ("energy", "return ((s @ w.W_a).unsqueeze(1) + h @ w.U_a) @ w.v_a", "tanh"),
    ("energy", "return torch.tanh(h @ w.U_a) @ w.v_a", "s_{i-1}"),
    ("energy", "return (torch.tanh((s @ w.W_a).unsqueeze(1) + h @ w.U_a) @ w.v_a).T", "axis"),
    ("energy", "return torch.tanh((s @ w.W_a).unsqueeze(1) + h @ w.U_a) @ w.v_a.detach()", "comes back to v_a"),
    ("energy", "return torch.tanh((s.detach() @ w.W_a).unsqueeze(1) + h @ w.U_a) @ w.v_a", "to s_{i-1}"),
    ("softmax", "return e.softmax(dim=1)", "mask"),
    ("softmax", "return e.softmax(dim=1).masked_fill(padding, 0)", "mask"),
    ("softmax", "return e.masked_fill(padding, 0).softmax(dim=1)", "mask"),
    ("softmax", "return e.masked_fill(~padding, -torch.inf).softmax(dim=1)", "mask"),
    ("softmax", "return e.masked_fill(padding, -torch.inf).softmax(dim=0)", "axis"),
    ("softmax", "w = e.exp() * ~padding; return w / w.sum(dim=1, keepdim=True)", "infinite"),
    ("softmax", "w = (e - e.max()).exp(); w[padding] = 0; return w / w.sum(dim=1, keepdim=True)", "in place"),
    ("context", "h *= alpha.unsqueeze(2); return h.sum(dim=1)", "in place"),
    ("context", "(alpha.unsqueeze(2) * h).sum(dim=1)", "return"),
    ("context", "return torch.tensor((alpha.unsqueeze(2) * h).sum(dim=1).tolist())", "gradient"),
    ("context", "return (alpha.unsqueeze(2) * h).sum(dim=2)", "axis"),
    ("context", "return (alpha.unsqueeze(2) * h).mean(dim=1)", "axis"),
    ("context", "return alpha @ h", "axis"),
    ("decoder_step", "n = model.unit(y, s, h[:, 0]); a = softmax(energy(n, h, model.w), padding); "
     "c = context(a, h); n = model.unit(y, s, c); return model.output(n, y, c), n, a", "s_i instead of s_{i-1}"),
    ("decoder_step", "a = softmax(energy(s, h, model.w), padding); c = context(a, h); "
     "return model.output(s, y, c), model.unit(y, s, c), a", "s_{i-1} instead of s_i"),
    ("decoder_step", "a = softmax(energy(s, h, model.w), ~padding); c = context(a, h); "
     "n = model.unit(y, s, c); return model.output(n, y, c), n, a", "mask"),
    ("decoder_step", "a = softmax(energy(s, h, model), padding); c = context(a, h); "
     "n = model.unit(y, s, c); return model.output(n, y, c), n, a", "model.w"),
    ("dot", "return (h[:, :, : h.shape[2] // 2] @ s.unsqueeze(2)).squeeze(2)", "forward half"),
    ("general", "return torch.tanh(h @ (s @ w.W).unsqueeze(2)).squeeze(2)", "tanh"),
    ("translate", "return LOOP(stop=False)", "end symbol"),
    ("translate", "max_words = 1000; return LOOP()", "does not end"),
    ("translate", "model.no_word = model.embed(END); return LOOP()", "no_word"),
    ("translate", "return LOOP(keep=True)", "end symbol"),
]  # fmt: skip
LOOP = '''
def LOOP(stop=True, keep=False):
    words, y, state = [], model.no_word, s
    while len(words) < max_words:
        p, state, _ = decoder_step(state, y, h, padding, model)
        word = int(p.argmax())
        if word == END and stop and not keep:
            break
        words.append(word)
        y = model.embed(word)
        if word == END and stop:
            break
    return words
'''  # fmt: skip


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    import check as module

    return module


def test_solutions_are_right(check, capsys):
    assert check.main(SOLUTION)
    assert "WRONG" not in capsys.readouterr().out
    assert not check.main(FOLDER / "attention.py")
    assert capsys.readouterr().out.count("not written yet") == len(check.PARTS)


@pytest.mark.parametrize(("name", "body", "diagnosis"), WRONG, ids=range(len(WRONG)))
def test_wrong_answers_are_diagnosed(
    check,
    tmp_path,
    capsys,
    name,
    body,
    diagnosis,
):
    before, head, after = SOLUTION.read_text(encoding="utf-8").partition(f"def {name}(")
    signature, _, rest = after.partition(":\n")
    lines = [*LOOP.strip("\n").split("\n"), body]
    written = "".join(f"    {line}\n" for line in lines)
    others = rest.partition("\n\n\n")[2]
    answer = tmp_path / "attention.py"
    answer.write_text(f"{before}{head}{signature}:\n{written}\n\n{others}", encoding="utf-8")
    assert not check.main(answer)
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    said = {line.split()[0]: line for line in re.sub(r"\n +", " ", output).splitlines()}
    verdict = said.pop(name)
    assert "WRONG" in verdict and diagnosis in verdict
    assert all(line.endswith("right") for line in said.values())


def batch() -> Batch:
    sources, targets = [[3, 4, 5], [6]], [[3], [4, 5, 6, 7]]
    return pad_pairs(*([torch.tensor(ids).numpy() for ids in side] for side in (sources, targets)), True)


def test_additive_energy_equals_the_library(check):
    import train as module

    model = module.StudentModel(check.load_module(SOLUTION), module.make_settings(8), 10, 11)
    model.initialize_weights(seed=1)
    torch.nn.init.normal_(model.w.v_a)
    found = {}
    for name, cost in (
        ("student", model.nll(batch())[0]),
        ("library", model.total_nll(batch())),
    ):
        model.zero_grad()
        cost.backward()
        found[name] = (
            cost,
            *(
                weight.grad.to_dense()
                for part, weight in model.named_parameters()
                if part != "decoder.alignment.W"
            ),
        )
    for one, other in zip(*found.values(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [("x = (1\n", "line 1"), ("import torhc\n", "line 1"), (None, "No such file")],
    ids=["syntax", "import", "missing"],
)
def test_file_that_python_cannot_read(check, tmp_path, answer, diagnosis):
    file = tmp_path / "attention.py"
    if answer:
        file.write_text(answer, encoding="utf-8")
    with pytest.raises(SystemExit, match=diagnosis) as error:
        check.main(file)
    assert "\n" not in str(error.value) and str(error.value).startswith("attention.py")


def run_training(folder: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FOLDER / "train.py", "--updates", "2", "--output", folder, *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("options", "diagnosis"),
    [
        (
            ["--file", FOLDER / "attention.py", "--energy", "dot"],
            "dot, softmax, context, decoder_step, translate",
        ),
        (["--file", SOLUTION, "--energy", "dto"], "energy, dot, general"),
    ],
    ids=["holes", "energy"],
)
def test_what_cannot_be_trained(tmp_path, options, diagnosis):
    process = run_training(tmp_path, *options)
    assert process.returncode == 1 and diagnosis in " ".join(process.stderr.split())
    assert "Traceback" not in process.stderr and not list(tmp_path.iterdir())


def test_wrong_answer_is_trained_only_if_asked(tmp_path):
    """Question (b) compares a softmax with and without a mask."""
    answer = tmp_path / "no_mask.py"
    right = SOLUTION.read_text(encoding="utf-8")
    answer.write_text(f"{right}\n\ndef softmax(e, padding):\n    return e.softmax(dim=1)\n", encoding="utf-8")
    process = run_training(tmp_path, "--file", answer)
    assert process.returncode == 1 and "mask" in process.stderr
    assert run_training(tmp_path, "--file", answer, "--unchecked").returncode == 0


def test_training_with_another_energy(tmp_path):
    assert run_training(tmp_path, "--file", SOLUTION, "--energy", "dot").returncode == 0
    assert (tmp_path / "results.tsv").read_text().startswith("dot\t2 updates\tNLL ")
    assert (tmp_path / "attention-dot.png").is_file()
