// BLEU against length, of the sentences tried.

class Curve {
  /** `labels` of the models; the axis of lengths reaches `most` words. */
  constructor(labels, most) {
    Object.assign(this, { labels, most, tried: [] });
  }

  /** One more sentence: its words, and BLEU of each model; a model that was not asked has null. */
  add(words, bleu) {
    this.tried = this.tried.filter((one) => one.words !== words);
    this.tried.push({ words, bleu });
    this.tried.sort((a, b) => a.words - b.words);
  }

  draw() {
    const [width, height, left, below] = [Math.max(280, element("plot").clientWidth / rootUnit()), 240, 34, 38];
    const longest = Math.max(this.most, ...this.tried.map(({ words }) => words)) + 2;
    const right = 16 + 7 * Math.max(...this.labels.map((label) => label.length));  // room for a name behind the last point
    const x = (words) => left + ((width - left - right) * words) / longest;
    const y = (bleu) => 8 + ((height - below - 8) * (100 - bleu)) / 100;
    const node = (tag, values, content = "") => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      Object.entries(values).forEach(([name, value]) => made.setAttribute(name, value));
      made.textContent = content;
      return made;
    };
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}` });
    for (const bleu of [0, 25, 50, 75, 100]) {
      svg.append(node("line", { class: "grid", x1: left, x2: width - right, y1: y(bleu), y2: y(bleu) }),
        node("text", { x: left - 6, y: y(bleu) + 4, "text-anchor": "end" }, bleu));
    }
    for (let words = 10; words <= longest; words += 10) svg.append(node("text", { x: x(words), y: height - 20, "text-anchor": "middle" }, words));
    svg.append(node("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, "Words of the sentence"));
    const names = [];  // heights at which one stands
    this.labels.forEach((label, index) => {
      const points = this.tried.filter(({ bleu }) => bleu[index] !== null).map(({ words, bleu }) => [x(words), y(bleu[index])]);
      if (!points.length) return;
      svg.append(node("polyline", { class: `m${index}`, points: points.map((point) => point.join(",")).join(" ") }));
      points.forEach(([at, value]) => svg.append(index
        ? node("rect", { class: `m${index}`, x: at - 3.5, y: value - 3.5, width: 7, height: 7 })
        : node("circle", { class: `m${index}`, cx: at, cy: value, r: 4 })));
      const [at, value] = points.at(-1);
      const free = names.some((other) => Math.abs(other - value) < 14) ? value + 14 : value;
      names.push(free);
      svg.append(node("text", { class: "name", x: at + 8, y: free + 4 }, label));
    });
    element("plot").replaceChildren(svg);
    this.fillNumbers();
  }

  fillNumbers() {
    const cell = (tag, textContent, scope) => Object.assign(make(tag, { textContent }), scope ? { scope } : {});
    const head = make("tr", {}, ...["Words", ...this.labels.map((label) => `BLEU of ${label}`)].map((name) => cell("th", name, "col")));
    const rows = this.tried.map(({ words, bleu }) =>
      make("tr", {}, cell("th", words, "row"), ...bleu.map((value) => cell("td", value === null ? "" : format(value)))));
    element("numbers").replaceChildren(make("table", {}, make("caption", { className: "unseen", textContent: "BLEU of the sentences tried" }),
      make("thead", {}, head), make("tbody", {}, ...rows)));
  }
}
