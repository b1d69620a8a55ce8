// Moses' tokenizer and detokenizer, as in nmt/data/tokenization.py.

const WHITE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACES = new RegExp(`[${WHITE}]+`, "u");
const DELETED = /^\ufeff+|\r+$|[\x00-\x08\x0e-\x1f]/g;
const UNSAFE = /[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/g;
const LINE_SEPARATORS = /[\x0b\x0c\r\x85\u2028\u2029]/g;
const UNKNOWN_WORD = "[UNK]";
const UNKNOWN_LETTER = "Ꙗ";
const ESCAPED = [
  ["&", "&amp;"], ["|", "&#124;"], ["<", "&lt;"], [">", "&gt;"], ["'", "&apos;"], ['"', "&quot;"], ["[", "&#91;"],
  ["]", "&#93;"],
];
const OLDER = [["|", "&bar;"], ["[", "&bra;"], ["]", "&ket;"]];

const rule = (pattern, replacement) => [new RegExp(pattern, "gu"), replacement];
const applyRules = (rules, text) => rules.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
const splitWords = (text) => text.split(SPACES).filter(Boolean);
const repairLine = (line) => line.replace(/\p{Cs}/gu, "\ufffd").replace(DELETED, "").replace(LINE_SEPARATORS, " ");
const safeTokens = (tokens) => tokens.map((token) => token.replace(UNSAFE, "")).filter(Boolean);
const unescaped = (text) =>
  [...OLDER, ...ESCAPED.slice(1), ESCAPED[0]].reduce((now, [meant, written]) => now.replaceAll(written, meant), text);

/** The rules of the tokenizer. `alpha`, `alnum` and `number` are Moses' classes of characters, as parts of patterns. */
function makeRules(language, { alpha, alnum, number }) {
  const separate = rule(`([^${alpha}])'([^${alpha}])`, "$1 ' $2");
  const afterWord = rule(`([${alpha}])'([^${alpha}])`, "$1 ' $2");
  const romance = [separate, rule(`([^${alpha}])'([${alpha}])`, "$1 ' $2"), afterWord, rule(`([${alpha}])'([${alpha}])`, "$1' $2")];
  const english = [
    separate, rule(`([^${alpha}${number}])'([${alpha}])`, "$1 ' $2"), afterWord, rule(`([${alpha}])'([${alpha}])`, "$1 '$2"),
    rule(`([${number}])'(s)`, "$1 '$2"),
  ];
  return {
    padded: rule(`([^${alnum}${WHITE}.'\`,\\-])`, " $1 "),
    hyphens: rule(`([${alnum}])-(?=[${alnum}])`, "$1 @-@ "),
    commas: [rule(`([^${number}]),`, "$1 , "), rule(`,([^${number}])`, " , $1"), rule(`([${number}]),$`, "$1 , ")],
    apostrophes: { en: english, fr: romance, it: romance }[language] ?? [rule("'", " ' ")],
  };
}

/** Tokenized text, with spaces between the tokens, in any language. */
class TokenText {
  tokens(line) { return splitWords(repairLine(line)); }

  text(tokens) { return safeTokens(tokens).join(" "); }
}

class Tokenizer {
  /** `prefixes`: words that keep their full stop, always (`plain`) or before a number (`numeric`). */
  constructor(language, settings, { prefixes, classes, normalization, parts }) {
    Object.assign(this, { language, settings, rules: makeRules(language, classes), normalization, parts });
    this.removed = normalization.removed && new RegExp(normalization.removed, "gu");
    this.apostrophe = normalization.apostrophe && new RegExp(normalization.apostrophe, "gu");
    this.partOfWord = parts && new RegExp(parts.pattern, "gu");
    this.unpaired = parts?.unpaired && new RegExp(parts.unpaired, "gu");
    this.letter = new RegExp(`[${classes.alpha}]`, "u");
    this.small = new RegExp(`^[${classes.lower}]`, "u");
    this.plain = new Set(prefixes.plain);
    this.numeric = new Set(prefixes.numeric);
  }

  /** As in nmt/data/normalization.py. */
  normalize(line) {
    const { composed, replaced } = this.normalization;
    let text = composed ? line.replace(this.removed, "$1").normalize("NFC") : line;
    if (this.apostrophe) text = text.replace(this.apostrophe, "'");
    return [...text].map((letter) => replaced[letter] ?? letter).join("");
  }

  /** As in nmt/data/parts_of_words.py: the text with placeholders, and the hidden part of each placeholder. */
  hideParts(text) {
    if (!this.parts) return [text, new Map()];
    const found = [...text.matchAll(this.partOfWord)];
    const open = [];
    for (const match of this.unpaired ? text.matchAll(this.unpaired) : []) {
      if (match.groups.opening) open.push(match);
      else if (!open.pop()) found.push(match);
    }
    const placeholders = new Map();
    const letters = [...this.parts.placeholders];
    let [hidden, end] = ["", 0];
    for (const match of [...found, ...open].sort((a, b) => a.index - b.index)) {
      const part = match[0];
      if (!placeholders.has(part) && placeholders.size === letters.length) continue;
      if (!placeholders.has(part)) placeholders.set(part, letters[placeholders.size]);
      const letter = placeholders.get(part);
      hidden += text.slice(end, match.index) + ([...part].length === 1 ? letter : ` ${letter} `);
      end = match.index + part.length;
    }
    return [hidden + text.slice(end), new Map([...placeholders].map(([part, letter]) => [letter, part]))];
  }

  /** `[UNK]` is one unknown word: it comes through the rules as a letter. */
  tokens(text) {
    if (!text.includes(UNKNOWN_WORD)) return this.tokensOfText(text);
    const elides = ["fr", "it"].includes(this.language);
    const line = elides ? text.replace(/(?<=[\p{L}\p{N}_]') (?=\[UNK\])/gu, "") : text;
    const words = this.tokensOfText(line.replaceAll(UNKNOWN_WORD, UNKNOWN_LETTER));
    return words.map((word) => word.replaceAll(UNKNOWN_LETTER, UNKNOWN_WORD));
  }

  tokensOfText(line) {
    const [visible, parts] = this.hideParts(this.normalize(repairLine(line)));
    let text = splitWords(visible).join(" ");
    const { padded, hyphens, commas, apostrophes } = this.rules;
    text = applyRules([padded, ...(this.settings.split_hyphens ? [hyphens] : [])], text);
    text = text.replace(/\.{2,}/g, (dots, at) =>
      ` ${"DOT".repeat(dots.length)}MULTI${at + dots.length < text.length ? " " : ""}`);
    text = applyRules([...commas, ...apostrophes], text);
    text = splitWords(this.splitFullStops(splitWords(text))).join(" ").replace(/\.' ?$/, " . ' ");
    text = text.replace(/(?:DOT)+MULTI/g, (marks) => ".".repeat((marks.length - 5) / 3));
    const escaped = (unescapedText) => (this.settings.escape ? ESCAPED.reduce((now, [a, b]) => now.replaceAll(a, b), unescapedText) : unescapedText);
    return splitWords([...escaped(text)].map((letter) => (parts.has(letter) ? escaped(parts.get(letter)) : letter)).join(""));
  }

  /** Separate full stops, but not from abbreviations, nor before words in lower case. */
  splitFullStops(tokens) {
    return tokens.map((token, place) => {
      if (token.length < 2 || !token.endsWith(".")) return token;
      const prefix = token.slice(0, -1);
      const next = tokens[place + 1] ?? "";
      const kept = (prefix.includes(".") && this.letter.test(prefix))
        || (this.plain.has(prefix) && !this.numeric.has(prefix))
        || this.small.test(next)
        || (this.numeric.has(prefix) && /^[0-9]/.test(next));
      return kept ? token : `${prefix} .`;
    }).join(" ");
  }
}

// --- text of tokens: of Moses' rules and the project's those for English, French and German, and for any language -----

const CURRENCY = "$€£¥¢";
const CURRENCY_BEHIND = ["fr", "es", "de", "pt"];
const ELIDED = /^(?:.*-)?(?:[cdjlmnst]|[\p{L}\p{N}_]*qu|aujourd|entr)$/iu;
const INITIALS = /^[A-Z]{1,2}$/;
const APOSTROPHES = ["’", "'", "&apos;"];
const CONTRACTED = /^(?:s|t|d|m|ll|re|ve)$/i;

class Detokenizer {
  constructor(language, settings, { classes: { detokenized: alpha, currency, cjk }, wrongSpace }) {
    Object.assign(this, { language, settings, french: language === "fr", english: language === "en" });
    this.opening = new RegExp(`^[${currency}(\\[{¿¡]+$`, "u");
    this.contracted = new RegExp(`^'[${alpha}]`, "u");
    this.elided = new RegExp(`[${alpha}]'$`, "u");
    this.letter = new RegExp(`^[${alpha}]`, "u");
    this.wrongSpace = new RegExp(wrongSpace, "gu");
    this.hasWholeWords = (settings.normalization ?? "none") !== "none";
    this.cjk = [new RegExp(`^[${cjk}]`, "u"), new RegExp(`[${cjk}]$`, "u")];
  }

  text(allTokens) {
    const tokens = safeTokens(allTokens);
    const leading = CURRENCY_BEHIND.includes(this.language) ? CURRENCY : "¢";
    const symbols = [...leading].filter((symbol) => tokens.includes(symbol)).sort();
    const placeholder = new Map(symbols.map((symbol, index) => [symbol, String.fromCodePoint(0xe000 + index)]));
    const words = tokens.map((token, place) =>
      (placeholder.has(token) && this.isAfterNumber(tokens, place) ? placeholder.get(token) : token));
    let text = ` ${this.glueTokens(words).join(" ")} `.replaceAll(" @-@ ", "-");
    if (this.settings.escape) text = unescaped(text);
    text = this.joinWords(splitWords(text)).replace(/ {2,}/g, " ").replace(/^ | $/g, "");
    return symbols.reduce((now, symbol) => now.replaceAll(placeholder.get(symbol), symbol), text).replace(this.wrongSpace, "");
  }

  /** Whether a currency symbol follows what is before it, as in "5 €", rather than preceding a number, as in "€ 5". */
  isAfterNumber(tokens, place) {
    return /\p{Nd}$/u.test(tokens[place - 1] ?? "") || !/^\p{Nd}/u.test(tokens[place + 1] ?? "");
  }

  /** Tokens that the language writes without a space are joined, where Moses' rules leave them apart. */
  glueTokens(tokens) {
    const words = [];
    let glue = false;
    tokens.forEach((token, place) => {
      const [left, right] = this.joins(words.at(-1) ?? "", token, tokens[place + 1] ?? "");
      if (words.length && (glue || left)) words[words.length - 1] += token;
      else words.push(token);
      glue = right;
    });
    return words;
  }

  /** Whether a token is joined with the one before, and with the one after. */
  joins(before, token, after) {
    if (APOSTROPHES.includes(token)) return before ? this.aroundApostrophe(before, token, after) : [false, false];
    if (["/", "&", "&amp;"].includes(token)) {
      const words = /[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(after);
      const meet = words && (token === "/" || (INITIALS.test(before) && INITIALS.test(after)));
      return [meet, meet];
    }
    if (token === ":" && !this.french && /\p{Nd}$/u.test(before) && /^\p{Nd}/u.test(after)) return [true, true];
    const curly = this.english || this.french;
    const numberSign = token === "°" && this.french && before.toLowerCase() === "n";
    const unit = /^[\ue000-\uf8ff]$/.test(token)
      && ((this.english && /\p{Nd}$/u.test(before)) || (this.french && ["M", "Md"].includes(before)));
    return [(token === "”" && curly) || numberSign || unit, token === "“" && curly];
  }

  aroundApostrophe(before, apostrophe, after) {
    const typographic = apostrophe === "’";
    if (typographic && /\p{Nd}$/u.test(before) && /^\p{Nd}/u.test(after)) return [true, true];
    if (this.french && after && ELIDED.test(before.split("’").at(-1))) {
      const meet = /^[\p{L}\p{N}]/u.test(after) || ["«", "“"].includes(after);
      return [meet, meet];
    }
    if (!typographic || !this.english || !/\p{L}$/u.test(before)) return [false, false];
    const ending = CONTRACTED.test(after);
    return [ending || before.endsWith("s"), ending];
  }

  joinWords(tokens) {
    const quotes = new Map();
    let text = "";
    let space = " ";
    tokens.forEach((token, place) => {
      const attachLeft = () => { text += token; space = " "; };
      const attachRight = () => { text += space + token; space = ""; };
      if (!this.hasWholeWords && this.cjk[0].test(token)) {
        text += (place && this.cjk[1].test(tokens[place - 1]) ? "" : space) + token;
        space = " ";
      } else if (this.opening.test(token)) attachRight();
      else if (/^[,.?!:;\\%}\])]+$/.test(token)) {
        if (this.french && /^[?!:;\\%]$/.test(token)) text += " ";
        attachLeft();
      } else if (this.english && place && this.contracted.test(token)) attachLeft();
      else if (this.french && place <= tokens.length - 2 && this.elided.test(token) && this.letter.test(tokens[place + 1])) attachRight();
      else if (/^['"„“`]+$/.test(token)) {
        const mark = /^[„“”]+$/.test(token) ? '"' : token;
        const open = (quotes.get(mark) ?? 0) % 2 === 0;
        const possessive = open && this.english && token === "'" && place && tokens[place - 1].endsWith("s");
        if (!possessive) quotes.set(mark, (quotes.get(mark) ?? 0) + 1);
        if (open && !possessive) attachRight();
        else attachLeft();
      } else { text += space + token; space = " "; }
    });
    return text;
  }
}
