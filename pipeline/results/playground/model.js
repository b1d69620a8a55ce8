// RNNencdec and RNNsearch (Bahdanau et al., 2015, Sec. 2, 3 and App. A) for one sentence, and beam search as in
// nmt/decoding/beam_search.py. Vectors are rows, a weight is (inputs, outputs); N hidden units, S source length.

const END_ID = 0;
const UNKNOWN_ID = 1;

/** A number of 16 bits (IEEE 754 binary16) as a float. */
function float16(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : fraction * 2 ** -24);
}

/** Tensors by name, from their names, shapes and scales, in the order in which their numbers stand in `bytes`: of those
 * without a scale the lower bytes, then the upper ones; then the whole numbers of 8 bits of those that have one. */
function readTensors(entries, bytes, start) {
  const floats = Float32Array.from({ length: 65536 }, (_, bits) => float16(bits));
  const count = (shape) => shape.reduce((product, size) => product * size, 1);
  const floatCount = entries.reduce((sum, [, shape, scale]) => sum + (scale ? 0 : count(shape)), 0);
  let [floatIndex, integerIndex] = [start, start + 2 * floatCount];
  const tensors = {};
  for (const [name, shape, scale] of entries) {
    const data = new Float32Array(count(shape));
    if (scale) {
      for (let i = 0; i < data.length; i += 1, integerIndex += 1) data[i] = scale * ((bytes[integerIndex] << 24) >> 24);  // sign
    } else {
      for (let i = 0; i < data.length; i += 1, floatIndex += 1) data[i] = floats[bytes[floatIndex] | (bytes[floatIndex + floatCount] << 8)];
    }
    tensors[name] = { data, inputs: shape.length > 1 ? shape[0] : 1, outputs: shape.at(-1) };
  }
  return [tensors, integerIndex];
}

/** Matrices with as many rows, side by side. */
function joinColumns(...matrices) {
  const outputs = matrices.reduce((sum, matrix) => sum + matrix.outputs, 0);
  const { inputs } = matrices[0];
  const data = new Float32Array(inputs * outputs);
  let column = 0;
  for (const matrix of matrices) {
    for (let i = 0; i < inputs; i += 1) {
      data.set(matrix.data.subarray(i * matrix.outputs, (i + 1) * matrix.outputs), i * outputs + column);
    }
    column += matrix.outputs;
  }
  return { data, inputs, outputs };
}

/** `out` += x W. Four rows at a time: each number of `out` is read and written a quarter as often. */
function addProduct(out, x, { data, inputs, outputs }) {
  let i = 0;
  for (; i + 3 < inputs; i += 4) {
    const [a, b, c, d] = [x[i], x[i + 1], x[i + 2], x[i + 3]];
    const [p, q, r, s] = [i * outputs, (i + 1) * outputs, (i + 2) * outputs, (i + 3) * outputs];
    for (let j = 0; j < outputs; j += 1) {
      out[j] += a * data[p + j] + b * data[q + j] + c * data[r + j] + d * data[s + j];
    }
  }
  for (; i < inputs; i += 1) {
    const row = i * outputs;
    for (let j = 0; j < outputs; j += 1) out[j] += x[i] * data[row + j];
  }
  return out;
}

const product = (x, weight) => addProduct(new Float64Array(weight.outputs), x, weight);
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

function softmax(values) {
  const maximum = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - maximum));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** A GRU cell (App. A.1.1): the reset gate acts before the matrix product. */
class GRUCell {
  constructor(tensors, name) {
    const get = (part) => tensors[`${name}.${part}`];
    this.fromWord = joinColumns(get("W_z"), get("W_r"), get("W"));
    this.toGates = joinColumns(get("U_z"), get("U_r"));
    this.toCandidate = get("U");
    this.hidden = this.toCandidate.outputs;
    this.fromContext = get("C") && joinColumns(get("C_z"), get("C_r"), get("C"));
    this.bias = new Float64Array(3 * this.hidden);
    ["b_z", "b_r", "b"].forEach((part, index) => {
      if (get(part)) this.bias.set(get(part).data, index * this.hidden);
    });
  }

  /** h_i from h_{i-1}, E x_i and, in the decoder, the context's share of the three pre-activations. */
  step(state, embedded, share = null) {
    const n = this.hidden;
    const inputs = addProduct(Float64Array.from(this.bias), embedded, this.fromWord);
    if (share) for (let j = 0; j < 3 * n; j += 1) inputs[j] += share[j];
    const gates = product(state, this.toGates);
    const reset = new Float64Array(n);
    for (let j = 0; j < n; j += 1) reset[j] = sigmoid(inputs[n + j] + gates[n + j]) * state[j];
    const candidate = product(reset, this.toCandidate);
    const next = new Float64Array(n);
    for (let j = 0; j < n; j += 1) {
      next[j] = state[j] + sigmoid(inputs[j] + gates[j]) * (Math.tanh(candidate[j] + inputs[2 * n + j]) - state[j]);
    }
    return next;
  }
}

class Network {
  constructor(model, bytes, start) {
    const [tensors, end] = readTensors(model.tensors, bytes, start);
    Object.assign(this, { tensors, end, architecture: model.architecture, aligns: model.aligns });
    this.forwards = new GRUCell(tensors, "encoder.forwards");
    this.backwards = this.aligns ? new GRUCell(tensors, "encoder.backwards") : null;
    this.unit = new GRUCell(tensors, "decoder.unit");
    this.contextShares = joinColumns(this.unit.fromContext, tensors["readout.C_o"]);
    this.words = model.targetWords;
  }

  embed(side, id) {
    const { data, outputs } = this.tensors[`${side}_embedding.E`];
    const bias = this.tensors[`${side}_embedding.b`]?.data;
    return Float64Array.from({ length: outputs }, (_, j) => data[id * outputs + j] + (bias ? bias[j] : 0));
  }

  /** What the decoder reads of a source: shares of the annotations in all that uses a context, keys U_a h_j, and s_0. */
  encode(words) {
    const ids = this.architecture.source_eos ? [...words, END_ID] : words;
    const embedded = ids.map((id) => this.embed("source", id));
    const read = (unit, inputs) => {
      let state = new Float64Array(unit.hidden);
      return inputs.map((input) => { state = unit.step(state, input); return state; });
    };
    const forwards = read(this.forwards, embedded);
    if (!this.aligns) {
      const vector = forwards.at(-1);
      return { vector, shares: [product(vector, this.contextShares)], start: this.start(vector) };
    }
    const backwards = read(this.backwards, embedded.toReversed()).toReversed();
    const annotations = forwards.map((state, j) => Float64Array.of(...state, ...backwards[j]));
    const keys = annotations.map((annotation) => this.addBias(product(annotation, this.tensors["decoder.alignment.U_a"]), "decoder.alignment.b_a"));
    const shares = annotations.map((annotation) => product(annotation, this.contextShares));
    return { shares, keys, start: this.start(backwards[0]) };
  }

  addBias(values, name) {
    const bias = this.tensors[name]?.data;
    return bias ? values.map((value, j) => value + bias[j]) : values;
  }

  /** s_0 = tanh(W_s summary + b_s). */
  start(summary) {
    const weight = this.tensors["decoder.W_s"];
    return weight ? this.addBias(product(summary, weight), "decoder.b_s").map(Math.tanh) : new Float64Array(summary.length);
  }

  /** Eqs. 5 and 6: weights alpha_i of the source words, and the context's share of whatever uses it. */
  attend(state, encoded) {
    if (!this.aligns) return [null, encoded.shares[0]];
    const query = product(state, this.tensors["decoder.alignment.W_a"]);
    const v = this.tensors["decoder.alignment.v_a"].data;
    const weights = softmax(encoded.keys.map((key) => {
      let energy = 0;
      for (let j = 0; j < v.length; j += 1) energy += v[j] * Math.tanh(query[j] + key[j]);
      return energy;
    }));
    const share = new Float64Array(encoded.shares[0].length);
    encoded.shares.forEach((wordShare, j) => { for (let k = 0; k < share.length; k += 1) share[k] += weights[j] * wordShare[k]; });
    return [weights, share];
  }

  /** Log-probabilities of the next words of a hypothesis; it keeps what `extend` needs. */
  predict(hypothesis, encoded) {
    const order = this.architecture.step_order;
    const [weights, share] = this.attend(hypothesis.state, encoded);
    Object.assign(hypothesis, { weights, share });
    if (order !== "groundhog") hypothesis.next = this.unit.step(hypothesis.state, hypothesis.previous, share);
    const state = order === "section3" ? hypothesis.next : hypothesis.state;
    return this.readout(state, hypothesis.previous, share.subarray(3 * this.unit.hidden));
  }

  /** The deep output with its maxout layer (App. A.2.2). */
  readout(state, previous, share) {
    const inner = addProduct(product(state, this.tensors["readout.U_o"]), previous, this.tensors["readout.V_o"]);
    const bias = this.tensors["readout.b_t"].data;
    for (let j = 0; j < inner.length; j += 1) inner[j] += bias[j] + share[j];
    let hidden = Float64Array.from({ length: inner.length / 2 }, (_, k) => Math.max(inner[2 * k], inner[2 * k + 1]));
    if (this.tensors["readout.W_m"]) hidden = product(hidden, this.tensors["readout.W_m"]);
    const logits = addProduct(Float64Array.from(this.tensors["readout.b_o"].data), hidden, this.tensors["readout.W_o"]);
    let maximum = -Infinity;
    for (const logit of logits) if (logit > maximum) maximum = logit;
    let sum = 0;
    for (const logit of logits) sum += Math.exp(logit - maximum);
    const normalizer = maximum + Math.log(sum);
    return logits.subarray(0, this.words).map((logit) => logit - normalizer);
  }

  /** State and last word of a hypothesis with one word more. */
  extend(parent, word) {
    const previous = this.embed("target", word);
    const state = this.architecture.step_order === "groundhog" ? this.unit.step(parent.state, previous, parent.share) : parent.next;
    return { state, previous };
  }
}

// --- beam search -----------------------------------------------------------------------------------------------------

/** The words of a hypothesis and the attention weights of each, from the first on. */
function trace(hypothesis) {
  const [words, weights] = [[], []];
  for (let node = hypothesis; node.parent; node = node.parent) {
    words.unshift(node.word);
    weights.unshift(node.parent.weights);
  }
  return { words, weights };
}

/** The best continuations: by total, then the index of the parent, then the likelier word, then the lower id. */
function bestContinuations(hypotheses, predictions, width) {
  const continuations = [];
  predictions.forEach((values, parent) => {
    values.forEach((value, word) => {
      const total = Math.fround(hypotheses[parent].total + Math.fround(value));
      if (total === -Infinity || (continuations.length === width && total <= continuations[width - 1].total)) return;
      let rank = continuations.length;
      while (rank && (continuations[rank - 1].total < total
        || (continuations[rank - 1].total === total && continuations[rank - 1].parent === parent && continuations[rank - 1].value < value))) rank -= 1;
      continuations.splice(rank, 0, { total, parent, word, value });
      if (continuations.length > width) continuations.pop();
    });
  });
  return continuations;
}

/** One search with a beam of `width`; yields the best hypothesis after each word, returns the translation. */
function* searchOnce(network, encoded, sourceWords, decoding, width, forbidUnknown) {
  const minLength = decoding.min_length === "half" ? (sourceWords + 1) >> 1 : 0;
  const maxLength = decoding.max_length_factor * (sourceWords + 1);
  const size = network.tensors["target_embedding.E"].outputs;
  let active = [{ parent: null, word: null, total: 0, state: encoded.start, previous: new Float64Array(size) }];
  let freeSlots = width;
  let finished = null;
  const score = ({ total }, length) => (decoding.normalize_by_length ? total / length : total);
  for (let number = 0; number < maxLength; number += 1) {
    const predictions = active.map((hypothesis) => {
      const values = network.predict(hypothesis, encoded);
      if (number < minLength) values[END_ID] = -Infinity;
      if (forbidUnknown) values[UNKNOWN_ID] = -Infinity;
      return values;
    });
    const chosen = bestContinuations(active, predictions, width).slice(0, freeSlots)
      .map(({ total, parent, word }) => ({ parent: active[parent], word, total }));
    for (const hypothesis of chosen.filter(({ word }) => word === END_ID)) {
      freeSlots -= 1;
      const hypothesisScore = score(hypothesis, number + 1);
      if (!finished || hypothesisScore > finished.score) finished = { hypothesis, score: hypothesisScore };
    }
    active = chosen.filter(({ word }) => word !== END_ID);
    if (number + 1 < maxLength) active.forEach((hypothesis) => Object.assign(hypothesis, network.extend(hypothesis.parent, hypothesis.word)));
    // no continuation can become better than the best finished hypothesis
    const isCertain = !decoding.normalize_by_length && finished && (!active.length || finished.hypothesis.total >= active[0].total);
    const isFinishedBest = finished && (isCertain || !active.length || finished.score >= score(active[0], number + 1));
    yield { ...trace(isFinishedBest ? finished.hypothesis : active[0]), width };
    if (!active.length || isCertain) break;
  }
  const hypothesis = finished?.hypothesis ?? active[0];
  if (!hypothesis) throw new Error("no word has a probability");
  return { ...trace(hypothesis), total: hypothesis.total, finished: finished !== null, width };
}

/** Translate ids; where nothing finishes, search again as `nmt translate` does. */
function* translateIds(network, ids, decoding, beam, forbidUnknown) {
  const encoded = network.encode(ids);
  let width = beam;
  let budget = beam * (decoding.widening_budget ?? Infinity);
  let translation = yield* searchOnce(network, encoded, ids.length, decoding, width, forbidUnknown);
  while (!translation.finished && decoding.if_no_eos !== "best" && width < decoding.max_beam && 2 * width <= budget) {
    width *= 2;
    budget -= width;
    translation = yield* searchOnce(network, encoded, ids.length, decoding, width, forbidUnknown);
  }
  return { ...translation, vector: encoded.vector };
}
