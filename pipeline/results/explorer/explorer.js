// The sentences, their translations and what each word attended to. Nothing here asks a network for anything.

const ROW = 62;        // height of a line of the list in pixels, as in the style sheet
const MARGIN = 8;      // lines made above and below those in sight
const SHORT = [8, 15];  // words of the sentence that the page opens on
const FILTERS = ["words", "unknown", "bleu"];
const LEVELS = 255;
const TRANSLATION = "Translation (dotted: not in the reference)";
const PLAIN = "This model has no attention: one vector of fixed length stands for the whole source.";
const OTHER = "Another system: of its translations the text alone is known.";

const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

// --- data ---------------------------------------------------------------------------------------------------------

/** One sentence a record, and for each model where its weights begin. */
function prepare(data) {
  let place = 0;
  const sentences = data.source.map((source, index) => ({
    index,
    line: data.lines[index],
    source: split(source),
    reference: split(data.reference[index]),
    unknown: data.unknown[index],
    folded: { source: fold(source), reference: fold(data.reference[index]) },
    by: [],
  }));
  for (const model of data.models) {
    for (const sentence of sentences) {
      const { index } = sentence;
      const [rows, columns] = model.shape[index];
      const words = split(model.text[index]);
      const counts = bleuCounts(model.counts[index], words.length, sentence.reference.length);
      sentence.by.push({
        words, rows, columns, place, counts, folded: fold(model.text[index]), score: model.score[index],
        finished: Boolean(model.finished[index]), bleu: sentenceBleu(counts),
      });
      place += rows * columns;
    }
  }
  for (const [number, model] of data.models.entries()) {
    for (const { index, by } of sentences) {
      const leaves = model.leaves?.[index] ?? 0;
      Object.assign(by[number], { leaves, treePlace: place });
      place += 3 * leaves * (leaves - 1) / 2;
    }
  }
  return sentences;
}

// --- BLEU, from counts as the tables have it -------------------------------------------------------------------------

function added(one, other) {
  return {
    correct: NGRAMS.map((n) => one.correct[n] + other.correct[n]),
    total: NGRAMS.map((n) => one.total[n] + other.total[n]),
    length: one.length + other.length,
    reference: one.reference + other.reference,
  };
}

/** BLEU of a text, without smoothing: 0 as soon as no n-gram of some order is right. */
function corpusBleu(counts) {
  if (NGRAMS.some((n) => counts.correct[n] === 0)) return 0;
  const logs = NGRAMS.map((n) => Math.log(counts.correct[n] / counts.total[n]));
  return 100 * brevity(counts) * Math.exp(logs.reduce((sum, log) => sum + log, 0) / NGRAMS.length);
}

// --- the page -------------------------------------------------------------------------------------------------------

class Page {
  constructor(data) {
    this.models = data.models;
    this.weights = data.weights;
    [this.sourceLanguage, this.targetLanguage] = data.languages;
    this.sentences = prepare(data);
    this.shown = this.sentences;
    this.descending = false;
    this.fillModels(data);
    this.chosen = this.opening();
    this.readAddress();
    this.listen();
    this.filter();
    this.reveal();
  }

  // Which models, filters and order -----------------------------------------------------------------------------------

  fillModels(data) {
    const options = () => this.models.map((model, index) => make("option", { value: index, textContent: model.label }));
    element("first").append(...options());
    element("second").append(make("option", { value: "", textContent: "none" }), ...options());
    const aligned = this.models.map((model) => model.shape.some(([rows]) => rows > 0));
    const [first, second] = data.compared;
    this.standard = data.compared.length ? [first, second ?? -1]
      : [Math.max(0, aligned.lastIndexOf(true)), aligned.indexOf(false)];
    this.setModels(...this.standard);
  }

  /** A short sentence that all models with attention translate better than the second one, by as much as any. */
  opening() {
    const models = [...this.models.keys()].filter((model) => this.sentences.some(({ by }) => by[model].rows > 0));
    const other = this.standard[1];
    const short = this.sentences.filter(({ source, unknown }) =>
      !unknown && source.length >= SHORT[0] && source.length <= SHORT[1]);
    if (!models.length || other < 0 || models.includes(other)) return this.sentences[0] ?? null;
    const gain = ({ by }) => Math.min(...models.map((model) => by[model].bleu)) - by[other].bleu;
    return short.reduce((best, sentence) => (best && gain(best) >= gain(sentence) ? best : sentence), null)
      ?? this.sentences[0] ?? null;
  }

  setModels(first, second) {
    element("first").value = String(first);
    element("second").value = second >= 0 && second !== first ? String(second) : "";
  }

  get first() { return Number(element("first").value); }

  get second() { return element("second").value === "" ? null : Number(element("second").value); }

  get compared() { return this.second === null ? [this.first] : [this.first, this.second]; }

  measure(sentence, name) {
    const one = sentence.by[this.first];
    switch (name) {
      case "words": return sentence.source.length;
      case "unknown": return sentence.unknown;
      case "bleu": return one.bleu;
      case "score": return one.score / (one.words.length + 1);
      case "difference": return one.bleu - (this.second === null ? 0 : sentence.by[this.second].bleu);
      default: return sentence.index;
    }
  }

  filter() {
    const terms = [...element("query").value.matchAll(/"([^"]+)"?|(\S+)/g)].map((found) => fold(found[1] ?? found[2]));
    const limits = FILTERS.map((name) => [name, limit(`${name}-from`, -Infinity), limit(`${name}-to`, Infinity)]);
    const where = element("where").value;
    this.terms = terms;
    this.shown = this.sentences.filter((sentence) =>
      limits.every(([name, from, to]) => between(from, this.measure(sentence, name), to))
      && terms.every((term) => this.texts(sentence, where).some((text) => text.includes(term))));
    const order = element("sort").value;
    const sign = this.descending ? -1 : 1;
    this.shown.sort((a, b) => sign * (this.measure(a, order) - this.measure(b, order)) || a.index - b.index);
    if (!this.shown.includes(this.chosen)) this.chosen = this.shown[0] ?? null;
    this.rows = new Map();
    this.summarize();
    this.drawList();
    this.drawDetail();
  }

  texts(sentence, where) {
    const translations = (where === "text" ? this.compared : this.models.keys());
    const found = where === "source" || where === "reference" ? [] : [...translations].map((m) => sentence.by[m].folded);
    if (where === "source" || where === "all") found.push(sentence.folded.source);
    if (where === "reference" || where === "all") found.push(sentence.folded.reference);
    return found;
  }

  summarize() {
    const zero = bleuCounts([0, 0, 0, 0], 0, 0);
    const parts = this.compared.map((model) => {
      const counts = this.shown.reduce((sum, sentence) => added(sum, sentence.by[model].counts), zero);
      return [` · BLEU of ${this.models[model].label} on these `, bold(format(corpusBleu(counts), 2))];
    });
    const number = [bold(grouped(this.shown.length)), ` of ${grouped(this.sentences.length)} sentences`];
    element("summary").replaceChildren(...number, ...(this.shown.length ? parts.flat() : []));
  }

  // The list: only lines in sight exist -----------------------------------------------------------------------------------

  drawList() {
    const list = element("list");
    element("spacer").style.height = `${this.shown.length * ROW}px`;
    const from = Math.max(0, Math.floor(list.scrollTop / ROW) - MARGIN);
    const to = Math.min(this.shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + MARGIN);
    const places = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
    const chosen = this.shown.indexOf(this.chosen);
    if (chosen >= 0 && (chosen < from || chosen >= to)) places.push(chosen);
    this.rows = new Map(places.map((place) => [place, this.rows.get(place) ?? this.row(place)]));
    this.rows.forEach((row, place) => row.setAttribute("aria-selected", String(place === chosen)));
    element("spacer").replaceChildren(...this.rows.values());
    if (this.chosen) list.setAttribute("aria-activedescendant", `sentence-${this.chosen.index}`);
    else list.removeAttribute("aria-activedescendant");
  }

  row(place) {
    const sentence = this.shown[place];
    const scores = this.compared.map((model) => format(sentence.by[model].bleu)).join(" | ");
    const facts = make("div", { className: "facts" },
      make("span", { className: "number", textContent: `#${grouped(sentence.line)}` }),
      make("span", { textContent: plural(sentence.source.length, "word") }));
    if (sentence.unknown) {
      facts.append(make("span", { className: "unk", textContent: `${sentence.unknown} unknown` }));
    }
    facts.append(make("span", { className: "bleu", textContent: `BLEU ${scores}` }));
    const row = make("div", { className: "row", id: `sentence-${sentence.index}` },
      make("div", { className: "text", textContent: sentence.source.join(" "), lang: this.sourceLanguage }), facts);
    row.style.top = `${place * ROW}px`;
    row.dataset.place = place;
    row.setAttribute("role", "option");
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", this.shown.length);
    return row;
  }

  choose(place) {
    if (!this.shown.length) return;
    this.chosen = this.shown[Math.min(this.shown.length - 1, Math.max(0, place))];
    this.reveal();
    this.drawDetail();
  }

  /** Scroll the list as far as the chosen line needs, and draw it. */
  reveal() {
    const list = element("list");
    const top = Math.max(0, this.shown.indexOf(this.chosen)) * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    this.drawList();
    this.writeAddress();
  }

  // The sentence ----------------------------------------------------------------------------------------------------------

  drawDetail() {
    const detail = element("detail");
    const sentence = this.chosen;
    this.cards = [];
    if (!sentence) {
      detail.replaceChildren(make("p", { className: "nothing", textContent: "No sentence matches." }));
      return;
    }
    const aligned = this.compared.some((model) => sentence.by[model].rows);
    const head = make("p", { className: "head" },
      make("strong", { textContent: `Sentence ${grouped(sentence.line)}` }),
      make("span", { textContent: `${plural(sentence.source.length, "source word")}, ${sentence.unknown} unknown` }));
    const sides = aligned ? ["reference"] : ["source", "reference"];  // where a model aligns, its card has the source
    const texts = sides.map((side) => make("div", { className: "reference" },
      make("span", { className: "kind", textContent: side }),
      Object.assign(line(sentence[side].map((word) => this.word(word))),
        { lang: side === "source" ? this.sourceLanguage : this.targetLanguage })));
    this.cards = this.compared.map((model) => new Card(this, sentence, model));
    detail.replaceChildren(head, ...texts,
      make("div", { className: "cards" }, ...this.cards.map((card) => card.node)));
    this.cards.forEach((card) => card.drawMatrix());
  }

  word(text, isEnd = false) {
    const node = word(text, isEnd);
    node.classList.toggle("found", !isEnd && (this.terms ?? []).some((term) =>
      term.split(" ").some((part) => part && fold(text).includes(part))));
    return node;
  }

  // What the address keeps, so that a view can be handed on ----------------------------------------------------------------

  writeAddress() {
    const values = new URLSearchParams();
    if (this.chosen) values.set("sentence", this.chosen.line);
    values.set("first", this.models[this.first].label);
    if (this.second !== null) values.set("second", this.models[this.second].label);
    if (element("query").value) values.set("query", element("query").value);
    history.replaceState(null, "", `#${values}`);
  }

  readAddress() {
    const values = new URLSearchParams(location.hash.slice(1));
    const model = (name) => this.models.findIndex(({ label }) => label === values.get(name));
    if (model("first") >= 0) this.setModels(model("first"), values.has("second") ? model("second") : -1);
    element("query").value = values.get("query") ?? "";
    const line = Number(values.get("sentence"));
    this.chosen = this.sentences.find((sentence) => sentence.line === line) ?? this.chosen;
  }

  // Mouse and keyboard ------------------------------------------------------------------------------------------------------

  listen() {
    const list = element("list");
    let waiting = false;
    list.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; this.drawList(); });
    });
    list.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.place));
    });
    list.addEventListener("keydown", (event) => this.listKey(event));
    element("controls").addEventListener("input", ({ target }) => { if (target.tagName !== "SELECT") this.changed(); });
    element("controls").addEventListener("change", ({ target }) => { if (target.tagName === "SELECT") this.changed(); });
    element("controls").addEventListener("submit", (event) => { event.preventDefault(); list.focus(); });
    element("controls").addEventListener("reset", () => setTimeout(() => {
      this.descending = false;
      this.showOrder();
      this.setModels(...this.standard);
      this.changed();
    }));
    element("order").addEventListener("click", () => {
      this.descending = !this.descending;
      this.showOrder();
      this.changed();
    });
    element("fold").addEventListener("click", () => this.fold(element("fold").getAttribute("aria-expanded") === "true"));
    element("theme").addEventListener("click", () =>
      nextTheme(() => this.cards.forEach((card) => card.drawMatrix())));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || /^(INPUT|SELECT)$/.test(document.activeElement.tagName)) return;
      event.preventDefault();
      this.fold(false);
      element("query").select();
      element("query").focus();
    });
    element("query").addEventListener("keydown", (event) => {
      if (event.key === "Escape" || event.key === "ArrowDown") { event.preventDefault(); list.focus(); }
    });
    addEventListener("resize", () => { this.drawList(); this.cards.forEach((card) => card.drawMatrix()); });
    addEventListener("hashchange", () => { this.readAddress(); this.filter(); this.reveal(); });
  }

  changed() {
    element("list").scrollTop = 0;
    this.filter();
    this.reveal();
  }

  /** Hide the filters or show them; where there is room they are always shown. */
  fold(hidden) { element("fold").setAttribute("aria-expanded", String(!hidden)); }

  showOrder() {
    element("order").textContent = this.descending ? "↓" : "↑";
    element("order").setAttribute("aria-label", `Order: ${this.descending ? "descending" : "ascending"}`);
  }

  listKey(event) {
    const place = this.shown.indexOf(this.chosen);
    const page = Math.max(1, Math.floor(element("list").clientHeight / ROW) - 1);
    const moves = {
      ArrowDown: place + 1, j: place + 1, ArrowUp: place - 1, k: place - 1, PageDown: place + page, PageUp: place - page,
      Home: 0, End: this.shown.length - 1,
    };
    if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.choose(moves[event.key]);
    } else if (event.key === "Enter" || event.key === "ArrowRight") {
      event.preventDefault();
      this.cards.find((card) => card.rows)?.focusWord();
    }
  }

}

// --- a model's translation of the sentence ----------------------------------------------------------------------------

class Card extends AttentionCard {
  constructor(page, sentence, model) {
    super();
    Object.assign(this, sentence.by[model]);
    this.page = page;
    this.sentence = sentence;
    this.label = page.models[model].label;
    this.setWords(this.withEnd(sentence.source, this.columns > sentence.source.length),
      this.withEnd(this.words, this.rows > this.words.length));
    this.sourceLine.lang = page.sourceLanguage;
    this.targetLine.lang = page.targetLanguage;
    this.markOthers(this.words, sentence.reference);
    this.node = this.build();
  }

  withEnd(words, hasEnd) {
    const nodes = words.map((word) => this.page.word(word));
    return hasEnd ? [...nodes, this.page.word(END, true)] : nodes;
  }

  build() {
    const unknown = this.words.filter((word) => word === UNKNOWN).length;
    const facts = [`BLEU ${format(this.bleu)}`, plural(this.words.length, "word")];
    if (this.score !== null) facts.splice(1, 0, `log-probability ${format(this.score, 2)}`);
    if (unknown) facts.push(`${unknown} ${UNKNOWN}`);
    if (!this.finished) facts.push("not finished");
    const node = make("article", { className: "card" }, make("div", { className: "top" },
      make("h2", { textContent: this.label }), make("span", { className: "facts", textContent: facts.join(" · ") })));
    node.setAttribute("aria-label", this.label);
    if (this.rows) node.append(make("span", { className: "kind", textContent: "Source" }), this.sourceLine);
    node.append(make("span", { className: "kind", textContent: TRANSLATION }), this.targetLine);
    if (this.rows) this.makeExplorable(node);
    else node.append(make("p", { className: "plain", textContent: this.score === null ? OTHER : PLAIN }));
    if (this.leaves > 1) node.append(make("span", { className: "kind", textContent: TREE }), this.tree());
    return node;
  }

  tree() {
    const words = [...this.sentence.source, END].slice(0, this.leaves);
    const gates = this.page.weights.subarray(this.treePlace);
    return treePicture(words, (node) => [0, 1, 2].map((gate) => gates[3 * node + gate] / LEVELS));
  }

  say(text) { element("said").textContent = text; }

  leave() { element("list").focus(); }

  weight(row, column) {
    return this.page.weights[this.place + row * this.columns + column] / LEVELS;
  }

}

// --- small things -------------------------------------------------------------------------------------------------------

const between = (from, value, to) => from <= value && value <= to;
const bold = (said) => make("b", { textContent: said });

function limit(id, otherwise) {
  const { value } = element(id);
  return value === "" || Number.isNaN(Number(value)) ? otherwise : Number(value);
}

unpack(element("data").textContent)
  .then((data) => { new Page(data); document.body.dataset.ready = "true"; })
  .catch((error) => { element("summary").textContent = `This browser cannot show the page: ${error.message}`; });
