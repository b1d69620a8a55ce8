"""Say which part of attention.py is right, and what is wrong with the others.

Small random numbers go through each function. The right answer is computed number by number, as the equations stand;
usual mistakes are computed, too, so that they can be named.
"""

import argparse
import ast
import faulthandler
import importlib.machinery
import importlib.util
import inspect
import math
import sys
import textwrap
import traceback
from pathlib import Path
from types import SimpleNamespace

import torch

B, S, N, C, A, V, M = 3, 5, 4, 8, 6, 7, 2
LENGTHS = (5, 3, 4)  # the other positions are padding
SIZES = f" (B = {B}, S = {S}, N = {N}, C = {C}, A = {A})"


def load_module(path):
    """Return the student's file as a module. If Python cannot read it, end with a line that says why."""
    # the loader is given, because Python finds none for a file whose name does not end in .py
    loader = importlib.machinery.SourceFileLoader("attention", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("attention", loader))
    try:
        loader.exec_module(module)
    except SyntaxError as error:
        sys.exit(f"{Path(path).name}, line {error.lineno}: {error.msg}")
    except Exception as error:  # a student's code may raise anything
        sys.exit(f"{Path(path).name}: {describe_error(error, module.__file__)}")
    return module


def make_inputs():
    """Return states, annotations, padding and weights of random numbers, always the same."""
    torch.manual_seed(1)
    w = SimpleNamespace(W_a=torch.randn(N, A), U_a=torch.randn(C, A), v_a=torch.randn(A), W=torch.randn(N, C))
    padding = torch.tensor([[j >= length for j in range(S)] for length in LENGTHS])
    return torch.randn(B, N), torch.randn(B, S, C), padding, w


def compute_by_hand(energy):
    """Return the energies, (B, S), if `energy` computes that of one state and one annotation, two lists of numbers."""
    s, h, _, _ = make_inputs()
    return torch.tensor(
        [[energy(s[b].tolist(), h[b, j].tolist()) for j in range(S)] for b in range(B)], dtype=torch.float32
    )


def additive(s, h, activation=math.tanh, with_state=1.0):
    """Compute App. A.1.2 for one state and one annotation."""
    w = make_inputs()[3]
    total = 0.0
    for a in range(A):
        pre_activation = with_state * sum(s[n] * float(w.W_a[n, a]) for n in range(N))
        pre_activation += sum(h[c] * float(w.U_a[c, a]) for c in range(C))
        total += float(w.v_a[a]) * activation(pre_activation)
    return total


def are_equal(x, y):
    """Return whether two tensors are equal but for rounding."""
    return x.shape == y.shape and torch.allclose(x, y, atol=1e-5)


def name_type(result):
    """Return the name of the type of a result, or the usual reason why there is none."""
    return "None (is `return` missing?)" if result is None else type(result).__name__


def find_shape_problem(result, shape):
    """Say what is wrong with the shape of a result, if anything is."""
    if not isinstance(result, torch.Tensor):
        return f"returns {name_type(result)}, expected a tensor"
    if tuple(result.shape) == shape:
        return ""
    hint = "; the axis of the sentences comes first" if tuple(result.shape) == shape[::-1] else ""
    return f"axis: the shape is {tuple(result.shape)}, expected {shape}{hint}{SIZES}"


def find_energy_problem(function, right_energy, equation, mistakes):
    """Say what is wrong with a student's energy. `mistakes`: the energy of each usual mistake, by its description."""
    s, h, _, w = make_inputs()
    result = function(s, h, w)
    if problem := find_shape_problem(result, (B, S)):
        return problem
    if are_equal(result, compute_by_hand(right_energy)):
        return ""
    for description, energy in mistakes.items():
        if are_equal(result, compute_by_hand(energy)):
            return description
    return f"other numbers than {equation}"


def check_energy(student):
    """Check the alignment model."""
    mistakes = {
        "tanh is missing": lambda s, h: additive(s, h, activation=float),
        "s_{i-1} has no influence: add W_a s_{i-1}": lambda s, h: additive(s, h, with_state=0.0),
    }
    return find_energy_problem(student.energy, additive, "v_a^T tanh(W_a s_{i-1} + U_a h_j)", mistakes)


def check_softmax(student):
    """Check the weights: mask and axis."""
    _, _, padding, _ = make_inputs()
    e = torch.randn(B, S)
    result = student.softmax(e.clone(), padding)
    if problem := find_shape_problem(result, (B, S)):
        return problem
    expected = torch.zeros(B, S)
    for b, length in enumerate(LENGTHS):
        for j in range(length):
            expected[b, j] = math.exp(e[b, j]) / sum(math.exp(e[b, k]) for k in range(length))
    if are_equal(result, expected):
        handles_large_energies = are_equal(student.softmax(e + 1000, padding), expected)
        return (
            ""
            if handles_large_energies
            else "exp(1000) is infinite: subtract the largest energy first, or use torch.softmax"
        )
    if are_equal(result, e.softmax(dim=1)):
        return "mask: padding has a weight"
    if are_equal(result, e.softmax(dim=1).masked_fill(padding, 0)):
        return "mask: it comes too late, so the weights of a sentence do not add up to 1; mask the energies"
    if are_equal(result, e.masked_fill(padding, 0).softmax(dim=1)):
        return "mask: an energy of 0 is no mask, since exp(0) = 1; take minus infinity"
    if are_equal(result.nan_to_num(), e.masked_fill(~padding, -math.inf).softmax(dim=1).nan_to_num()):
        return "mask: only padding has a weight; padding is True where there is no word"
    if are_equal(result.sum(dim=0), torch.ones(S)):
        return (
            "axis: the weights add up to 1 over the sentences; it must be over the words of a sentence, dim=1"
        )
    return "other numbers than exp(e_ij) / sum_k exp(e_ik) over the words k that are no padding"


def check_context(student):
    """Check the weighted sum."""
    _, h, padding, _ = make_inputs()
    alpha = torch.rand(B, S).masked_fill(padding, 0)
    h_before = h.clone()
    result = student.context(alpha, h)
    if not are_equal(h, h_before):
        return "changes h in place, but the next step needs h: make a new tensor"
    if problem := find_shape_problem(result, (B, C)):
        return problem
    expected = torch.zeros(B, C)
    for b in range(B):
        for j in range(S):
            expected[b] += alpha[b, j] * h[b, j]
    if are_equal(result, expected / S):
        return "axis: a mean over the positions; alpha_ij are the weights already, so take the sum"
    return "" if are_equal(result, expected) else "other numbers than sum_j alpha_ij h_j"


def have_arguments(call, *expected):
    """Return whether a recorded call got these very objects."""
    return list(map(id, call)) == list(map(id, expected))


class RecordingModel:
    """A model whose parts note what they are given."""

    def __init__(self):
        self.w, self.no_word = make_inputs()[3], torch.zeros(1, M)
        self.new_state, self.p = torch.full((B, N), 7.0), torch.randn(B, V)
        self.calls = {}

    def unit(self, y, s, c):
        self.calls["unit"] = (y, s, c)
        return self.new_state

    def output(self, s, y, c):
        self.calls["output"] = (s, y, c)
        return self.p


def check_decoder_step(student):
    """Check one step: which state goes where."""
    s, h, padding, _ = make_inputs()
    y, model, c, alpha = torch.randn(B, M), RecordingModel(), torch.randn(B, C), torch.rand(B, S)
    e = torch.randn(B, S)
    functions = {name: getattr(student, name) for name in ("energy", "softmax", "context")}

    def record_calls(name, output):
        def call(*arguments, **keywords):
            model.calls[name] = inspect.signature(functions[name]).bind(*arguments, **keywords).args
            return output

        return call

    for name, output in (("energy", e), ("softmax", alpha), ("context", c)):
        setattr(student, name, record_calls(name, output))
    try:
        result = student.decoder_step(s, y, h, padding, model)
    finally:
        for name, function in functions.items():
            setattr(student, name, function)
    if not isinstance(result, tuple | list) or len(result) != 3:
        return f"returns {name_type(result)}, expected three results: p, s_i, alpha_i"
    for name in ("energy", "softmax", "context", "unit", "output"):
        if name not in model.calls:
            return f"{name} is not called"
    if model.calls["energy"][0] is model.new_state:
        return "s_i instead of s_{i-1}: energy compares the annotations with the state before the step (App. A.1.2)"
    if not have_arguments(model.calls["energy"], s, h, model.w):
        return "energy gets other arguments than s, h, model.w, in this order"
    if model.calls["softmax"][1] is not padding:
        return "mask: softmax does not get the padding"
    if not have_arguments(model.calls["softmax"], e, padding):
        return "softmax gets other energies than those of energy"
    if not have_arguments(model.calls["context"], alpha, h):
        return "context gets other arguments than the weights of softmax and h, in this order"
    if not have_arguments(model.calls["unit"], y, s, c):
        return "unit gets other arguments than y, s, c, in this order"
    if model.calls["output"][0] is s:
        return "s_{i-1} instead of s_i: p follows from the new state (Sec. 3.1)"
    if not have_arguments(model.calls["output"], model.new_state, y, c):
        return "output gets other arguments than the new state, y, c, in this order"
    if result[1] is s:
        return "s_{i-1} instead of s_i: the second result is the new state"
    is_right = result[0] is model.p and result[1] is model.new_state and result[2] is alpha
    return "" if is_right else "returns something else than p, s_i, alpha_i, in this order"


class ScriptedModel:
    """A model that writes given words: the first number of its state counts the steps."""

    def __init__(self, words):
        self.words, self.no_word, self.w = words, torch.zeros(1, M), None
        self.embedded_words = []

    def step(self, s, y, h, padding, model):
        """Stand in for `decoder_step`."""
        step = int(s[0, 0])
        self.embedded_words.append(y)
        if len(self.embedded_words) > 100:
            raise RuntimeError("the loop does not end, at the end symbol or after `max_words` words")
        p = torch.full((1, V), -9.0)
        p[0, self.words[min(step, len(self.words) - 1)]] = -0.1
        return p, s + 1, torch.ones(1, 1)

    def embed(self, word):
        return torch.full((1, M), float(word) + 1)  # that of the end symbol is not zero


def check_translate(student):
    """Check the search: the end symbol, and which word comes back as the word before."""
    decoder_step = student.decoder_step

    def run_search(model, max_words=50):
        student.decoder_step = model.step
        try:
            return student.translate(
                torch.zeros(1, N), torch.zeros(1, 1, C), torch.zeros(1, 1) > 0, model, max_words
            )
        finally:
            student.decoder_step = decoder_step

    model = ScriptedModel([5, 3, 0, 6])
    words = run_search(model, 10)
    if words is None:
        return f"returns {name_type(words)}, expected a list of ids"
    result = [int(word) for word in words]
    if result == [5, 3, 0]:
        return "end symbol: it is no word of the translation"
    if result[:3] == [5, 3, 0] or result[:3] == [5, 3, 6]:
        return "end symbol: the search goes on after it"
    if result != [5, 3]:
        return f"wrote {result} where the model's likeliest words are 5, 3 and the end symbol"
    if model.embedded_words[0].any():
        return "before the first word there is model.no_word, zeros"
    embedded = [float(y[0, 0]) if isinstance(y, torch.Tensor) else y for y in model.embedded_words[1:]]
    if embedded != [5 + 1, 3 + 1]:
        return "each step reads the embedding of the word that was written before"
    if len(run_search(ScriptedModel([4]), 8)) != 8:
        return "a translation without an end symbol stops after `max_words` words"
    return ""


def multiply(s, h):
    """Compute the product of two lists of equal length."""
    return sum(x * y for x, y in zip(s, h, strict=True))


def check_dot(student):
    """Check dot-product attention."""

    def dot(s, h):
        return multiply(s, h[:N]) + multiply(s, h[N:])

    mistakes = {
        "only the forward half of h_j: add the backward half": lambda s, h: multiply(s, h[:N]),
        "only the backward half of h_j: add the forward half": lambda s, h: multiply(s, h[N:]),
        "a mean of both halves of h_j: add them": lambda s, h: dot(s, h) / 2,
        "every other number of h_j: its halves are h[..., :N] and h[..., N:]": (
            lambda s, h: multiply(s, h[::2]) + multiply(s, h[1::2])
        ),
        "a tanh too many: the energy is a product alone": lambda s, h: math.tanh(dot(s, h)),
        "divided by the root of N: this energy is not scaled": lambda s, h: dot(s, h) / math.sqrt(N),
    }
    return find_energy_problem(student.dot, dot, "s_{i-1}^T (forward h_j + backward h_j)", mistakes)


def check_general(student):
    """Check general attention."""
    W = make_inputs()[3].W.tolist()

    def general(s, h):
        return multiply(s, [multiply(row, h) for row in W])

    mistakes = {
        "W is missing: this is the energy of `dot`": lambda s, h: multiply(s, h[:N]) + multiply(s, h[N:]),
        "a tanh too many: the energy is a product alone": lambda s, h: math.tanh(general(s, h)),
        "divided by the root of N: this energy is not scaled": lambda s, h: general(s, h) / math.sqrt(N),
    }
    return find_energy_problem(student.general, general, "s_{i-1}^T W h_j", mistakes)


PARTS = {
    "energy": check_energy,
    "softmax": check_softmax,
    "context": check_context,
    "decoder_step": check_decoder_step,
    "translate": check_translate,
    "dot": check_dot,
    "general": check_general,
}
PART_2 = ("dot", "general")


def find_problem(name, student):
    """Return what is wrong with a part; nothing if it is right."""
    try:
        return PARTS[name](student) or find_gradient_problem(name, student)
    except Exception as error:  # a student's code may raise anything
        return describe_error(error, student.__file__)


def describe_error(error, file):
    """Return the message of an error, the line of the student's file, and the sizes if it is about shapes."""
    message = " ".join(str(error).split())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    place = f"line {lines[-1]}: " if lines else ""
    is_about_shapes = isinstance(error, RuntimeError | IndexError) and any(
        word in message for word in ("size", "shape", "dim")
    )
    axis, sizes = ("axis: ", SIZES) if is_about_shapes else ("", "")
    return f"{axis}{place}{type(error).__name__}: {message}{sizes}"


def find_gradient_problem(name, student):
    """Say why a part could not be trained, although its numbers are right."""
    s, h, padding, w = make_inputs()
    argument, other_argument = {
        "softmax": (torch.randn(B, S), padding),
        "context": (torch.rand(B, S), h),
    }.get(name, (s, h))
    if name in ("decoder_step", "translate"):
        return ""
    argument.requires_grad_()
    weights = {"energy": ("W_a", "U_a", "v_a"), "general": ("W",)}.get(name, ())
    for weight in weights:
        getattr(w, weight).requires_grad_()
    numbers = argument * 1  # which PyTorch may not change in place either
    arguments = (numbers, other_argument) if name in ("softmax", "context") else (numbers, other_argument, w)
    try:
        (getattr(student, name)(*arguments) * torch.rand(1)).square().sum().backward()
    except RuntimeError as error:
        place = "changes a tensor in place, which cannot be trained: make a new one"
        return place if "inplace" in str(error) else "no gradient comes back: all must be computed by tensors"
    untrained = [weight for weight in weights if getattr(w, weight).grad is None]
    if untrained or argument.grad is None:
        names = ", ".join(untrained) or "s_{i-1}"
        return f"no gradient comes back to {names}: all must be computed by tensors"
    return (
        ""
        if argument.grad.isfinite().all()
        else "its gradient is not a number: mask with -torch.inf before exp"
    )


def main(path):
    """Print a line for each part. Return whether all that is written is right, and all of part 1 is written."""
    student, holes, finished = load_module(path), find_holes(path), True
    for name in PARTS:
        if name in holes:
            print(f"{name:13} not written yet")
            finished = finished and name in PART_2
        else:
            problem = find_problem(name, student)
            verdict = f"WRONG: {problem}" if problem else "right"
            print(textwrap.fill(f"{name:13} {verdict}", width=80, subsequent_indent=" " * 14))
            finished = finished and not problem
    if finished:
        print("Now: python train.py")
    return finished


def find_holes(path):
    """Return the names of the functions in which `...` stands for something."""
    functions = ast.parse(Path(path).read_text(encoding="utf-8")).body
    return {
        function.name
        for function in functions
        if isinstance(function, ast.FunctionDef) and any(map(is_hole, ast.walk(function)))
    }


def is_hole(node):
    """Return whether a statement is `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


if __name__ == "__main__":
    faulthandler.dump_traceback_later(60, exit=True)  # a loop without an end
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).with_name("attention.py")
    parser.add_argument("file", nargs="?", type=Path, default=default, help="default: attention.py")
    sys.exit(not main(parser.parse_args().file))
