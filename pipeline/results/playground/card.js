// A model's translation on the page: its words, what they attend to, and how the model has the source.

const VECTOR_COLUMNS = 64;
const UNKNOWN = "[UNK]";
const END = "⟨end⟩";

const element = (id) => document.getElementById(id);
/** A number with so many digits; what rounds to nothing has no sign. */
const format = (value, digits = 1) => value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1");
const grouped = (value) => value.toLocaleString("en");
const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
const same = (words, others) => words.length === others.length && words.every((word, index) => word === others[index]);
const text = (node) => node.firstChild.textContent;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** The nodes of words with spaces where the text has them; then the nodes that are no text, such as the end symbol. */
function spaced(tokens, nodes, text) {
  const line = make("div", { className: "sentence", dir: "auto" });
  let position = 0;
  tokens.forEach((token, index) => {
    const written = token === "@-@" ? "-" : unescaped(token);
    if (/\s/.test(text.charAt(position))) { line.append(" "); position += 1; }
    position = text.startsWith(written, position) ? position + written.length : Infinity;
    line.append(nodes[index]);
  });
  if (position !== text.length) line.replaceChildren(...nodes.flatMap((node) => [node, " "]));  // a text that is not its tokens in order
  else line.append(...nodes.slice(tokens.length).flatMap((node) => [" ", node]));
  return line;
}

class Card {
  constructor(model, translator) {
    Object.assign(this, { label: model.label, aligns: model.aligns, translator });
    this.node = make("article", { className: "card" });
    this.node.setAttribute("aria-label", model.label);
  }

  /** Draw what is known of a translation: words, weights of the source words behind each, whether it has ended. */
  show(source, translation, reference, facts) {
    const { words, weights, ended, vector } = translation;
    this.weights = weights;
    this.rows = words.length + (ended ? 1 : 0);
    this.columns = weights[0]?.length ?? 0;
    this.write(source, words, ended);
    if (reference) this.markDifferences(words, reference);
    const kind = make("small", { textContent: this.aligns ? "with attention" : "without attention" });
    this.node.replaceChildren(make("div", { className: "top" }, make("h2", {}, `${this.label} `, kind),
      make("span", { className: "facts", textContent: facts.join(" · ") })), this.targetLine);
    if (this.aligns && this.rows) {
      this.node.append(make("span", { className: "kind", textContent: "Source" }), this.sourceLine);
      this.makeExplorable();
    }
    if (vector) this.drawVector(vector);
  }

  write(source, words, ended) {
    const { sourceText, targetText, known } = this.translator;
    const nodes = (tokens, end) => [...tokens.map((token) => this.word(unescaped(token))), ...(end ? [this.word(END)] : [])];
    this.sourceWords = nodes(source, this.columns > source.length);
    this.targetWords = nodes(words, ended);
    source.forEach((token, index) => {
      if (known.source.has(token)) return;
      this.sourceWords[index].classList.add("strange");
      this.sourceWords[index].title = "unknown: the models read [UNK]";
    });
    this.sourceLine = spaced(source, this.sourceWords, sourceText.text(source));
    this.targetLine = spaced(words, this.targetWords, targetText.text(words));
    this.targetLine.classList.add("translation");
  }

  word(textContent) {
    const kind = { [UNKNOWN]: " unknown", [END]: " end" }[textContent] ?? "";
    return make("span", { className: `word${kind}`, textContent });
  }

  /** Mark the words that the reference does not have, or not so often. */
  markDifferences(words, reference) {
    const unmatched = [...reference];
    words.forEach((word, index) => {
      const position = unmatched.indexOf(word);
      if (position >= 0) unmatched.splice(position, 1);
      else Object.assign(this.targetWords[index], { title: "not in the reference" }).classList.add("other");
    });
  }

  // Words that one can point at --------------------------------------------------------------------------------------------

  makeExplorable() {
    this.node.classList.add("attends");
    this.explain(this.targetLine, this.targetWords, this.sourceWords, (row, column) => this.weights[row][column]);
    this.explain(this.sourceLine, this.sourceWords, this.targetWords, (column, row) => this.weights[row][column]);
    this.node.onmouseleave = () => this.clear();
    this.node.append(make("details", { open: true }, make("summary", { textContent: "Alignment" }), this.matrix()));
  }

  /** Make the words of one side show their weights on the other side. Tab reaches one of them, arrow keys the others. */
  explain(line, nodes, others, weight) {
    const rove = (index) => nodes.forEach((node, other) => { node.tabIndex = other === index ? 0 : -1; });
    nodes.forEach((node, index) => {
      node.setAttribute("role", "button");
      node.addEventListener("mouseenter", () => this.point(nodes, index));
      node.addEventListener("focus", () => { this.point(nodes, index); rove(index); });
    });
    rove(0);
    line.addEventListener("keydown", (event) => {
      const now = nodes.indexOf(document.activeElement);
      const moves = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: nodes.length - 1 };
      if (event.key === "Escape") {
        this.clear();
        element("source").focus();
      } else if (event.key in moves) {
        nodes[Math.min(nodes.length - 1, Math.max(0, moves[event.key]))].focus();
        event.preventDefault();
      } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        const weights = others.map((_, other) => weight(now, other));
        others[weights.indexOf(Math.max(...weights))].focus();
        event.preventDefault();
      }
    });
  }

  /** Show what a word attends to, or what attends to it. */
  point(nodes, index) {
    const target = nodes === this.targetWords;
    const others = target ? this.sourceWords : this.targetWords;
    const weights = target ? this.weights[index] : others.map((_, row) => this.weights[row][index]);
    this.clear();
    nodes[index].classList.add("chosen");
    const maximum = Math.max(...weights);
    others.forEach((node, other) => {
      const weight = weights[other];
      if (weight < 0.01) return;
      node.style.background = `color-mix(in srgb, var(${target ? "--attend" : "--reverse"}) ${Math.round(8 + 52 * weight)}%, transparent)`;
      node.classList.toggle("strongest", weight === maximum);
      if (weight < 0.1) return;
      const share = make("span", { className: "share", textContent: Math.round(100 * weight) });
      share.setAttribute("aria-hidden", "true");
      node.append(share);
    });
    const listed = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3).filter((other) => weights[other] >= 0.05)
      .map((other) => `${text(others[other])} ${Math.round(100 * weights[other])} %`);
    element("said").textContent = `${this.label}: ${text(nodes[index])} ${target ? "attends to" : "is attended to by"} ${listed.join(", ") || "nothing much"}`;
    this.mark(target ? index : null, target ? null : index);
  }

  clear() {
    for (const node of [...this.sourceWords, ...this.targetWords]) {
      node.style.background = "";
      node.classList.remove("chosen", "strongest");
      node.querySelector(".share")?.remove();
    }
    this.mark(null, null);
  }

  /** The weights, source across, translation down, as in Figure 3. */
  matrix() {
    const heads = this.sourceWords.map((word) => make("th", { textContent: text(word) }));
    const rows = this.weights.slice(0, this.rows).map((weights, row) => make("tr", {}, make("th", { textContent: text(this.targetWords[row]) }),
      ...weights.map((weight) => {
        const cell = make("td");
        cell.style.background = `color-mix(in srgb, var(--attend) ${100 * weight}%, transparent)`;
        return cell;
      })));
    heads.forEach((head, column) => head.addEventListener("mouseenter", () => this.point(this.sourceWords, column)));
    rows.forEach((row, index) => row.addEventListener("mouseenter", () => this.point(this.targetWords, index)));
    this.table = make("table", { className: "matrix" }, make("thead", {}, make("tr", {}, make("th"), ...heads)), make("tbody", {}, ...rows));
    this.table.setAttribute("aria-hidden", "true");  // the words say the same
    this.table.style.setProperty("--rows", this.rows);
    this.table.style.setProperty("--columns", this.columns);
    return this.table;
  }

  mark(row, column) {
    [...this.table.rows].forEach((line, index) => {
      line.classList.toggle("chosen", index - 1 === row);
      [...line.cells].forEach((cell, position) => cell.classList.toggle("chosen", position - 1 === column));
    });
  }

  /** The source as a model without attention has it. */
  drawVector(vector) {
    const canvas = make("canvas", { className: "vector", width: VECTOR_COLUMNS, height: Math.ceil(vector.length / VECTOR_COLUMNS) });
    canvas.setAttribute("aria-hidden", "true");
    const context = canvas.getContext("2d");
    vector.forEach((value, index) => {
      context.globalAlpha = Math.min(1, Math.abs(value));
      context.fillStyle = colour(value > 0 ? "--attend" : "--reverse");
      context.fillRect(index % VECTOR_COLUMNS, Math.floor(index / VECTOR_COLUMNS), 1, 1);
    });
    canvas.style.height = `${canvas.height * 12}px`;
    const explanation = `These ${grouped(vector.length)} numbers are all that the decoder receives of the sentence, however long.`;
    this.node.append(make("p", { className: "plain", textContent: explanation }), canvas);
  }
}
