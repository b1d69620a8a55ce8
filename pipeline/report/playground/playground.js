// What is typed, translated by the models side by side.

const STEP = 70;           // milliseconds a word is shown before the next, word by word
const REST = 700;          // between a translation and the next longer sentence
const TYPING = 500;        // after the last key before the translation starts
const BUSY = 40;           // of computing before the browser may draw
const MOST_WORDS = 100;    // `nmt translate` takes longer lines in pieces
const SHOWN_WORDS = 300;   // of the vocabulary at once
const ALIKE = 5;           // known words offered for an unknown one
const BEYOND = 1.2;        // "Longer and longer" ends at this multiple of the longest sentences in training
const VECTOR_COLUMNS = 64;

const wait = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
const same = (one, other) => one.length === other.length && one.every((word, index) => word === other[index]);

/** n-grams of a translation that its reference has too, at most as often. */
function matches(words, reference) {
  return NGRAMS.map((n) => {
    const left = new Map();
    const grams = (list) => list.slice(n).map((_, at) => list.slice(at, at + n + 1).join(" "));
    for (const gram of grams(reference)) left.set(gram, (left.get(gram) ?? 0) + 1);
    return grams(words).filter((gram) => {
      const free = left.get(gram) ?? 0;
      left.set(gram, free - 1);
      return free > 0;
    }).length;
  });
}

const bleuOf = (words, reference) => sentenceBleu(bleuCounts(matches(words, reference), words.length, reference.length));

/** Letters to insert, delete or replace to make one word of the other. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1);
}

// --- the models --------------------------------------------------------------------------------------------------------

/** Models, words and rules of the page; `translate` is what the page and its tests call. */
class Translator {
  constructor(data) {
    this.decoding = data.decoding;
    this.models = data.models;
    let start = 0;
    this.networks = data.models.map((model) => {
      const network = new Network(model, data.weights, start);
      start = network.end;
      return network;
    });
    this.vocabulary = data.vocabulary;
    this.ids = new Map(data.vocabulary.source.map((word, index) => [word, index + 2]));
    this.targets = new Set(data.vocabulary.target);
    const { languages, tokenization, rules } = data;
    this.tokenizer = new Tokenizer(languages.source, tokenization, rules.prefixes, rules.classes);
    this.sourceText = new Detokenizer(languages.source, tokenization, rules.classes);
    this.targetText = new Detokenizer(languages.target, tokenization, rules.classes);
  }

  word(id) { return id === END_ID ? "</s>" : id === UNKNOWN_ID ? UNKNOWN : this.vocabulary.target[id - 2]; }

  /** Steps of a translation, each with words and weights so far; the last is the translation, as `next().value`. */
  * steps(model, tokens, beam, forbidUnknown) {
    const ids = tokens.map((token) => this.ids.get(token) ?? UNKNOWN_ID);
    const search = translateIds(this.networks[model], ids, this.decoding, beam, forbidUnknown);
    for (let step = search.next(); ; step = search.next()) {
      const { words, weights, ...rest } = step.value;
      const ended = words.at(-1) === END_ID;
      const found = { ...rest, words: (ended ? words.slice(0, -1) : words).map((id) => this.word(id)), weights, ended };
      if (step.done) return found;
      yield found;
    }
  }

  /** A line's translation at once: text, tokens, log-probability. */
  translate(model, line, beam = this.decoding.beam, forbidUnknown = this.decoding.unknown === "excluded") {
    const tokens = this.tokenizer.tokens(line);
    if (!tokens.length) return { text: "", tokens, words: [], total: 0 };
    const steps = this.steps(model, tokens, beam, forbidUnknown);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return { text: this.targetText.text(step.value.words), tokens, ...step.value };
  }
}

// --- a model's card ------------------------------------------------------------------------------------------------------

class ModelCard extends AttentionCard {
  constructor(model) {
    super();
    this.label = model.label;
    this.aligns = model.aligns;
    this.node = make("article", { className: "card" });
    this.node.setAttribute("aria-label", model.label);
  }

  say(text) { element("said").textContent = text; }

  leave() { element("source").focus(); }

  weight(row, column) { return this.weights[row][column]; }

  /** Draw what is known of a translation. */
  show(source, found, text, reference, facts) {
    const { words, weights, ended } = found;
    this.weights = weights;
    this.rows = words.length + (ended ? 1 : 0);
    this.columns = weights[0]?.length ?? 0;
    const shown = (list, end) => [...list.map((token) => word(unescaped(token))), ...(end ? [word(END, true)] : [])];
    this.setWords(shown(source, this.columns > source.length), shown(words, ended));
    if (reference) this.markOthers(words, reference);
    const top = make("div", { className: "top" }, make("h2", { textContent: this.label }),
      make("span", { className: "facts", textContent: facts.join(" · ") }));
    this.node.replaceChildren(top, make("p", { className: "text", textContent: text }),
      make("span", { className: "kind", textContent: reference ? "Words (dotted: not in the reference)" : "Words" }), this.targetLine);
    if (this.aligns && this.rows) {
      this.node.append(make("span", { className: "kind", textContent: "Source" }), this.sourceLine);
      this.makeExplorable(this.node);
      this.drawMatrix();
    }
    if (found.vector) this.drawVector(found.vector);
  }

  /** Words that the reference does not have, or not so often. */
  markOthers(words, reference) {
    const left = new Map();
    reference.forEach((one) => left.set(one, (left.get(one) ?? 0) + 1));
    words.forEach((one, index) => {
      if (left.get(one)) left.set(one, left.get(one) - 1);
      else this.targetWords[index].classList.add("other");
    });
  }

  /** The source as a model without attention has it. */
  drawVector(vector) {
    const canvas = make("canvas", { className: "vector", width: VECTOR_COLUMNS, height: Math.ceil(vector.length / VECTOR_COLUMNS) });
    canvas.setAttribute("aria-hidden", "true");
    const style = getComputedStyle(document.documentElement);
    const context = canvas.getContext("2d");
    vector.forEach((value, index) => {
      context.globalAlpha = Math.min(1, Math.abs(value));
      context.fillStyle = style.getPropertyValue(value > 0 ? "--attend" : "--reverse").trim();
      context.fillRect(index % VECTOR_COLUMNS, Math.floor(index / VECTOR_COLUMNS), 1, 1);
    });
    canvas.style.height = `${canvas.height * 12}px`;
    const told = `No attention: these ${grouped(vector.length)} numbers are all that the decoder receives of the sentence, however long.`;
    this.node.append(make("p", { className: "plain", textContent: told }), canvas);
  }
}

// --- the page ----------------------------------------------------------------------------------------------------------------

class Playground {
  constructor(data, translator) {
    this.translator = translator;
    this.clauses = data.clauses.map((sides) => sides.map(split));
    this.and = [data.and.source, data.and.target];
    this.known = [new Set(data.vocabulary.source), new Set(data.vocabulary.target)];
    this.next = 0;          // clause that is added next
    this.built = null;      // tokens and reference of a sentence made of clauses
    this.run = 0;           // counts translations: a later one ends those before
    this.tried = [];        // words and BLEU of each model, of sentences with a reference
    this.cards = data.models.map((model) => new ModelCard(model));
    this.most = Math.round(BEYOND * Math.max(...data.models.map((model) => model.max_words)));
    element("cards").replaceChildren(...this.cards.map((card) => card.node));
    this.fill(data);
    this.listen();
    this.another();
  }

  fill(data) {
    const name = (code) => new Intl.DisplayNames(["en"], { type: "language" }).of(code);
    element("language").textContent = name(data.languages.source);
    element("source").lang = data.languages.source;
    element("cards").lang = data.languages.target;
    element("beam").max = Math.max(20, data.decoding.beam);
    element("beam").value = data.decoding.beam;
    element("width").textContent = data.decoding.beam;
    element("allowed").checked = data.decoding.unknown !== "excluded";
    element("slowly").checked = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const none = !this.clauses.length;
    for (const id of ["another", "clause", "longer"]) element(id).disabled = none;
    this.showWords();
  }

  listen() {
    const again = () => { this.stop(); this.read(); clearTimeout(this.timer); this.timer = setTimeout(() => this.translate(), TYPING); };
    element("source").addEventListener("input", again);
    element("source").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      this.stop();
      this.translate();
    });
    element("form").addEventListener("submit", (event) => { event.preventDefault(); this.stop(); this.translate(); });
    element("beam").addEventListener("input", () => { element("width").textContent = element("beam").value; again(); });
    element("allowed").addEventListener("change", again);
    element("another").addEventListener("click", () => { this.stop(); this.another(); });
    element("clause").addEventListener("click", () => { this.stop(); this.addClause(); this.translate(); });
    element("longer").addEventListener("click", () => (this.growing ? this.stop() : this.grow()));
    element("search").addEventListener("input", () => this.showWords());
    element("theme").addEventListener("click", () => nextTheme(() => this.redraw()));
    addEventListener("resize", () => this.cards.forEach((card) => card.canvas && card.drawMatrix()));
  }

  redraw() { this.cards.forEach((card) => card.last && card.show(...card.last)); }

  // The sentence --------------------------------------------------------------------------------------------------------------

  get tokens() { return this.translator.tokenizer.tokens(element("source").value); }

  /** A sentence of the test set, at least six words long where there is one. */
  another() {
    this.tried = [];
    const long = this.clauses.findIndex(([source], index) => index >= this.next && source.length > 6);
    const clause = this.clauses[long < 0 ? 0 : long] ?? [[], []];
    this.next = (long < 0 ? 0 : long) + 1;
    this.set(clause);
    this.translate();
  }

  set([source, reference]) {
    this.built = reference && { source, reference };
    element("source").value = this.translator.sourceText.text(source);
    this.read();
  }

  /** The sentence and one clause more, joined by a comma and the language's "and". */
  addClause() {
    const clause = this.clauses[this.next % this.clauses.length];
    this.next += 1;
    const now = [this.tokens, this.reference(this.tokens)];
    this.set(now.map((tokens, side) => tokens && this.joined(tokens, clause[side], side)));
  }

  joined(tokens, clause, side) {
    const before = [".", "!", "?", ","].includes(tokens.at(-1)) ? tokens.slice(0, -1) : tokens;
    if (!before.length) return clause;
    const small = clause[0].charAt(0).toLowerCase() + clause[0].slice(1);
    const first = this.known[side].has(small) ? small : clause[0];
    return [...before, ",", ...(this.and[side] ? [this.and[side]] : []), first, ...clause.slice(1)];
  }

  reference(tokens) { return this.built && same(this.built.source, tokens) ? this.built.reference : null; }

  async grow() {
    const own = {};
    this.growing = own;
    element("longer").setAttribute("aria-pressed", "true");
    element("longer").textContent = "Stop";
    if (!this.tried.length) await this.translate();
    while (this.growing === own && this.tokens.length < this.most) {
      this.addClause();
      await this.translate();
      await wait(REST);
    }
    if (this.growing === own) this.stop();
  }

  stop() {
    this.growing = null;
    element("longer").setAttribute("aria-pressed", "false");
    element("longer").textContent = "Longer and longer";
  }

  // What the models read of it ------------------------------------------------------------------------------------------------

  read() {
    const { tokens } = this;
    const unknown = tokens.filter((token) => !this.known[0].has(token));
    element("read").replaceChildren(...tokens.flatMap((token) => {
      const node = word(unescaped(token));
      if (!this.known[0].has(token)) {
        node.classList.add("unknown");
        node.title = "unknown: the models read [UNK]";
        node.append(make("span", { className: "unseen", textContent: " (unknown)" }));
      }
      return [node, " "];
    }));
    element("similar").replaceChildren(...[...new Set(unknown)].slice(0, 3).map((token) => this.alike(token)));
    const told = unknown.length ? `, ${unknown.length} unknown: the models read ${UNKNOWN}` : "";
    const most = tokens.length > MOST_WORDS ? `; this page translates the first ${MOST_WORDS}` : "";
    element("count").textContent = `${plural(tokens.length, "word")} with punctuation${told}${most}.`;
  }

  alike(token) {
    const near = this.translator.vocabulary.source.map((known) => [distance(token.toLowerCase(), known.toLowerCase()), known])
      .sort((a, b) => a[0] - b[0]).slice(0, ALIKE);
    const item = make("li", { textContent: `${unescaped(token)}: similar known words: ` });
    item.append(...near.map(([, known]) => this.button(known, () => {
      const { tokens } = this;
      tokens[tokens.indexOf(token)] = known;
      this.set([tokens, null]);
      this.translate();
    })));
    return item;
  }

  button(token, action) {
    const node = make("button", { type: "button", textContent: unescaped(token), lang: element("source").lang });
    node.addEventListener("click", action);
    return node;
  }

  showWords() {
    const wanted = element("search").value.toLowerCase();
    const found = this.translator.vocabulary.source.filter((known) => unescaped(known).toLowerCase().includes(wanted));
    const more = found.length > SHOWN_WORDS ? [`and ${grouped(found.length - SHOWN_WORDS)} more`] : [];
    element("words").replaceChildren(...found.slice(0, SHOWN_WORDS).map((known) => this.button(known, () => this.insert(known))), ...more);
  }

  insert(token) {
    const area = element("source");
    const before = area.value.slice(0, area.selectionStart).trimEnd();
    const after = area.value.slice(area.selectionEnd).trimStart();
    area.value = [before, unescaped(token), after].filter(Boolean).join(" ");
    area.selectionStart = before.length + unescaped(token).length + (before ? 1 : 0);
    area.selectionEnd = area.selectionStart;
    area.dispatchEvent(new Event("input"));
  }

  // Translation -----------------------------------------------------------------------------------------------------------------

  async translate() {
    clearTimeout(this.timer);
    this.run += 1;
    const { run } = this;
    this.read();
    const tokens = this.tokens.slice(0, MOST_WORDS);
    document.body.dataset.busy = "true";
    if (tokens.length) await this.race(run, tokens);
    else this.cards.forEach((card) => card.show([], { words: [], weights: [], ended: false }, "", null, []));
    if (this.run === run) document.body.dataset.busy = "false";
  }

  /** All models write their next word in turn until each has ended, or another translation has begun. */
  async race(run, tokens) {
    const reference = this.reference(tokens);
    element("reference").hidden = !reference;
    element("reference").querySelector(".sentence").textContent = reference ? this.translator.targetText.text(reference) : "";
    const [beam, forbidden, slowly] = [Number(element("beam").value), !element("allowed").checked, element("slowly").checked];
    const going = this.cards.map((card, model) => ({ card, steps: this.translator.steps(model, tokens, beam, forbidden), result: null }));
    let since = performance.now();
    while (going.some(({ result }) => !result)) {
      for (const one of going.filter(({ result }) => !result)) {
        const step = one.steps.next();
        if (step.done) one.result = step.value;
        if (slowly || step.done) this.draw(one.card, tokens, step.value, reference, step.done);
        if (performance.now() - since > BUSY) { await wait(0); since = performance.now(); }
        if (this.run !== run) return;
      }
      if (slowly) { await wait(STEP); since = performance.now(); }
      if (this.run !== run) return;
    }
    this.finish(going, tokens, reference);
  }

  draw(card, tokens, found, reference, done) {
    const facts = [plural(found.words.length, "word")];
    if (done) {
      facts.unshift(`log-probability ${format(found.total, 2)}`);
      if (reference) facts.unshift(`BLEU ${format(bleuOf(found.words, reference))}`);
      if (!found.finished) facts.push("not finished");
    }
    if (found.width > Number(element("beam").value)) facts.push(`beam ${found.width}`);
    card.last = [tokens, found, this.translator.targetText.text(found.words), done ? reference : null, facts];
    card.show(...card.last);
  }

  finish(going, tokens, reference) {
    element("said").textContent = going.map(({ card, result }) => `${card.label}: ${this.translator.targetText.text(result.words)}`).join(" ");
    if (reference) {
      this.tried = this.tried.filter(({ words }) => words !== tokens.length);
      this.tried.push({ words: tokens.length, bleu: going.map(({ result }) => bleuOf(result.words, reference)) });
      this.tried.sort((a, b) => a.words - b.words);
    }
    this.drawCurve();
  }

  // BLEU against length, as tried -----------------------------------------------------------------------------------------------

  drawCurve() {
    element("curve").hidden = this.tried.length < 2;
    const [width, height, left, below] = [640, 220, 40, 34];
    const longest = Math.max(this.most, ...this.tried.map(({ words }) => words)) + 2;
    const x = (words) => left + ((width - left - 10) * words) / longest;
    const y = (bleu) => 8 + ((height - below - 8) * (100 - bleu)) / 100;
    const node = (tag, values, content = "") => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      Object.entries(values).forEach(([name, value]) => made.setAttribute(name, value));
      made.textContent = content;
      return made;
    };
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}` });
    for (const bleu of [0, 25, 50, 75, 100]) {
      svg.append(node("line", { class: "grid", x1: left, x2: width - 10, y1: y(bleu), y2: y(bleu) }),
        node("text", { x: left - 6, y: y(bleu) + 4, "text-anchor": "end" }, bleu));
    }
    for (let words = 10; words <= longest; words += 10) svg.append(node("text", { x: x(words), y: height - 18, "text-anchor": "middle" }, words));
    svg.append(node("text", { x: (left + width) / 2, y: height - 3, "text-anchor": "middle" }, "Words of the sentence"));
    this.translator.models.forEach((model, index) => {
      const points = this.tried.map(({ words, bleu }) => [x(words), y(bleu[index])]);
      svg.append(node("polyline", { class: `m${index}`, points: points.map((point) => point.join(",")).join(" ") }));
      points.forEach(([at, value]) => svg.append(index
        ? node("rect", { class: `m${index}`, x: at - 3.5, y: value - 3.5, width: 7, height: 7 })
        : node("circle", { class: `m${index}`, cx: at, cy: value, r: 4 })));
      const last = points.at(-1) ?? [left, 20];
      const above = last[1] < 24 ? 16 : -8;
      svg.append(node("text", { class: "name", x: Math.min(last[0], width - 10), y: last[1] + above, "text-anchor": "end" }, model.label));
    });
    element("plot").replaceChildren(svg);
    this.fillNumbers();
  }

  fillNumbers() {
    const cell = (tag, textContent, scope) => Object.assign(make(tag, { textContent }), scope ? { scope } : {});
    const head = make("tr", {}, ...["Words", ...this.translator.models.map(({ label }) => `BLEU of ${label}`)].map((name) => cell("th", name, "col")));
    const rows = this.tried.map(({ words, bleu }) =>
      make("tr", {}, cell("th", words, "row"), ...bleu.map((value) => cell("td", format(value)))));
    element("numbers").replaceChildren(make("table", {}, make("caption", { className: "unseen", textContent: "BLEU of the sentences tried" }),
      make("thead", {}, head), make("tbody", {}, ...rows)));
  }
}

function open(data) {
  if (data.refusal) {
    const command = `nmt translate --model ${data.folders[0]}`;
    element("refusal").replaceChildren(`${data.refusal} Translate in a terminal instead: `, make("code", { textContent: command }));
    element("refusal").hidden = false;
    return;
  }
  element("page").hidden = false;
  globalThis.translator = new Translator(data);
  globalThis.playground = new Playground(data, globalThis.translator);
}

unpack(element("data").textContent)
  .then((data) => { open(data); document.body.dataset.ready = "true"; })
  .catch((error) => {
    element("refusal").textContent = `This browser cannot show the page: ${error.message}`;
    element("refusal").hidden = false;
  });
