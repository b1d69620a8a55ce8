"""Train RNNsearch with the functions of attention.py: about two minutes on one core.

    python train.py                                  the energy of part 1
    python train.py --energy dot                     a different energy, of part 2
    python train.py --demo CLONE/experiments/demo    the demo's text and sizes instead, after `make demo`

Encoder, gated unit, output layer and initial weights are the library's. Each run adds a row to results.tsv and draws
the attention of a sentence, attention-ENERGY.png.
"""

import argparse
import itertools
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import torch

from nmt.data.batches import (
    PairsWithinLimit,
    evaluation_batches,
    make_batch,
    pad_pairs,
    training_batches,
    word_mask,
)
from nmt.data.bitext import Bitext, binarize
from nmt.data.vocabulary import Vocabulary, build_vocabulary, count_words
from nmt.errors import UserError
from nmt.evaluation.bleu import multi_bleu
from nmt.model.model_types.rnnsearch import RNNsearch
from nmt.model.weights import create_weight
from nmt.plots.attention import plot_attention
from nmt.plots.style import save_figure
from nmt.settings.model_types import GatedArchitecture

HERE = Path(__file__).parent
# With PYTHONSAFEPATH, which JupyterLab may have set, Python does not look in this folder.
sys.path.insert(0, str(HERE))
from check import PARTS, find_holes, find_problem, load_module  # noqa: E402  found by the line above

SIDES = ("en", "fr")
BATCH_SIZE = 40
VALIDATE_EVERY = 100
"""Updates between two validations."""
FIRST_UPDATES = 10
"""Updates after which the time of all is estimated."""


def find_obstacle(functions, file, energy):
    """Say why the functions of a file cannot be trained; nothing if they can."""
    if not callable(getattr(functions, energy, None)):
        return f"no function `{energy}` in {file.name}: name energy, dot, general, or one of your own"
    needed_parts = (energy, "softmax", "context", "decoder_step", "translate")
    missing_parts = [name for name in needed_parts if name in find_holes(file)]
    if missing_parts:
        return f"not written yet in {file.name}: {', '.join(missing_parts)}"
    for name in needed_parts:
        problem = find_problem(name, functions) if name in PARTS else ""
        if problem:
            return f"{name} is wrong ({problem}); to train with it all the same, add --unchecked"
    return ""


def make_settings(hidden_units):
    """Return the settings of a model with so many hidden units: the demo's, with the order of Sec. 3.1."""
    return GatedArchitecture(
        hidden_units=hidden_units,
        embedding_size=hidden_units // 2,
        maxout_units=hidden_units // 2,
        alignment_units=hidden_units,
        step_order="section3",
        output_layer="direct",
        source_eos=True,
        unused_ids=0,
        init_std=0.1,
        alignment_init_std=0.03,
    )


class StudentModel(RNNsearch):
    """The library's RNNsearch, whose decoder is that of the student's file. `w` are the weights of the energies."""

    def __init__(self, functions, architecture, source_words, target_words):
        super().__init__(architecture, (source_words, target_words))
        self.functions = functions
        self.w = self.decoder.alignment
        self.w.W = create_weight(architecture.hidden_units, 2 * architecture.hidden_units)
        self.no_word = torch.zeros(1, architecture.embedding_size)

    def unit(self, y, s, c):
        """Return f(s, y, c), the gated unit (App. A.1.1 and A.2.2)."""
        unit = self.decoder.unit
        pre_activations = y @ unit.input_weights() + c @ unit.context_weights() + unit.input_bias()
        z, r, candidate = pre_activations.chunk(3, dim=1)
        z, r = torch.sigmoid(z + s @ unit.U_z), torch.sigmoid(r + s @ unit.U_r)
        return (1 - z) * s + z * torch.tanh(candidate + (r * s) @ unit.U)

    def output(self, s, y, c):
        """Return the log-probabilities of all words (App. A.2.2)."""
        features = self.readout.compute_features(s, y, c)
        return self.readout.compute_log_probs(features)

    def embed(self, word):
        """Return the embedding of a word of the translation, (1, M)."""
        return embed_words(self.target_embedding, torch.tensor([int(word)]))

    def start(self, batch):
        """Return s_0, annotations and padding of a batch."""
        encoded = self.encoder(embed_words(self.source_embedding, batch.source), batch.source_lengths)
        return self.decoder.start(encoded), encoded.annotations, encoded.padding

    def nll(self, batch):
        """Return -log p of all words of a batch, a sum, and the weights alpha (T, B, S)."""
        s, h, padding = self.start(batch)
        y = self.no_word.expand(len(batch), -1)
        total, weights = torch.zeros(()), []
        mask = word_mask(batch.target_lengths, len(batch.target))
        for words, is_word in zip(batch.target, mask, strict=True):
            p, s, alpha = self.functions.decoder_step(s, y, h, padding, self)
            total = total - (p.gather(1, words.unsqueeze(1)).squeeze(1) * is_word).sum()
            y = embed_words(self.target_embedding, words)
            weights.append(alpha)
        return total, torch.stack(weights)

    @torch.no_grad()
    def translate(self, source):
        """Return the ids of the translation of a sentence's ids, by the student's search."""
        batch = pad_pairs([source], [np.empty(0, dtype=np.int64)], source_eos=True)
        return [int(word) for word in self.functions.translate(*self.start(batch), self)]


def embed_words(embedding, words):
    """Return E x of words. Adam wants gradients of the whole matrix, the library's own only of the words' rows."""
    return torch.nn.functional.embedding(words, embedding.E) + embedding.b


def prepare_assignment_text(folder):
    """Return vocabularies, training and development text of the assignment, as ids."""
    files = {part: tuple(HERE / "text" / f"{part}.{side}.gz" for side in SIDES) for part in ("train", "dev")}
    folder.mkdir(exist_ok=True)
    vocabularies = [
        build_vocabulary(count_words([file]), 450, False, folder / f"{side}.tsv")
        for side, file in zip(SIDES, files["train"], strict=True)
    ]
    train, dev = (
        binarize({"": [files[part]]}, *vocabularies, folder / part, shuffle_seed=seed)
        for part, seed in (("train", 1), ("dev", None))
    )
    return vocabularies, train, dev


def read_experiment_text(experiment):
    """Return vocabularies, training and development text of a prepared experiment."""
    data = experiment / "data"
    vocabularies = [Vocabulary.read(data / "vocabulary" / f"{side}.tsv") for side in SIDES]
    return vocabularies, *(Bitext(data / "binary" / part) for part in ("train", "dev"))


def train(model, pairs, dev, updates):
    """Train with Adam, as the demo does: its learning rate falls from the middle on. Print the development NLL."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, 2 * (1 - n / updates)) + 0.01)
    batches = itertools.islice(training_batches(pairs, BATCH_SIZE, 20, True, 0), updates)
    start = time.monotonic()
    for update, batch in enumerate(batches, 1):
        optimizer.zero_grad()
        cost = model.nll(batch)[0] / len(batch)
        cost.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if update == FIRST_UPDATES:
            seconds = (time.monotonic() - start) / update * updates
            print(f"{updates} updates, about {seconds:.0f} s; a line every {VALIDATE_EVERY}", flush=True)
        if update % VALIDATE_EVERY == 0 or update == updates:
            nll = compute_development_nll(model, dev)
            print(
                f"update {update:5}  development NLL {nll:6.2f}  {time.monotonic() - start:4.0f} s",
                flush=True,
            )
    return nll, time.monotonic() - start


@torch.no_grad()
def compute_development_nll(model, dev):
    """Return the mean NLL of a sentence, in nats."""
    rows = np.arange(len(dev))
    total = sum(float(model.nll(batch)[0]) for batch in evaluation_batches(dev, rows, BATCH_SIZE, True))
    return total / len(rows)


def compute_bleu(model, dev, words):
    """Return the BLEU of the translations of the development text, and print three of them."""
    hypotheses, references = [], []
    for row in range(len(dev)):
        hypotheses.append(" ".join(words.words(model.translate(dev.source(row)))))
        references.append(" ".join(words.words(dev.target(row))))
    for hypothesis, reference in list(zip(hypotheses, references, strict=True))[:3]:
        print(f"  {hypothesis}\n  reference: {reference}")
    return multi_bleu().corpus_score(hypotheses, [references]).score


def plot_longest_sentence(model, dev, vocabularies, path):
    """Draw the attention of the longest sentence of at most 15 words, while the model is fed the reference."""
    row = max(
        (row for row in range(len(dev)) if len(dev.source(row)) <= 15), key=lambda row: len(dev.source(row))
    )
    with torch.no_grad():
        alpha = model.nll(make_batch(dev, np.array([row]), True))[1][:, 0]
    source, target = vocabularies
    save_figure(
        plot_attention(alpha.numpy(), source.words(dev.source(row)), target.words(dev.target(row))), path
    )


def main():
    """Train with the functions of a file, and print the scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, default=HERE / "attention.py", help="file with the functions")
    parser.add_argument(
        "--energy", default="energy", help="the function for the energies: energy, dot, general"
    )
    parser.add_argument("--demo", type=Path, help="folder of the finished demo")
    parser.add_argument("--updates", type=int, help="default: 2000, with --demo 900")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for what is written")
    parser.add_argument("--unchecked", action="store_true", help="train even if check.py finds mistakes")
    arguments = parser.parse_args()

    # Small products are slower with several threads, above all if others use the machine, too.
    torch.set_num_threads(1)
    functions = load_module(arguments.file)
    if not arguments.unchecked and (obstacle := find_obstacle(functions, arguments.file, arguments.energy)):
        sys.exit(textwrap.fill(obstacle, width=80))

    torch.manual_seed(1)
    functions.energy = getattr(functions, arguments.energy)  # which decoder_step calls
    arguments.output.mkdir(parents=True, exist_ok=True)
    vocabularies, train_text, dev = (
        read_experiment_text(arguments.demo)
        if arguments.demo
        else prepare_assignment_text(arguments.output / "ids")
    )
    model = StudentModel(functions, make_settings(128 if arguments.demo else 64), *map(len, vocabularies))
    model.initialize_weights(seed=1)

    updates = arguments.updates or (900 if arguments.demo else 2000)
    nll, seconds = train(model, PairsWithinLimit(train_text, 50), dev, updates)
    print("translating the development text", flush=True)
    score = compute_bleu(model, dev, vocabularies[1])
    plot_longest_sentence(model, dev, vocabularies, arguments.output / f"attention-{arguments.energy}.png")
    print(f"{arguments.energy}: development NLL {nll:.2f}, BLEU {score:.2f}, {seconds:.0f} s")
    with (arguments.output / "results.tsv").open("a", encoding="utf-8") as table:
        table.write(
            f"{arguments.energy}\t{updates} updates\tNLL {nll:.2f}\tBLEU {score:.2f}\t{seconds:.0f} s\n"
        )


if __name__ == "__main__":
    try:
        main()
    except UserError as error:  # such as a --demo that is not there
        sys.exit(f"error: {error}")
