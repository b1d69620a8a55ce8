"use strict";

// The sentences, their translations and what each word attended to. Nothing here asks a network for anything.

const ROW = 62;        // height of a line of the list in pixels, as in the style sheet
const MARGIN = 8;      // lines made above and below those in sight
const NGRAMS = [0, 1, 2, 3];
const FILTERS = ["words", "unknown", "bleu"];
const LEVELS = 255;
const UNKNOWN = "[UNK]";
const END = "end";
const TRANSLATION = "Translation (dotted: not in the reference)";
const PLAIN = "This model has no attention: one vector of fixed length stands for the whole source.";

const element = (id) => document.getElementById(id);
const format = (value, digits = 1) => value.toFixed(digits);
const grouped = (value) => value.toLocaleString("en");
const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const split = (text) => (text ? text.split(" ") : []);

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// --- data ---------------------------------------------------------------------------------------------------------

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const values = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  return { ...values, weights: bytes.subarray(8 + length) };
}

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
  return sentences;
}

// --- BLEU, from counts as the tables have it -------------------------------------------------------------------------

function bleuCounts(correct, length, reference) {
  return { correct, total: NGRAMS.map((n) => Math.max(0, length - n)), length, reference };
}

function added(one, other) {
  return {
    correct: NGRAMS.map((n) => one.correct[n] + other.correct[n]),
    total: NGRAMS.map((n) => one.total[n] + other.total[n]),
    length: one.length + other.length,
    reference: one.reference + other.reference,
  };
}

const brevity = ({ length, reference }) => (length >= reference ? 1 : length ? Math.exp(1 - reference / length) : 0);

/** BLEU of a text, without smoothing: 0 as soon as no n-gram of some order is right. */
function corpusBleu(counts) {
  if (NGRAMS.some((n) => counts.correct[n] === 0)) return 0;
  const logs = NGRAMS.map((n) => Math.log(counts.correct[n] / counts.total[n]));
  return 100 * brevity(counts) * Math.exp(logs.reduce((sum, log) => sum + log, 0) / NGRAMS.length);
}

/** BLEU of one sentence: orders that it is too short for don't count, missing ones count half, a quarter, ... */
function sentenceBleu(counts) {
  let half = 1;
  let sum = 0;
  const orders = NGRAMS.filter((n) => counts.total[n] > 0);
  if (!orders.length || counts.correct[0] === 0) return 0;
  for (const n of orders) {
    half = counts.correct[n] ? half : half / 2;
    sum += Math.log((counts.correct[n] || half) / counts.total[n]);
  }
  return 100 * brevity(counts) * Math.exp(sum / orders.length);
}

// --- the page -------------------------------------------------------------------------------------------------------

class Page {
  constructor(data) {
    this.models = data.models;
    this.weights = data.weights;
    this.sentences = prepare(data);
    this.shown = this.sentences;
    this.chosen = this.sentences[0] ?? null;
    this.descending = false;
    this.fillModels();
    this.readAddress();
    this.listen();
    this.filter();
    this.reveal();
  }

  // Which models, filters and order -----------------------------------------------------------------------------------

  fillModels() {
    const options = () => this.models.map((model, index) => make("option", { value: index, textContent: model.label }));
    element("first").append(...options());
    element("second").append(make("option", { value: "", textContent: "none" }), ...options());
    const aligned = this.models.map((model) => model.shape.some(([rows]) => rows > 0));
    this.standard = [Math.max(0, aligned.lastIndexOf(true)), aligned.indexOf(false)];
    this.setModels(...this.standard);
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
      make("div", { className: "text", textContent: sentence.source.join(" ") }), facts);
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
      make("span", { className: "kind", textContent: side }), this.line(sentence[side].map((word) => this.word(word)))));
    this.cards = this.compared.map((model) => new Card(this, sentence, model));
    detail.replaceChildren(head, ...texts,
      make("div", { className: "cards" }, ...this.cards.map((card) => card.node)));
    this.cards.forEach((card) => card.drawMatrix());
  }

  line(words) {
    const line = make("div", { className: "sentence" });
    words.forEach((word) => line.append(word, " "));
    return line;
  }

  word(text, isEnd = false) {
    const node = make("span", { className: "word", textContent: isEnd ? "⟨end⟩" : text });
    node.classList.toggle("unknown", text === UNKNOWN && !isEnd);
    node.classList.toggle("end", isEnd);
    node.classList.toggle("found", !isEnd && (this.terms ?? []).some((term) =>
      term.split(" ").some((part) => part && fold(text).includes(part))));
    return node;
  }

  say(text) { element("said").textContent = text; }

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
    element("theme").addEventListener("click", () => this.nextTheme());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || /^(INPUT|SELECT)$/.test(document.activeElement.tagName)) return;
      event.preventDefault();
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

  nextTheme() {
    const themes = ["", "light", "dark"];
    const root = document.documentElement;
    const next = themes[(themes.indexOf(root.dataset.theme ?? "") + 1) % themes.length];
    root.dataset.theme = next;
    element("theme").textContent = { "": "◐", light: "☀", dark: "☾" }[next];
    element("theme").setAttribute("aria-label", `Colours: ${next || "as the system"}`);
    this.cards.forEach((card) => card.drawMatrix());
  }
}

// --- a model's translation of the sentence ----------------------------------------------------------------------------

class Card {
  constructor(page, sentence, model) {
    Object.assign(this, page.sentences[sentence.index].by[model]);
    this.page = page;
    this.sentence = sentence;
    this.label = page.models[model].label;
    this.sourceWords = this.withEnd(sentence.source, this.columns > sentence.source.length);
    this.targetWords = this.withEnd(this.words, this.rows > this.words.length);
    this.markOthers();
    this.node = this.build();
  }

  withEnd(words, hasEnd) {
    const nodes = words.map((word) => this.page.word(word));
    return hasEnd ? [...nodes, this.page.word(END, true)] : nodes;
  }

  /** Words that the reference does not have, or not so often. */
  markOthers() {
    const left = new Map();
    this.sentence.reference.forEach((word) => left.set(word, (left.get(word) ?? 0) + 1));
    this.words.forEach((word, index) => {
      if (left.get(word)) left.set(word, left.get(word) - 1);
      else this.targetWords[index].classList.add("other");
    });
  }

  build() {
    const unknown = this.words.filter((word) => word === UNKNOWN).length;
    const facts = [`BLEU ${format(this.bleu)}`, `log-probability ${format(this.score, 2)}`, plural(this.words.length, "word")];
    if (unknown) facts.push(`${unknown} ${UNKNOWN}`);
    if (!this.finished) facts.push("not finished");
    const node = make("article", { className: "card" }, make("div", { className: "top" },
      make("h2", { textContent: this.label }), make("span", { className: "facts", textContent: facts.join(" · ") })));
    node.setAttribute("aria-label", this.label);
    this.sourceLine = this.page.line(this.sourceWords);
    this.targetLine = this.page.line(this.targetWords);
    if (this.rows) node.append(make("span", { className: "kind", textContent: "Source" }), this.sourceLine);
    node.append(make("span", { className: "kind", textContent: TRANSLATION }), this.targetLine);
    if (this.rows) this.makeExplorable(node);
    else node.append(make("p", { className: "plain", textContent: PLAIN }));
    return node;
  }

  weight(row, column) {
    return this.page.weights[this.place + row * this.columns + column] / LEVELS;
  }

  // Words that can be pointed at --------------------------------------------------------------------------------------------

  makeExplorable(node) {
    node.classList.add("attends");
    this.explain(this.targetLine, this.targetWords, (index) => this.showTarget(index));
    this.explain(this.sourceLine, this.sourceWords, (index) => this.showSource(index));
    node.addEventListener("mouseleave", () => this.clear());
    this.canvas = make("canvas");
    this.canvas.setAttribute("aria-hidden", "true");  // the words say the same
    this.canvas.addEventListener("mousemove", (event) => this.pointMatrix(event));
    const folded = make("details", { open: true }, make("summary", { textContent: "Alignment" }), this.canvas);
    folded.addEventListener("toggle", () => this.drawMatrix());
    node.append(folded);
  }

  explain(line, nodes, show) {
    nodes.forEach((node, index) => {
      node.tabIndex = index ? -1 : 0;
      node.setAttribute("role", "button");
      node.addEventListener("mouseenter", () => show(index));
      node.addEventListener("focus", () => { show(index); rove(nodes, index); });
    });
    line.addEventListener("keydown", (event) => {
      const now = nodes.indexOf(document.activeElement);
      const moves = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: nodes.length - 1 };
      if (event.key in moves) {
        event.preventDefault();
        nodes[Math.min(nodes.length - 1, Math.max(0, moves[event.key]))].focus();
      } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        event.preventDefault();
        this.crossOver(nodes === this.targetWords, now);
      } else if (event.key === "Escape") {
        this.clear();
        element("list").focus();
      }
    });
  }

  focusWord() { this.targetWords.find((word) => word.tabIndex === 0).focus(); }

  /** From a word to the one on the other side that it is tied to most. */
  crossOver(fromTarget, index) {
    const others = fromTarget ? this.sourceWords : this.targetWords;
    const weights = others.map((_, other) => (fromTarget ? this.weight(index, other) : this.weight(other, index)));
    others[weights.indexOf(Math.max(...weights))].focus();
  }

  showTarget(row) {
    const weights = this.sourceWords.map((_, column) => this.weight(row, column));
    this.paint(this.targetWords[row], this.sourceWords, weights, "--attend");
    this.tell(this.targetWords[row], "attends to", this.sourceWords, weights);
    this.drawMatrix(row, null);
  }

  showSource(column) {
    const weights = this.targetWords.map((_, row) => this.weight(row, column));
    this.paint(this.sourceWords[column], this.targetWords, weights, "--reverse");
    this.tell(this.sourceWords[column], "is attended to by", this.targetWords, weights);
    this.drawMatrix(null, column);
  }

  paint(chosen, others, weights, colour) {
    this.clear(false);
    chosen.classList.add("chosen");
    const most = Math.max(...weights);
    others.forEach((node, index) => {
      const weight = weights[index];
      if (weight < 0.01) return;
      node.style.background = `color-mix(in srgb, var(${colour}) ${Math.round(8 + 52 * weight)}%, transparent)`;
      node.classList.toggle("strongest", weight === most);
      if (weight >= 0.1) {
        const share = make("span", { className: "share", textContent: Math.round(100 * weight) });
        share.setAttribute("aria-hidden", "true");
        node.append(share);
      }
    });
  }

  tell(chosen, relation, others, weights) {
    const order = weights.map((weight, index) => [weight, index]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    const named = order.filter(([weight]) => weight >= 0.05)
      .map(([weight, index]) => `${text(others[index])} ${Math.round(100 * weight)} %`);
    this.page.say(`${this.label}: ${text(chosen)} ${relation} ${named.join(", ") || "nothing much"}`);
  }

  clear(redraw = true) {
    for (const node of [...this.sourceWords, ...this.targetWords]) {
      node.style.background = "";
      node.classList.remove("chosen", "strongest");
      node.querySelector(".share")?.remove();
    }
    if (redraw) this.drawMatrix();
  }

  // The matrix: source across, translation down, as in Figure 3 -------------------------------------------------------------

  drawMatrix(row = null, column = null) {
    if (!this.canvas || !this.node.isConnected || !this.canvas.offsetParent) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const labels = [this.targetWords.map(text), this.sourceWords.map(text)];
    const context = this.canvas.getContext("2d");
    const font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.font = font;
    const [left, above] = labels.map((side) => 8 + Math.min(130, Math.max(...side.map((word) => context.measureText(word).width))));
    const room = this.node.clientWidth - 34 - left;
    const cell = Math.max(7, Math.min(22, Math.floor(room / this.columns)));
    const [width, height] = [left + cell * this.columns + 1, above + cell * this.rows + 1];
    const scale = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * scale, height: height * scale });
    this.canvas.style.width = `${width}px`;
    this.grid = { left, above, cell, width };
    context.scale(scale, scale);
    context.font = font;
    this.drawCells(context, colour, row, column);
    this.drawLabels(context, colour, labels, row, column);
  }

  drawCells(context, colour, row, column) {
    const { left, above, cell } = this.grid;
    context.fillStyle = colour("--paper");
    context.fillRect(left, above, cell * this.columns, cell * this.rows);
    context.fillStyle = colour("--attend");
    for (let i = 0; i < this.rows; i += 1) {
      for (let j = 0; j < this.columns; j += 1) {
        context.globalAlpha = this.weight(i, j);
        context.fillRect(left + j * cell, above + i * cell, cell, cell);
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = colour("--line");
    context.strokeRect(left - 0.5, above - 0.5, cell * this.columns + 1, cell * this.rows + 1);
    context.strokeStyle = colour("--ink");
    if (row !== null) context.strokeRect(left - 0.5, above + row * cell - 0.5, cell * this.columns + 1, cell + 1);
    if (column !== null) context.strokeRect(left + column * cell - 0.5, above - 0.5, cell + 1, cell * this.rows + 1);
  }

  drawLabels(context, colour, [target, source], row, column) {
    const { left, above, cell } = this.grid;
    const every = cell < 11 ? Math.ceil(11 / cell) : 1;  // no label over another
    context.textBaseline = "middle";
    target.forEach((word, i) => {
      if (i % every && i !== row) return;
      context.fillStyle = colour(i === row ? "--accent" : "--soft");
      context.textAlign = "right";
      context.fillText(word, left - 5, above + (i + 0.5) * cell, left - 6);
    });
    source.forEach((word, j) => {
      if (j % every && j !== column) return;
      context.save();
      context.translate(left + (j + 0.5) * cell, above - 5);
      context.rotate(-Math.PI / 2);
      context.fillStyle = colour(j === column ? "--accent" : "--soft");
      context.textAlign = "left";
      context.fillText(word, 0, 0, above - 6);
      context.restore();
    });
  }

  pointMatrix(event) {
    const scale = this.grid.width / this.canvas.clientWidth;
    const row = Math.floor((event.offsetY * scale - this.grid.above) / this.grid.cell);
    const column = Math.floor((event.offsetX * scale - this.grid.left) / this.grid.cell);
    if (row >= 0 && row < this.rows) this.showTarget(row);
    else if (row < 0 && column >= 0 && column < this.columns) this.showSource(column);
  }
}

// --- small things -------------------------------------------------------------------------------------------------------

const text = (node) => node.firstChild.textContent;
const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
const between = (from, value, to) => from <= value && value <= to;
const bold = (said) => make("b", { textContent: said });

function limit(id, otherwise) {
  const { value } = element(id);
  return value === "" || Number.isNaN(Number(value)) ? otherwise : Number(value);
}

/** Only the chosen word of a line is reached by Tab. */
function rove(nodes, index) {
  nodes.forEach((node, other) => { node.tabIndex = other === index ? 0 : -1; });
}

unpack(element("data").textContent)
  .then((data) => { new Page(data); document.body.dataset.ready = "true"; })
  .catch((error) => { element("summary").textContent = `This browser cannot show the page: ${error.message}`; });
