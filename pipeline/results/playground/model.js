// RNNencdec and RNNsearch (Bahdanau et al., 2015, Sec. 2, 3 and App. A) for one sentence, and beam search as in
// nmt/decoding/beam_search.py. Vectors are rows, a weight is (inputs, outputs); N hidden units, S source length.

const END_ID = 0;
const UNKNOWN_ID = 1;

/** A number of 16 bits (IEEE 754 binary16) as a float. */
function half(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : fraction * 2 ** -24);
}

/** Tensors by name, from their names, shapes and scales, in the order in which their numbers stand in `bytes`: of those
 * without a scale the lower bytes, then the upper ones; then the whole numbers of 8 bits of those that have one. */
function readTensors(entries, bytes, start) {
  const numbers = Float32Array.from({ length: 65536 }, (_, bits) => half(bits));
  const count = (shape) => shape.reduce((product, size) => product * size, 1);
  const all = entries.reduce((sum, [, shape, scale]) => sum + (scale ? 0 : count(shape)), 0);
  let [place, whole] = [start, start + 2 * all];
  const tensors = {};
  for (const [name, shape, scale] of entries) {
    const data = new Float32Array(count(shape));
    if (scale) {
      for (let i = 0; i < data.length; i += 1, whole += 1) data[i] = scale * ((bytes[whole] << 24) >> 24);
    } else {
      for (let i = 0; i < data.length; i += 1, place += 1) data[i] = numbers[bytes[place] | (bytes[place + all] << 8)];
    }
    tensors[name] = { data, inputs: shape.length > 1 ? shape[0] : 1, outputs: shape.at(-1) };
  }
  return [tensors, whole];
}

/** Matrices with as many rows, side by side. */
function beside(...parts) {
  const outputs = parts.reduce((sum, part) => sum + part.outputs, 0);
  const { inputs } = parts[0];
  const data = new Float32Array(inputs * outputs);
  let left = 0;
  for (const part of parts) {
    for (let i = 0; i < inputs; i += 1) {
      data.set(part.data.subarray(i * part.outputs, (i + 1) * part.outputs), i * outputs + left);
    }
    left += part.outputs;
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
  const most = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** A gated hidden unit (App. A.1.1): the reset gate acts before the matrix product. */
class GatedUnit {
  constructor(tensors, name) {
    const get = (part) => tensors[`${name}.${part}`];
    this.fromWord = beside(get("W_z"), get("W_r"), get("W"));
    this.toGates = beside(get("U_z"), get("U_r"));
    this.toCandidate = get("U");
    this.hidden = this.toCandidate.outputs;
    this.fromContext = get("C") && beside(get("C_z"), get("C_r"), get("C"));
    this.bias = new Float64Array(3 * this.hidden);
    ["b_z", "b_r", "b"].forEach((part, index) => {
      if (get(part)) this.bias.set(get(part).data, index * this.hidden);
    });
  }

  /** h_i from h_{i-1}, E x_i and, in the decoder, the context's share of the three pre-activations. */
  step(state, embedded, share = null) {
    const n = this.hidden;
    const given = addProduct(Float64Array.from(this.bias), embedded, this.fromWord);
    if (share) for (let j = 0; j < 3 * n; j += 1) given[j] += share[j];
    const gates = product(state, this.toGates);
    const reset = new Float64Array(n);
    for (let j = 0; j < n; j += 1) reset[j] = sigmoid(given[n + j] + gates[n + j]) * state[j];
    const candidate = product(reset, this.toCandidate);
    const next = new Float64Array(n);
    for (let j = 0; j < n; j += 1) {
      next[j] = state[j] + sigmoid(given[j] + gates[j]) * (Math.tanh(candidate[j] + given[2 * n + j]) - state[j]);
    }
    return next;
  }
}

class Network {
  constructor(model, bytes, start) {
    const [tensors, end] = readTensors(model.tensors, bytes, start);
    Object.assign(this, { tensors, end, architecture: model.architecture, aligns: model.aligns });
    this.forwards = new GatedUnit(tensors, "encoder.forwards");
    this.backwards = this.aligns ? new GatedUnit(tensors, "encoder.backwards") : null;
    this.unit = new GatedUnit(tensors, "decoder.unit");
    this.contextShares = beside(this.unit.fromContext, tensors["readout.C_o"]);
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
    const keys = annotations.map((one) => this.biased(product(one, this.tensors["decoder.alignment.U_a"]), "decoder.alignment.b_a"));
    const shares = annotations.map((one) => product(one, this.contextShares));
    return { shares, keys, start: this.start(backwards[0]) };
  }

  biased(values, name) {
    const bias = this.tensors[name]?.data;
    return bias ? values.map((value, j) => value + bias[j]) : values;
  }

  /** s_0 = tanh(W_s summary + b_s). */
  start(summary) {
    const weight = this.tensors["decoder.W_s"];
    return weight ? this.biased(product(summary, weight), "decoder.b_s").map(Math.tanh) : new Float64Array(summary.length);
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
    encoded.shares.forEach((one, j) => { for (let k = 0; k < share.length; k += 1) share[k] += weights[j] * one[k]; });
    return [weights, share];
  }

  /** Log-probabilities of the words behind a hypothesis; it keeps what `extend` needs. */
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
    let most = -Infinity;
    for (const logit of logits) if (logit > most) most = logit;
    let sum = 0;
    for (const logit of logits) sum += Math.exp(logit - most);
    const normal = most + Math.log(sum);
    return logits.subarray(0, this.words).map((logit) => logit - normal);
  }

  /** State and last word of a hypothesis with one word more. */
  extend(parent, word) {
    const previous = this.embed("target", word);
    const state = this.architecture.step_order === "groundhog" ? this.unit.step(parent.state, previous, parent.share) : parent.next;
    return { state, previous };
  }
}

// --- beam search -----------------------------------------------------------------------------------------------------

/** The words of a hypothesis and the weights behind each, from the first on. */
function trace(last) {
  const [words, weights] = [[], []];
  for (let one = last; one.parent; one = one.parent) {
    words.unshift(one.word);
    weights.unshift(one.parent.weights);
  }
  return { words, weights };
}

/** The best continuations: by total, then the parent's place, then the likelier word, then the lower id. */
function best(hypotheses, predictions, width) {
  const found = [];
  predictions.forEach((values, place) => {
    values.forEach((value, word) => {
      const total = Math.fround(hypotheses[place].total + Math.fround(value));
      if (total === -Infinity || (found.length === width && total <= found[width - 1].total)) return;
      let at = found.length;
      while (at && (found[at - 1].total < total
        || (found[at - 1].total === total && found[at - 1].place === place && found[at - 1].value < value))) at -= 1;
      found.splice(at, 0, { total, place, word, value });
      if (found.length > width) found.pop();
    });
  });
  return found;
}

/** One search with a beam of `width`; yields the best hypothesis after each word, returns the translation. */
function* searchOnce(network, encoded, sourceWords, decoding, width, forbidUnknown) {
  const least = decoding.min_length === "half" ? (sourceWords + 1) >> 1 : 0;
  const most = decoding.max_length_factor * (sourceWords + 1);
  const size = network.tensors["target_embedding.E"].outputs;
  let alive = [{ parent: null, word: null, total: 0, state: encoded.start, previous: new Float64Array(size) }];
  let room = width;
  let ended = null;
  const score = (one, length) => (decoding.normalize_by_length ? one.total / length : one.total);
  for (let number = 0; number < most; number += 1) {
    const predictions = alive.map((hypothesis) => {
      const values = network.predict(hypothesis, encoded);
      if (number < least) values[END_ID] = -Infinity;
      if (forbidUnknown) values[UNKNOWN_ID] = -Infinity;
      return values;
    });
    const chosen = best(alive, predictions, width).slice(0, room)
      .map(({ total, place, word }) => ({ parent: alive[place], word, total }));
    for (const one of chosen.filter(({ word }) => word === END_ID)) {
      room -= 1;
      if (!ended || score(one, number + 1) > ended.score) ended = { last: one, score: score(one, number + 1) };
    }
    alive = chosen.filter(({ word }) => word !== END_ID);
    if (number + 1 < most) alive.forEach((one) => Object.assign(one, network.extend(one.parent, one.word)));
    const certain = !decoding.normalize_by_length && ended && (!alive.length || ended.last.total >= alive[0].total);
    const shown = ended && (certain || !alive.length || ended.score >= score(alive[0], number + 1)) ? ended.last : alive[0];
    yield { ...trace(shown), width };
    if (!alive.length || certain) break;
  }
  const last = ended?.last ?? alive[0];
  if (!last) throw new Error("no word has a probability");
  return { ...trace(last), total: last.total, finished: ended !== null, width };
}

/** Translate ids; where nothing finishes, search again as `nmt translate` does. */
function* translateIds(network, ids, decoding, beam, forbidUnknown) {
  const encoded = network.encode(ids);
  let width = beam;
  let left = beam * (decoding.widening_budget ?? Infinity);
  let found = yield* searchOnce(network, encoded, ids.length, decoding, width, forbidUnknown);
  while (!found.finished && decoding.if_no_eos !== "best" && width < decoding.max_beam && 2 * width <= left) {
    width *= 2;
    left -= width;
    found = yield* searchOnce(network, encoded, ids.length, decoding, width, forbidUnknown);
  }
  return { ...found, vector: encoded.vector };
}
