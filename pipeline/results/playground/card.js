// A model's translation on the page: its words, what they attend to, and how the model has the source.

const VECTOR_COLUMNS = 64;

/** Words with spaces where their text has them, so that both need not stand there; behind it, what is no text. */
function spaced(tokens, nodes, text) {
  const node = make("div", { className: "sentence text" });
  let at = 0;
  tokens.forEach((token, index) => {
    const written = token === "@-@" ? "-" : unescaped(token);
    if (/\s/.test(text.charAt(at))) { node.append(" "); at += 1; }
    if (text.startsWith(written, at)) at += written.length;
    else at = Infinity;
    node.append(nodes[index]);
  });
  if (at !== text.length) return line(nodes);  // a text that is not its tokens in their order
  nodes.slice(tokens.length).forEach((other) => node.append(" ", other));
  return node;
}

class ModelCard extends AttentionCard {
  constructor(model, translator) {
    super();
    this.label = model.label;
    this.aligns = model.aligns;
    this.translator = translator;
    this.node = make("article", { className: "card" });
    this.node.setAttribute("aria-label", model.label);
  }

  say(text) { element("said").textContent = text; }

  leave() { element("source").focus(); }

  weight(row, column) { return this.weights[row][column]; }

  /** Draw what is known of a translation. */
  show(source, found, reference, facts) {
    const { words, weights, ended } = found;
    this.last = [source, found, reference, facts];
    this.weights = weights;
    this.rows = words.length + (ended ? 1 : 0);
    this.columns = weights[0]?.length ?? 0;
    this.write(source, words, ended);
    if (reference) this.markOthers(words, reference);
    const top = make("div", { className: "top" }, make("h2", { textContent: this.label }),
      make("span", { className: "facts", textContent: facts.join(" · ") }));
    this.node.replaceChildren(top, this.targetLine);
    if (this.aligns && this.rows) {
      this.node.append(make("span", { className: "kind", textContent: "Source" }), this.sourceLine);
      this.makeExplorable(this.node);
      this.drawMatrix();
    }
    if (found.vector) this.drawVector(found.vector);
  }

  write(source, words, ended) {
    const { sourceText, targetText, known } = this.translator;
    const shown = (list, end) => [...list.map((token) => word(unescaped(token))), ...(end ? [word(END, true)] : [])];
    this.setWords(shown(source, this.columns > source.length), shown(words, ended));
    source.forEach((token, index) => {
      if (known.source.has(token)) return;
      this.sourceWords[index].classList.add("strange");
      this.sourceWords[index].title = "unknown: the models read [UNK]";
    });
    this.sourceLine = spaced(source, this.sourceWords, sourceText.text(source));
    this.targetLine = spaced(words, this.targetWords, targetText.text(words));
    this.targetLine.classList.add("translation");
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
