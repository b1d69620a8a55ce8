"""Run in GroundHog's environment: the authors' models, their searches and trainings, written to files.

    python models.py PART MODEL_TYPE FOLDER

PART: numbers (log p and gradients), searches, training, initial (initial weights) or settings. MODEL_TYPE: rnnencdec,
rnnsearch or grconv. FOLDER: for the results. `training` reads the text that `text.py` has written there.
"""

import json
import logging
import os
import sys
from pathlib import Path

import aesara
import numpy
import theano_shim  # noqa: F401, before GroundHog imports Theano
from experiments.nmt import encdec, state
from experiments.nmt.sample import BeamSearch, sample
from groundhog.trainer.SGD_adadelta import SGD

WORDS = 19
END = WORDS
UNKNOWN = 1
SIZES = {"dim": 6, "rank_n_approx": 5}
INTEGERS = {"dim_mult": 1, "hid_mult": 1, "maxout_part": 2}
"""Settings of the authors that are fractions there, although sizes of arrays are multiplied by them."""


def make_state(model_type, output_layer="factored", **changes):
    """Return the authors' settings of a model type with other sizes."""
    prototype = state.prototype_search_state if model_type == "rnnsearch" else state.prototype_encdec_state
    settings = prototype() | SIZES
    settings |= INTEGERS | {"seed": 1, "weight_scale": 0.3}
    settings |= {f"n_sym_{side}": WORDS + 1 for side in ("source", "target")}
    settings |= {f"null_sym_{side}": END for side in ("source", "target")}
    if model_type == "grconv":
        settings |= {
            "enc_rec_layer": "RecursiveConvolutionalLayer",
            "enc_rec_gating": False,
            "enc_rec_reseting": False,
            "enc_rec_weight_scale": 0.4,
            "enc_activ": "lambda x: TT.maximum(0, x)",
        }
    if output_layer == "direct":
        settings["softmax_layer"] = "lambda *a, **k: SoftmaxLayer(*a, **(k | {'rank_n_approx': 0}))"
    return settings | changes


def build_model(settings):
    """Return the authors' model with weights that all differ from 0, and that make every term of it matter."""
    model = encdec.RNNEncoderDecoder(
        settings, numpy.random.RandomState(settings["seed"]), compute_alignment=False
    )
    model.build()
    draw = numpy.random.RandomState(7)
    for weight in model.predictions.params:
        value = weight.get_value()
        weight.set_value((value + draw.normal(0, 0.4, size=value.shape)).astype("float32"))
    return model


def get_weights(model):
    return {weight.name: weight.get_value() for weight in model.predictions.params}


# --- probabilities and gradients --------------------------------------------------------------------------------------


def make_batch(settings):
    """Return the authors' padded batch of random pairs: sources of 1 to 12 words, targets of 12 to 1, with [UNK]."""
    draw = numpy.random.RandomState(3)
    sources, targets = [], []
    for length in range(1, 13):
        sources.append(draw.randint(1, WORDS, size=length))
        targets.append(draw.randint(1, WORDS, size=13 - length))
    sources[4][1] = targets[5][2] = UNKNOWN
    x, y = numpy.empty(12, dtype=object), numpy.empty(12, dtype=object)
    x[:], y[:] = sources, targets
    return encdec.create_padded_batch(settings, [x], [y])


def compute_numbers(model_type, output_layer):
    """Return weights, batch, log p of each pair, and the gradient of the summed cost, by name."""
    settings = make_state(model_type, output_layer)
    model = build_model(settings)
    x, x_mask, y, y_mask = make_batch(settings)
    outputs = [model.predictions.cost_per_sample, *model.predictions.grads]
    costs, *gradients = aesara.function(model.inputs, outputs)(x, y, x_mask, y_mask)

    results = {"x": x, "x_mask": x_mask, "y": y, "y_mask": y_mask, "log_p": -costs}
    results |= {f"weight/{name}": value for name, value in get_weights(model).items()}
    names = [weight.name for weight in model.predictions.params]
    results |= {f"gradient/{name}": value for name, value in zip(names, gradients, strict=True)}
    return results


# --- beam search ------------------------------------------------------------------------------------------------------


class Warnings(logging.Handler):
    """Collects the first words of the warnings of a search, which say that it is repeated."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(" ".join(record.getMessage().split()[:3]))


END_BIASES = (4.0, 2.5, 1.0)
"""What is added to the bias of the end symbol: translations end soon, late, or only with a wider beam."""


def make_searches(model):
    """Return the results of searches, as lists by the bias of the end symbol, with the weights of the model."""
    beam_search = BeamSearch(model)
    beam_search.compile()
    warnings = Warnings()
    logging.getLogger("experiments.nmt.sample").addHandler(warnings)

    results = {"weights": {name: value.tolist() for name, value in get_weights(model).items()}}
    results["id 0"] = compare_steps_with_scores(model)
    bias = next(weight for weight in model.predictions.params if weight.name == "b_dec_deep_softmax")
    original = bias.get_value()
    for end_bias in END_BIASES:
        changed = original.copy()
        changed[END] += end_bias
        changed[0] = -50  # no text has this id
        bias.set_value(changed)
        results[str(end_bias)] = search(beam_search, warnings)
    return results


def search(beam_search, warnings):
    """Return the n-best lists of random sources."""
    draw, results = numpy.random.RandomState(5), []
    for length in (1, 2, 3, 5, 8, 11):
        source = numpy.append(draw.randint(1, WORDS, size=length), END)
        for beam in (1, 2, 6):
            for is_unknown_forbidden in (False, True):
                for is_normalized in (False, True) if beam == 6 else (False,):
                    warnings.texts.clear()
                    try:
                        _, costs, translations = sample(
                            Names(), source, beam, None, beam_search, is_unknown_forbidden, is_normalized
                        )
                    except ValueError:  # doubled, the beam is larger than the vocabulary
                        costs, translations = [], []
                    results.append(
                        {
                            "source": source.tolist(),
                            "beam": beam,
                            "is_unknown_forbidden": is_unknown_forbidden,
                            "is_normalized": is_normalized,
                            "translations": [[int(word) for word in words] for words in translations],
                            "costs": [float(cost) for cost in costs],
                            "warnings": list(warnings.texts),
                        }
                    )
    return results


class Names:
    """The words of ids, which `sample` prints."""

    word_indxs = [str(word) for word in range(WORDS)] + ["<eol>"]


def compare_steps_with_scores(model):
    """Return log p of a target with id 0 in its middle: as a search computes it step by step, and as training does."""
    probabilities, states = model.create_next_probs_computer(), model.create_next_states_computer()
    source, target = numpy.array([3, 4, END]), numpy.array([5, 0, 6, END])
    c = model.create_representation_computer()(source)[0]
    state = [x[None, :] for x in model.create_initializers()(c)]
    previous, total = numpy.array([0]), 0.0
    for step, word in enumerate(target):
        total += numpy.log(probabilities(c, step, previous, *state)[0][0, word])
        previous = numpy.array([word])
        state = states(c, step, previous, *state)
    return {"steps": float(total), "score": float(model.create_scorer()(source, target)[0][0])}


# --- training ---------------------------------------------------------------------------------------------------------

UPDATES, BATCH_SIZE, BATCHES_PER_SORT, MAX_WORDS = 100, 10, 4, 9


def train(model_type, text):
    """Return the batches, weights and costs of a training with the authors' optimizer and batches, by name."""
    settings = make_state(
        model_type,
        bs=BATCH_SIZE,
        sort_k_batches=BATCHES_PER_SORT,
        seqlen=MAX_WORDS,
        weight_scale=0.1,
        indx_word=None,
        indx_word_target=None,
        source=[str(text / "shuffled.source.h5")],
        target=[str(text / "shuffled.target.h5")],
        trainFreq=1000,
    )
    if model_type == "rnnencdec":
        settings["cutoff"] = 15.0  # so that only some gradients are clipped
    model = encdec.RNNEncoderDecoder(settings, numpy.random.RandomState(settings["seed"]))
    model.build()
    language_model = model.create_lm_model()
    batches = Recorded(encdec.get_batch_iterator(settings))
    batches.iterator.start(-1)
    update = SGD(language_model, settings, batches)

    results = {f"weight/0/{name}": value for name, value in get_weights(model).items()}
    reports = []
    for number in range(1, UPDATES + 1):
        reports.append(update())
        if number in (1, UPDATES // 2, UPDATES):
            results |= {f"weight/{number}/{name}": value for name, value in get_weights(model).items()}
    results["costs"] = numpy.array([report["cost"] for report in reports])
    results["norms"] = numpy.array([float(report["grad_norm"]) for report in reports])

    # one more update whose gradient is not finite: exp of the bias overflows
    bias = next(weight for weight in language_model.params if weight.name == "b_dec_deep_softmax")
    value = bias.get_value()
    value[3] = 200
    bias.set_value(value)
    update()
    results |= {f"weight/not finite/{name}": value for name, value in get_weights(model).items()}

    for number, batch in enumerate(batches.taken):
        results |= {f"batch/{number}/{name}": value for name, value in batch.items()}
    return results


class Recorded:
    """An iterator that keeps what it has returned."""

    def __init__(self, iterator):
        self.iterator, self.taken = iterator, []

    def __next__(self):
        self.taken.append(next(self.iterator))
        return self.taken[-1]


# --- initial weights --------------------------------------------------------------------------------------------------


def create_layers(settings):
    """Return the weights of the authors' layers, without a model around them, by name."""
    settings["c_dim"] = settings["dim"] * (2 if settings["search"] else 1)
    draw = numpy.random.RandomState(1)
    parts = [encdec.Encoder(settings, draw, prefix) for prefix in ("enc", "back_enc")]
    parts.append(encdec.Decoder(settings, draw))
    weights = {}
    for part in parts:
        part.create_layers()
        for value in vars(part).values():
            for layer in value if isinstance(value, list) else [value]:
                weights |= {weight.name: weight.get_value() for weight in getattr(layer, "params", [])}
    return weights


# --- parts ------------------------------------------------------------------------------------------------------------


def write_numbers(model_type, folder):
    for output_layer in ("direct", "factored"):
        numpy.savez(folder / f"{model_type}-{output_layer}.npz", **compute_numbers(model_type, output_layer))


def write_searches(model_type, folder):
    model = build_model(make_state(model_type))
    (folder / f"{model_type}-searches.json").write_text(json.dumps(make_searches(model)))


def write_training(model_type, folder):
    numpy.savez(folder / f"{model_type}-training.npz", **train(model_type, folder))


def write_initial_weights(model_type, folder):
    sizes = {"dim": 120, "rank_n_approx": 100, "n_sym_source": 300, "n_sym_target": 300}
    settings = make_state(model_type, **sizes, weight_scale=0.01)
    numpy.savez(folder / f"{model_type}-initial.npz", **create_layers(settings))


def write_settings(model_type, folder):
    """Write the authors' own settings of a model, and the shapes of its weights."""
    prototype = state.prototype_search_state if model_type == "rnnsearch" else state.prototype_encdec_state
    settings = prototype()
    zeros = "lambda rows, columns, *_, **__: numpy.zeros((int(rows), int(columns)), 'float32')"
    weights = create_layers(settings | INTEGERS | {"weight_init_fn": zeros, "rec_weight_init_fn": zeros})
    shapes = {name: value.shape for name, value in weights.items()}
    (folder / f"{model_type}-settings.json").write_text(json.dumps({"settings": settings, "shapes": shapes}))


if __name__ == "__main__":
    PARTS = {
        "numbers": write_numbers,
        "searches": write_searches,
        "training": write_training,
        "initial": write_initial_weights,
        "settings": write_settings,
    }
    PARTS[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))
    # GroundHog's iterator would wait for its thread, which never ends
    sys.stdout.flush()
    os._exit(0)
