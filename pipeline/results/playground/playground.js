// What is typed, translated by the models side by side.

const WORD_PAUSE = 70;     // milliseconds a word is shown before the next, word by word
const SENTENCE_PAUSE = 700; // between a translation and the next longer sentence
const TYPING_PAUSE = 500;  // after the last key before the translation starts
const DRAW_INTERVAL = 40;  // of computing before the browser may draw
const MAX_WORDS = 100;     // `nmt translate` splits longer lines
const MAX_LETTERS = 5000;  // of a line that are read
const MAX_SHOWN = 40;      // letters of an unknown word that are shown
const MAX_UNKNOWN = 6;     // unknown words that are shown; of more words, the last place says how many others there are
const STOPS = [".", "!", "?", "。", "।"];
const MAX_LISTED = 300;    // of the vocabulary at once
const NOTICE_DELAY = 500;  // milliseconds of computing before the page says what it does
const GROWTH_LIMIT = 1.2;  // "Make it longer" ends at this multiple of the longest sentences in training

const wait = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

/** A word as it is shown, however long. */
const shortened = (token) => (token.length > MAX_SHOWN ? `${unescaped(token).slice(0, MAX_SHOWN)}…` : unescaped(token));

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
    this.known = { source: new Set(data.vocabulary.source), target: new Set(data.vocabulary.target) };
    const { languages, tokenization, tokenized, rules } = data;
    const detokenizer = (language) => (tokenized ? new TokenText() : new Detokenizer(language, tokenization, rules));
    this.tokenizer = tokenized ? new TokenText() : new Tokenizer(languages.source, tokenization, rules);
    this.sourceText = detokenizer(languages.source);
    this.targetText = detokenizer(languages.target);
  }

  word(id) { return id === END_ID ? "</s>" : id === UNKNOWN_ID ? UNKNOWN : this.vocabulary.target[id - 2]; }

  /** Steps of a translation, each with words and weights so far; the last is the translation, as `next().value`. */
  * steps(model, tokens, beam, forbidUnknown) {
    const ids = tokens.map((token) => this.ids.get(token) ?? UNKNOWN_ID);
    const search = translateIds(this.networks[model], ids, this.decoding, beam, forbidUnknown);
    for (let step = search.next(); ; step = search.next()) {
      const { words, weights, ...rest } = step.value;
      const ended = words.at(-1) === END_ID;
      const translation = { ...rest, words: (ended ? words.slice(0, -1) : words).map((id) => this.word(id)), weights, ended };
      if (step.done) return translation;
      yield translation;
    }
  }

  /** The whole translation of a line: text, tokens, log-probability. */
  translate(model, line, beam = this.decoding.beam, forbidUnknown = this.decoding.unknown === "excluded") {
    const tokens = this.tokenizer.tokens(line);
    if (!tokens.length) return { text: "", tokens, words: [], total: 0 };
    const steps = this.steps(model, tokens, beam, forbidUnknown);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return { text: this.targetText.text(step.value.words), tokens, ...step.value };
  }
}

// --- the page ----------------------------------------------------------------------------------------------------------------

class Playground {
  constructor(data, translator) {
    this.translator = translator;
    this.clauses = data.clauses.map((sides) => sides.map((side) => side.split(" ")));
    this.example = data.example;
    this.and = [data.and.source, data.and.target];
    this.next = 0;          // clause that is added next
    this.run = 0;           // counts translations: a later one ends those before
    this.cards = data.models.map((model) => new Card(model, translator));
    const trained = [...new Set(data.models.map((model) => model.max_words))];
    this.maxWords = Math.round(GROWTH_LIMIT * Math.max(...trained));
    this.curve = new Curve(data.models, trained, this.maxWords);
    element("cards").prepend(...this.cards.map((card) => card.node));
    this.fill(data);
    this.curve.draw();
    this.listen();
    this.follow();
  }

  fill(data) {
    const name = (code) => new Intl.DisplayNames(["en"], { type: "language" }).of(code);
    element("language").textContent = `${name(data.languages.source)}, which is translated into ${name(data.languages.target)}`;
    element("source").lang = data.languages.source;
    element("cards").lang = data.languages.target;
    element("beam").max = Math.max(20, data.decoding.beam);
    element("slowly").checked = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.defaults = { beam: data.decoding.beam, unk: data.decoding.unknown !== "excluded" };
    this.boxes = data.models.map(() => make("input", { type: "checkbox", checked: true }));
    if (this.boxes.length > 1) {
      element("models").append(...this.boxes.map((box, index) => make("label", {}, box, ` ${data.models[index].label}`)));
    }
    for (const id of ["another", "clause", "longer"]) element(id).disabled = !this.clauses.length;
    this.showWords();
  }

  listen() {
    const translateSoon = () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.translate(), TYPING_PAUSE); };
    const restart = () => { this.cancel(); this.read(); translateSoon(); };
    const on = (id, event, action) => element(id).addEventListener(event, action);
    on("source", "input", restart);
    on("source", "keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.stop();
      this.translate();
    });
    on("form", "submit", (event) => { event.preventDefault(); this.stop(); this.translate(); });
    on("beam", "input", () => { element("width").textContent = element("beam").value; restart(); });
    on("allowed", "change", restart);
    this.boxes.forEach((box) => box.addEventListener("change", () => { if (!this.chosen.length) box.checked = true; restart(); }));
    on("another", "click", () => { this.stop(); this.another(); });
    on("clause", "click", () => { this.stop(); this.addClause(); this.translate(); });
    on("longer", "click", () => (this.growing ? this.stop() : this.grow()));
    on("stop", "click", () => this.cancel());
    on("search", "input", () => this.showWords());
    addEventListener("hashchange", () => this.follow());
    addEventListener("resize", () => this.curve.draw());
  }

  /** Indices of the models that translate. */
  get chosen() { return this.boxes.flatMap((box, index) => (box.checked ? [index] : [])); }

  // The page's address: sentence, beam, models ----------------------------------------------------------------------------------

  /** Show what the address asks for, or a sentence of the test set. */
  follow() {
    this.cancel();
    const parameters = new URLSearchParams(location.hash.slice(1));
    const beam = Number(parameters.get("beam") ?? this.defaults.beam);
    element("beam").value = Number.isInteger(beam) ? beam : this.defaults.beam;  // the field keeps to its limits
    element("width").textContent = element("beam").value;
    element("allowed").checked = parameters.has("unk") ? parameters.get("unk") === "1" : this.defaults.unk;
    const labels = parameters.getAll("models");
    const hasLabel = this.cards.some(({ label }) => labels.includes(label));
    this.boxes.forEach((box, index) => { box.checked = !hasLabel || labels.includes(this.cards[index].label); });
    if (!parameters.get("sentence")) this.another();
    else {
      element("source").value = parameters.get("sentence");
      this.translate();
    }
    if (parameters.has("longer")) this.grow();
  }

  updateAddress() {
    const parameters = new URLSearchParams({ sentence: this.line, beam: element("beam").value });
    if (element("allowed").checked !== this.defaults.unk) parameters.set("unk", element("allowed").checked ? 1 : 0);
    if (this.chosen.length < this.cards.length) this.chosen.forEach((index) => parameters.append("models", this.cards[index].label));
    history.replaceState(null, "", `#${parameters}`);
  }

  // The sentence --------------------------------------------------------------------------------------------------------------

  get line() { return element("source").value.replace(/\s*\n\s*/g, " "); }

  /** Text with these tokens: with spaces between all words if the language's own text would have other tokens. */
  textOf(tokens) {
    const { tokenizer, sourceText } = this.translator;
    const text = sourceText.text(tokens);
    return same(tokenizer.tokens(text), tokens) ? text : tokens.map(unescaped).join(" ");
  }

  get tokens() { return this.translator.tokenizer.tokens(this.line.slice(0, MAX_LETTERS)); }

  /** A sentence of the test set, of at least six words if there is one. */
  another() {
    this.curve.tried = [];
    const longClause = this.clauses.findIndex(([source], index) => index >= this.next && source.length > 6);
    const [source] = this.clauses[longClause < 0 ? 0 : longClause] ?? [this.example.split(" ")];
    this.next = (longClause < 0 ? 0 : longClause) + 1;
    this.set(source);
    this.translate();
  }

  set(tokens) {
    element("source").value = this.textOf(tokens);
    this.read();
  }

  /** The sentence and one clause more, joined by a comma and the language's "and". */
  addClause() {
    const clause = this.clauses[this.next % this.clauses.length];
    this.next += 1;
    this.set(this.joinClause(this.tokens, clause[0], 0));
  }

  joinClause(tokens, clause, side) {
    const before = [...STOPS, ",", "，"].includes(tokens.at(-1)) ? tokens.slice(0, -1) : tokens;
    return before.length ? [...before, ...this.linkClause(clause, side)] : clause;
  }

  /** A clause as it follows another: [",", "and", "the", ...]. */
  linkClause(clause, side) {
    const lowercase = clause[0].charAt(0).toLowerCase() + clause[0].slice(1);
    const known = [this.translator.known.source, this.translator.known.target][side];
    const comma = clause.at(-1) === "。" ? "，" : ",";
    return [comma, ...(this.and[side] ? [this.and[side]] : []), known.has(lowercase) ? lowercase : clause[0], ...clause.slice(1)];
  }

  /** The reference of a sentence of the test set, or of several joined; null of any other. */
  reference(tokens) {
    const references = new Map([[0, null]]);  // {number of tokens: reference of so many, if they are clauses}
    for (let start = 0; start < tokens.length; start += 1) {
      for (const [source, target] of references.has(start) ? this.clauses : []) {
        const clause = (start ? this.linkClause(source, 0) : source).slice(0, -1);
        const end = start + clause.length;
        if (!references.has(end) && same(clause, tokens.slice(start, end))) {
          references.set(end, start ? this.joinClause(references.get(start), target, 1) : target);
        }
      }
    }
    return STOPS.includes(tokens.at(-1)) ? references.get(tokens.length - 1) ?? null : null;
  }

  async grow() {
    const growth = {};  // another click begins another
    this.growing = growth;
    element("longer").setAttribute("aria-pressed", "true");
    element("longer").textContent = "Stop";
    if (!this.curve.tried.length) await this.translate();
    while (this.growing === growth && this.tokens.length < this.maxWords) {
      this.addClause();
      await this.translate();
      await wait(SENTENCE_PAUSE);
    }
    if (this.growing === growth) this.stop();
  }

  stop() {
    this.growing = null;
    element("longer").setAttribute("aria-pressed", "false");
    element("longer").textContent = "Make it longer";
  }

  /** Stop a translation before it has ended. */
  cancel() {
    this.stop();
    clearTimeout(this.timer);
    this.run += 1;
    this.rest();
  }

  rest() {
    element("work").style.visibility = "hidden";
    document.body.dataset.busy = "false";
  }

  // What the models read of it ------------------------------------------------------------------------------------------------

  read() {
    const { line, tokens } = this;
    document.body.dataset.stale = line !== this.translated;
    this.showReference(this.reference(tokens));
    const unknown = [...new Set(tokens.filter((token) => !this.translator.known.source.has(token)))];
    const sentences = [`${plural(tokens.length, "word")} with punctuation.`];
    const shown = unknown.length > MAX_UNKNOWN ? MAX_UNKNOWN - 1 : MAX_UNKNOWN;
    const listed = unknown.slice(0, shown).map((token) => `“${shortened(token)}”`);
    if (unknown.length > shown) listed.push(`${unknown.length - shown} more`);
    if (unknown.length) sentences.push(`Unknown, read as ${UNKNOWN}: ${listed.join(", ")}.`);
    if (line.length > MAX_LETTERS) sentences.push(`Only the first ${grouped(MAX_LETTERS)} letters are read.`);
    if (tokens.length > MAX_WORDS) sentences.push(`Only the first ${MAX_WORDS} words are translated.`);
    element("count").textContent = sentences.join(" ");
  }

  showReference(reference) {
    element("reference").hidden = !reference;
    element("reference").querySelector(".sentence").textContent = reference ? this.translator.targetText.text(reference) : "";
  }

  showWords() {
    const query = element("search").value.toLowerCase();
    const matches = this.translator.vocabulary.source.filter((known) => unescaped(known).toLowerCase().includes(query));
    const remainder = matches.length > MAX_LISTED ? [`and ${grouped(matches.length - MAX_LISTED)} more`] : [];
    element("words").replaceChildren(...matches.slice(0, MAX_LISTED).map((known) => {
      const button = make("button", { type: "button", textContent: unescaped(known), lang: element("source").lang });
      button.addEventListener("click", () => {
        element("source").value = `${element("source").value.trimEnd()} ${this.textOf([known])}`.trimStart();
        element("source").dispatchEvent(new Event("input"));
      });
      return button;
    }), ...remainder);
  }

  // Translation -----------------------------------------------------------------------------------------------------------------

  async translate() {
    clearTimeout(this.timer);
    this.run += 1;
    const { run } = this;
    this.rest();
    this.translated = this.line;
    this.read();
    this.updateAddress();
    const tokens = this.tokens.slice(0, MAX_WORDS);
    if (!this.reference(tokens)) this.clearCurve();
    this.cards.forEach((card, index) => { card.node.hidden = !this.chosen.includes(index); });
    document.body.dataset.busy = "true";
    if (tokens.length) await this.race(run, tokens);
    else this.cards.forEach((card) => card.show([], { words: [], weights: [], ended: false }, null, []));
    if (this.run === run) this.rest();
  }

  /** All chosen models write their next word in turn until each has ended, or another translation has begun. */
  async race(run, tokens) {
    const reference = this.reference(tokens);
    const [beam, forbidden, slowly] = [Number(element("beam").value), !element("allowed").checked, element("slowly").checked];
    const searches = this.chosen.map((model) => ({ model, card: this.cards[model], steps: this.translator.steps(model, tokens, beam, forbidden), result: null }));
    const began = performance.now();
    let since = began;
    while (searches.some(({ result }) => !result)) {
      for (const search of searches.filter(({ result }) => !result)) {
        const step = search.steps.next();
        if (step.done) search.result = step.value;
        if (slowly || step.done) this.draw(search.card, tokens, step.value, reference, step.done);
        if (performance.now() - since > DRAW_INTERVAL) {
          if (since - began > NOTICE_DELAY && (!slowly || step.value.width > beam)) this.showWork(search.card, step.value);
          await wait(0);
          since = performance.now();
        }
        if (this.run !== run) return;
      }
      if (slowly) { await wait(WORD_PAUSE); since = performance.now(); }
      if (this.run !== run) return;
    }
    this.finish(searches, tokens, reference);
  }

  /** Take other sentences out of the curve: the one that is translated now has no place in it. */
  clearCurve() {
    element("unmeasured").hidden = false;
    this.curve.tried = [];
    this.curve.draw();
  }

  showWork(card, { width, words }) {
    element("work").style.visibility = "visible";
    element("work").querySelector("span").textContent = `${card.label} searches: beam ${width}, ${plural(words.length, "word")}`;
  }

  draw(card, tokens, translation, reference, done) {
    const facts = [plural(translation.words.length, "word")];
    if (done) {
      facts.unshift(`log-probability ${format(translation.total, 2)}`);
      if (reference) facts.unshift(`BLEU ${format(sentenceBleu(translation.words, reference))}`);
      if (!translation.finished) facts.push("not finished");
    }
    if (translation.width > Number(element("beam").value)) facts.push(`beam ${translation.width}`);
    card.show(tokens, translation, done ? reference : null, facts);
  }

  finish(searches, tokens, reference) {
    element("said").textContent = searches.map(({ card, result }) => `${card.label}: ${this.translator.targetText.text(result.words)}`).join(" ");
    if (!reference) return;
    element("unmeasured").hidden = true;
    const values = this.cards.map(() => null);
    searches.forEach(({ model, result }) => { values[model] = sentenceBleu(result.words, reference); });
    this.curve.add(tokens.length, values);
    this.curve.draw();
  }
}

/** The page's data: length of its JSON text in four bytes, the text, and bytes after it. */
async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const values = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { ...values, weights: bytes.subarray(4 + length) };
}

function open(data) {
  element("bits").textContent = data.bits;
  element("page").hidden = false;
  globalThis.translator = new Translator(data);
  globalThis.playground = new Playground(data, globalThis.translator);
}

unpack(element("data").textContent)
  .then((data) => { open(data); document.body.dataset.ready = "true"; })
  .catch((error) => {
    element("page").hidden = true;
    element("refusal").textContent = `This browser cannot show the page: ${error.message}`;
  });
