// BLEU against length, of the sentences tried whose reference is known.

/** BLEU of one sentence. Orders of n-grams for which it is too short do not count; orders without a match count half a
 * match, then a quarter, ... */
function sentenceBleu(words, reference) {
  const grams = (list, n) => list.slice(n).map((_, start) => list.slice(start, start + n + 1).join(" "));
  let [half, sum, orders] = [1, 0, 0];
  for (const n of [0, 1, 2, 3]) {
    const unmatched = new Map();
    for (const gram of grams(reference, n)) unmatched.set(gram, (unmatched.get(gram) ?? 0) + 1);
    const wordGrams = grams(words, n);
    const correct = wordGrams.filter((gram) => {
      const count = unmatched.get(gram) ?? 0;
      unmatched.set(gram, count - 1);
      return count > 0;
    }).length;
    if (!wordGrams.length || (n === 0 && !correct)) break;
    if (!correct) half /= 2;
    sum += Math.log((correct || half) / wordGrams.length);
    orders += 1;
  }
  const brevity = Math.min(1, Math.exp(1 - reference.length / Math.max(1, words.length)));
  return orders ? 100 * brevity * Math.exp(sum / orders) : 0;
}

const TICKS = [0, 25, 50, 75, 100];

class Curve {
  /** `models` with label and kind; `trained`: words of the longest sentences in their training; `maxWords`: end of the axis. */
  constructor(models, trained, maxWords) {
    Object.assign(this, { labels: models.map(({ label }) => label), trained, maxWords, tried: [] });
    this.classes = models.map(({ aligns }, index) => `${aligns ? "attention" : "no-attention"} m${index}`);
  }

  /** One more sentence: its words, and a value of each model; a model that was not asked has null. */
  add(words, values) {
    this.tried = [...this.tried.filter((entry) => entry.words !== words), { words, values }].sort((a, b) => a.words - b.words);
  }

  draw() {
    const [width, height, left, below, above] = [Math.max(280, element("plot").clientWidth), 240, 42, 38, 20];
    const axisEnd = Math.max(this.maxWords, ...this.tried.map(({ words }) => words)) + 2;
    const right = 16 + 7 * Math.max(...this.labels.map((label) => label.length));  // room for a name behind the last point
    const x = (words) => left + ((width - left - right) * words) / axisEnd;
    const y = (value) => above + ((height - below - above) * (100 - value)) / 100;
    const node = (tag, values, content = "") => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      Object.entries(values).forEach(([name, value]) => made.setAttribute(name, value));
      made.textContent = content;
      return made;
    };
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}` });
    for (const value of TICKS) {
      svg.append(node("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
        node("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value));
    }
    for (let words = 10; words <= axisEnd; words += 10) svg.append(node("text", { x: x(words), y: height - 20, "text-anchor": "middle" }, words));
    svg.append(node("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, "Words of the sentence"));
    for (const words of this.trained) {
      svg.append(node("line", { class: "limit", x1: x(words), x2: x(words), y1: above, y2: height - below }),
        node("text", { x: x(words), y: above - 7, "text-anchor": "middle" }, `trained up to ${words}`));
    }
    const nameHeights = [];
    // from the last model to the first, so that the first one's smaller points lie on top of equal ones
    [...this.labels.entries()].reverse().forEach(([index, label]) => {
      const points = this.tried.filter(({ values }) => values[index] !== null).map(({ words, values }) => [x(words), y(values[index])]);
      if (!points.length) return;
      svg.append(node("polyline", { class: this.classes[index], points: points.map((point) => point.join(",")).join(" ") }));
      points.forEach(([center, value]) => svg.append(index
        ? node("rect", { class: this.classes[index], x: center - 4.5, y: value - 4.5, width: 9, height: 9 })
        : node("circle", { class: this.classes[index], cx: center, cy: value, r: 3.5 })));
      const [end, value] = points.at(-1);
      let nameHeight = value;
      while (nameHeights.some((other) => Math.abs(other - nameHeight) < 14)) nameHeight += 14;
      nameHeights.push(nameHeight);
      svg.append(node("text", { class: "name", x: end + 8, y: nameHeight + 4 }, label));
    });
    element("plot").replaceChildren(svg);
    this.fillNumbers();
  }

  fillNumbers() {
    const cell = (tag, textContent, scope) => Object.assign(make(tag, { textContent }), scope ? { scope } : {});
    const head = ["Words", ...this.labels.map((label) => `BLEU of ${label}`)].map((name) => cell("th", name, "col"));
    const rows = this.tried.map(({ words, values }) =>
      make("tr", {}, cell("th", words, "row"), ...values.map((value) => cell("td", value === null ? "" : format(value)))));
    element("numbers").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
  }
}
