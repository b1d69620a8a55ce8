"use strict";

// What the pages share: small things, BLEU of a sentence, words that show what they attend to, and the matrix of it all.

const NGRAMS = [0, 1, 2, 3];
const UNKNOWN = "[UNK]";
const END = "end";

const element = (id) => document.getElementById(id);
const format = (value, digits = 1) => value.toFixed(digits);
const grouped = (value) => value.toLocaleString("en");
const split = (text) => (text ? text.split(" ") : []);
const text = (node) => node.firstChild.textContent;
/** Pixels of what is one at the usual size of text. */
const rootUnit = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
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

function nextTheme(redraw) {
  const themes = ["", "light", "dark"];
  const root = document.documentElement;
  const next = themes[(themes.indexOf(root.dataset.theme ?? "") + 1) % themes.length];
  root.dataset.theme = next;
  element("theme").textContent = { "": "◐", light: "☀", dark: "☾" }[next];
  element("theme").setAttribute("aria-label", `Colours: ${next || "as the system"}`);
  redraw();
}

/** Only the chosen word of a line is reached by Tab. */
function rove(nodes, index) {
  nodes.forEach((node, other) => { node.tabIndex = other === index ? 0 : -1; });
}

// --- words -----------------------------------------------------------------------------------------------------------

/** A word of a sentence, or the mark of its end. */
function word(text, isEnd = false) {
  const node = make("span", { className: "word", textContent: isEnd ? "⟨end⟩" : text });
  node.classList.toggle("unknown", text === UNKNOWN && !isEnd);
  node.classList.toggle("end", isEnd);
  return node;
}

/** A sentence of words. */
function line(words) {
  const node = make("div", { className: "sentence" });
  words.forEach((word) => node.append(word, " "));
  return node;
}

// --- BLEU of a sentence ------------------------------------------------------------------------------------------------

function bleuCounts(correct, length, reference) {
  return { correct, total: NGRAMS.map((n) => Math.max(0, length - n)), length, reference };
}

const brevity = ({ length, reference }) => (length >= reference ? 1 : length ? Math.exp(1 - reference / length) : 0);

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

// --- a translation and what each word attends to -------------------------------------------------------------------------

/** Source and translation of which each word, pointed at or focused, shows its weights, and the matrix of them.
 *
 * A subclass has `label`, `rows` (target words, perhaps with the end), `columns`, and says `weight(row, column)`, 0 to 1;
 * `say` what a screen reader is told, and `leave` where Escape leads.
 */
class AttentionCard {
  setWords(sourceWords, targetWords) {
    this.sourceWords = sourceWords;
    this.targetWords = targetWords;
    this.sourceLine = line(sourceWords);
    this.targetLine = line(targetWords);
  }

  /** Mark the words that the reference does not have, or not so often. */
  markOthers(words, reference) {
    const left = new Map();
    reference.forEach((one) => left.set(one, (left.get(one) ?? 0) + 1));
    words.forEach((one, index) => {
      if (left.get(one)) left.set(one, left.get(one) - 1);
      else {
        this.targetWords[index].classList.add("other");
        this.targetWords[index].title = "not in the reference";
      }
    });
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
        this.leave();
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
    this.say(`${this.label}: ${text(chosen)} ${relation} ${named.join(", ") || "nothing much"}`);
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
    const unit = rootUnit();
    const font = `${12 * unit}px system-ui, 'DejaVu Sans', sans-serif`;
    context.font = font;
    const [left, above] = labels.map((side) => 8 + Math.min(130, Math.max(...side.map((word) => context.measureText(word).width))));
    const room = this.node.clientWidth - 34 * unit - left;
    const cell = Math.max(3, Math.min(32 * unit, Math.max(14 * unit, 560 / this.rows), Math.floor(room / this.columns)));
    const [width, height] = [left + cell * this.columns + 6, above + cell * this.rows + 6];  // the last label may be wider than its cell
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
