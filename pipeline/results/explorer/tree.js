// The tree that a gated recursive convolution makes of a sentence (Cho et al. 2014b, Fig. 6).

const TREE = "Tree: nodes pass on a child (blue) or merge both (orange), as far as their gates are open";
const LEAST = 0.1;                  // gates up to this are not shown, as in the paper
const LEAF = 44, STEP = 26;         // pixels between words and between levels
const MERGE = 0.4;                  // levels between a node and where its children are merged

function shape(tag, values) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
  return node;
}

/** A picture of the nodes that the root is made of; `gatesOf` gives [new, left, right] of the n-th node above the words. */
function treePicture(words, gatesOf) {
  const height = STEP * words.length, x = (level, place) => LEAF * (place + level / 2 + 0.5);
  const y = (level) => height - STEP * level;
  const longest = Math.max(...words.map((word) => word.length));
  const size = [LEAF * words.length, height + 12 + 7 * longest];
  const picture = shape("svg", { class: "tree", viewBox: `0 -10 ${size[0]} ${size[1] + 10}`, width: size[0], role: "img" });
  picture.setAttribute("aria-label", `Tree over ${words.length} leaves`);
  const line = (kind, gate, ...ends) => picture.append(shape("polyline", {
    class: kind, points: ends.map((end) => end.join(",")).join(" "), "stroke-width": 4 * gate }));
  const dots = [];
  let wanted = new Set([0]);
  for (let level = words.length - 1; level > 0; level -= 1) {
    const below = new Set();
    const before = (level - 1) * words.length - (level - 1) * level / 2;   // nodes of the levels below, words left out
    for (const place of wanted) {
      const [merged, left, right] = gatesOf(before + place);
      const here = [x(level, place), y(level)];
      const children = [0, 1].map((side) => [x(level - 1, place + side), y(level - 1)]);
      [left, right].forEach((gate, side) => { if (gate > LEAST) line("passed", gate, here, children[side]); });
      if (merged > LEAST) {
        const middle = [here[0], y(level - MERGE)];
        line("merged", merged, here, middle);
        children.forEach((child) => line("merged", merged, middle, child));
      }
      if (Math.max(merged, left) > LEAST) below.add(place);
      if (Math.max(merged, right) > LEAST) below.add(place + 1);
      dots.push(shape("circle", { cx: here[0], cy: here[1], r: 3.5 }));
    }
    wanted = below;
  }
  picture.append(...dots);
  words.forEach((text, place) => {
    const [left, top] = [x(0, place), y(0)];
    const node = shape("text", { x: left, y: top + 8, transform: `rotate(90 ${left} ${top + 8})` });
    node.textContent = text;
    picture.append(shape("circle", { class: "leaf", cx: left, cy: top, r: 2.5 }), node);
  });
  return make("div", { className: "forest" }, picture);
}
