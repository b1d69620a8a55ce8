"""Say which part of attention.py is right, and what is wrong with the others: python check.py [FILE]

Small random numbers go through each function. The right answer is computed number by number, as the equations stand;
usual mistakes are computed, too, so that they can be named.
"""

import ast
import importlib.util
import inspect
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import torch

B, S, N, C, A, V, M = 3, 5, 4, 8, 6, 7, 2
LENGTHS = (5, 3, 4)  # the other positions are padding


def load(path):
    """Return the student's file as a module."""
    spec = importlib.util.spec_from_file_location("attention", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs():
    """Return states, annotations, padding and weights of random numbers, always the same."""
    torch.manual_seed(1)
    w = SimpleNamespace(W_a=torch.randn(N, A), U_a=torch.randn(C, A), v_a=torch.randn(A), W=torch.randn(N, C))
    padding = torch.tensor([[j >= length for j in range(S)] for length in LENGTHS])
    return torch.randn(B, N), torch.randn(B, S, C), padding, w


def by_hand(one):
    """Return the energies (B, S) that `one` computes of the numbers of one state and one annotation."""
    s, h, _, _ = inputs()
    return torch.tensor(
        [[one(s[b].tolist(), h[b, j].tolist()) for j in range(S)] for b in range(B)], dtype=torch.float32
    )


def additive(s, h, squash=math.tanh, with_state=1.0):
    """Compute App. A.1.2 for one state and one annotation."""
    w = inputs()[3]
    total = 0.0
    for a in range(A):
        inner = with_state * sum(s[n] * float(w.W_a[n, a]) for n in range(N))
        inner += sum(h[c] * float(w.U_a[c, a]) for c in range(C))
        total += float(w.v_a[a]) * squash(inner)
    return total


def same(x, y):
    """Return whether two tensors are equal but for rounding."""
    return x.shape == y.shape and torch.allclose(x, y, atol=1e-5)


def wrong_shape(found, shape):
    """Say what is wrong with the shape of a result, if anything is."""
    if not isinstance(found, torch.Tensor):
        return f"returns {type(found).__name__}, expected a tensor"
    if tuple(found.shape) == shape:
        return ""
    hint = "; the axis of the sentences comes first" if tuple(found.shape) == shape[::-1] else ""
    return f"axis: the shape is {tuple(found.shape)}, expected {shape}{hint}"


def check_energy(lesson):
    """Check the alignment model."""
    s, h, _, w = inputs()
    found = lesson.energy(s, h, w)
    if problem := wrong_shape(found, (B, S)):
        return problem
    if same(found, by_hand(additive)):
        return ""
    if same(found, by_hand(lambda s, h: additive(s, h, squash=float))):
        return "tanh is missing"
    if same(found, by_hand(lambda s, h: additive(s, h, with_state=0.0))):
        return "s_{i-1} has no influence: add W_a s_{i-1}"
    return "other numbers than v_a^T tanh(W_a s_{i-1} + U_a h_j)"


def check_softmax(lesson):
    """Check the weights: mask and axis."""
    _, _, padding, _ = inputs()
    e = torch.randn(B, S)
    found = lesson.softmax(e.clone(), padding)
    if problem := wrong_shape(found, (B, S)):
        return problem
    expected = torch.zeros(B, S)
    for b, length in enumerate(LENGTHS):
        for j in range(length):
            expected[b, j] = math.exp(e[b, j]) / sum(math.exp(e[b, k]) for k in range(length))
    if same(found, expected):
        large = same(lesson.softmax(e + 1000, padding), expected)
        return (
            "" if large else "exp(1000) is infinite: subtract the largest energy first, or use torch.softmax"
        )
    if same(found, e.softmax(dim=1)):
        return "mask: padding has a weight"
    if same(found, e.softmax(dim=1).masked_fill(padding, 0)):
        return "mask: it comes too late, so the weights of a sentence do not add up to 1; mask the energies"
    if same(found, e.masked_fill(padding, 0).softmax(dim=1)):
        return "mask: an energy of 0 is no mask, since exp(0) = 1; take minus infinity"
    if same(found.nan_to_num(), e.masked_fill(~padding, -math.inf).softmax(dim=1).nan_to_num()):
        return "mask: only padding has a weight; padding is True where there is no word"
    if same(found.sum(dim=0), torch.ones(S)):
        return (
            "axis: the weights add up to 1 over the sentences; it must be over the words of a sentence, dim=1"
        )
    return "other numbers than exp(e_ij) / sum_k exp(e_ik) over the words k that are no padding"


def check_context(lesson):
    """Check the weighted sum."""
    _, h, padding, _ = inputs()
    alpha = torch.rand(B, S).masked_fill(padding, 0)
    found = lesson.context(alpha, h)
    if problem := wrong_shape(found, (B, C)):
        return problem
    expected = torch.zeros(B, C)
    for b in range(B):
        for j in range(S):
            expected[b] += alpha[b, j] * h[b, j]
    if same(found, expected / S):
        return "axis: a mean over the positions; alpha_ij are the weights already, so take the sum"
    return "" if same(found, expected) else "other numbers than sum_j alpha_ij h_j"


class Recorder:
    """A model whose parts note what they are given."""

    def __init__(self):
        self.w, self.no_word = inputs()[3], torch.zeros(1, M)
        self.new, self.p = torch.full((B, N), 7.0), torch.randn(B, V)
        self.calls = {}

    def unit(self, y, s, c):
        self.calls["unit"] = (y, s, c)
        return self.new

    def output(self, s, y, c):
        self.calls["output"] = (s, y, c)
        return self.p


def check_decoder_step(lesson):
    """Check one step: which state goes where."""
    s, h, padding, _ = inputs()
    y, model, c, alpha = torch.randn(B, M), Recorder(), torch.randn(B, C), torch.rand(B, S)
    own = {name: getattr(lesson, name) for name in ("energy", "softmax", "context")}

    def noting(name, result):
        def call(*arguments, **named):
            model.calls[name] = inspect.signature(own[name]).bind(*arguments, **named).args
            return result

        return call

    for name, result in (("energy", torch.randn(B, S)), ("softmax", alpha), ("context", c)):
        setattr(lesson, name, noting(name, result))
    try:
        found = lesson.decoder_step(s, y, h, padding, model)
    finally:
        for name, function in own.items():
            setattr(lesson, name, function)
    if not isinstance(found, tuple) or len(found) != 3:
        return "returns something else than p, s_i, alpha_i"
    for name in ("energy", "softmax", "context", "unit", "output"):
        if name not in model.calls:
            return f"{name} is not called"
    if model.calls["energy"][0] is model.new:
        return "s_i instead of s_{i-1}: energy compares the annotations with the state before the step (App. A.1.2)"
    if model.calls["energy"][0] is not s or model.calls["energy"][1] is not h:
        return "energy gets other arguments than s, h, model.w"
    if model.calls["softmax"][1] is not padding:
        return "mask: softmax does not get the padding"
    if model.calls["context"][0] is not alpha:
        return "context gets other weights than those of softmax"
    if model.calls["unit"][0] is not y or model.calls["unit"][1] is not s or model.calls["unit"][2] is not c:
        return "unit gets other arguments than y, s, c"
    if model.calls["output"][0] is s:
        return "s_{i-1} instead of s_i: p follows from the new state (Sec. 3.1)"
    if model.calls["output"][0] is not model.new or model.calls["output"][2] is not c:
        return "output gets other arguments than the new state, y, c"
    if found[1] is s:
        return "s_{i-1} instead of s_i: the second result is the new state"
    right = found[0] is model.p and found[1] is model.new and found[2] is alpha
    return "" if right else "returns something else than p, s_i, alpha_i, in this order"


class Script:
    """A model that writes given words: the first number of its state counts the steps."""

    def __init__(self, words):
        self.words, self.no_word, self.w = words, torch.zeros(1, M), None
        self.read = []

    def step(self, s, y, h, padding, model):
        """Stand in for `decoder_step`."""
        place = int(s[0, 0])
        self.read.append(y)
        p = torch.full((1, V), -9.0)
        p[0, self.words[min(place, len(self.words) - 1)]] = -0.1
        return p, s + 1, torch.ones(1, 1)

    def embed(self, word):
        return torch.full((1, M), float(word))


def check_translate(lesson):
    """Check the search: the end symbol, and which word comes back as the word before."""
    own = lesson.decoder_step

    def written(model, most=50):
        lesson.decoder_step = model.step
        try:
            return lesson.translate(
                torch.zeros(1, N), torch.zeros(1, 1, C), torch.zeros(1, 1) > 0, model, most
            )
        finally:
            lesson.decoder_step = own

    model = Script([5, 3, 0, 6])
    found = [int(word) for word in written(model, 10)]
    if found == [5, 3, 0]:
        return "end symbol: it is no word of the translation"
    if found[:3] == [5, 3, 0] or found[:3] == [5, 3, 6]:
        return "end symbol: the search goes on after it"
    if found != [5, 3]:
        return f"wrote {found} where the model's likeliest words are 5, 3 and the end symbol"
    if model.read[0].any():
        return "before the first word there is model.no_word, zeros"
    if [int(y[0, 0]) for y in model.read[1:]] != [5, 3]:
        return "each step reads the embedding of the word that was written before"
    if len(written(Script([4]), 8)) != 8:
        return "a translation without an end symbol stops after `most` words"
    return ""


def check_dot(lesson):
    """Check dot-product attention."""
    s, h, _, w = inputs()
    found = lesson.dot(s, h, w)
    expected = by_hand(lambda s, h: sum(s[n] * (h[n] + h[N + n]) for n in range(N)))
    return wrong_shape(found, (B, S)) or (
        "" if same(found, expected) else "other numbers than the equation's"
    )


def check_general(lesson):
    """Check general attention."""
    s, h, _, w = inputs()
    found = lesson.general(s, h, w)
    expected = by_hand(lambda s, h: sum(s[n] * float(w.W[n, c]) * h[c] for n in range(N) for c in range(C)))
    return wrong_shape(found, (B, S)) or (
        "" if same(found, expected) else "other numbers than the equation's"
    )


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


def judge(name, lesson):
    """Return what is wrong with a part; nothing if it is right."""
    try:
        return PARTS[name](lesson) or without_gradient(name, lesson)
    except Exception as error:  # a student's code may raise anything
        kind = "axis: " if isinstance(error, RuntimeError | IndexError) else ""
        return f"{kind}{type(error).__name__}: {' '.join(str(error).split())}"


def without_gradient(name, lesson):
    """Say why a part could not be trained, although its numbers are right."""
    s, h, padding, w = inputs()
    first, second = {"softmax": (torch.randn(B, S), padding), "context": (torch.rand(B, S), h)}.get(
        name, (s, h)
    )
    if name in ("decoder_step", "translate"):
        return ""
    first.requires_grad_()
    numbers = first * 1  # which PyTorch may not change in place either
    arguments = (numbers, second) if name in ("softmax", "context") else (numbers, second, w)
    try:
        (getattr(lesson, name)(*arguments) * torch.rand(1)).square().sum().backward()
    except RuntimeError as error:
        place = "changes a tensor in place, which cannot be trained: make a new one"
        return place if "inplace" in str(error) else "no gradient comes back: all must be computed by tensors"
    return (
        "" if first.grad.isfinite().all() else "its gradient is not a number: mask with -torch.inf before exp"
    )


def main(path):
    """Print a line for each part. Return whether all that is written is right, and all of part 1 is written."""
    lesson, holes, finished = load(path), holes_of(path), True
    for name in PARTS:
        if name in holes:
            print(f"{name:13} not written yet")
            finished = finished and name in PART_2
        else:
            problem = judge(name, lesson)
            print(f"{name:13} {'WRONG: ' + problem if problem else 'right'}")
            finished = finished and not problem
    if finished:
        print("Now: python train.py")
    return finished


def holes_of(path):
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
    own = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("attention.py")
    sys.exit(not main(own))
