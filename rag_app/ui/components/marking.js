// Finds in a tree of Markdown where markers stand and where sentences begin and end.

const MARKER = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const SIGN = /[\p{L}\p{N}]/u;

// Finished blocks keep their text, so React leaves them alone while the last one grows.
export function splitBlocks(text) {
  const raw = [];
  let lines = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const mark = line.match(/^\s{0,3}(```+|~~~+)/);
    if (mark && !fence) fence = mark[1][0];
    else if (mark && mark[1][0] === fence) fence = "";
    if (line.trim() === "" && !fence) {
      if (lines.length) raw.push(lines.join("\n"));
      lines = [];
    } else {
      lines.push(line);
    }
  }
  if (lines.length) raw.push(lines.join("\n"));
  const blocks = [];
  for (const block of raw) {
    const last = blocks[blocks.length - 1];
    const continues = last && LIST_ITEM.test(last) && (LIST_ITEM.test(block) || /^\s/.test(block));
    if (continues) blocks[blocks.length - 1] = `${last}\n\n${block}`;
    else blocks.push(block);
  }
  return blocks;
}

// Letters and digits only, with the place of each: what is left when Markdown signs are gone.
function essence(text) {
  const signs = [];
  const places = [];
  const skipped = [];
  for (const found of text.matchAll(MARKER)) skipped.push([found.index, found.index + found[0].length]);
  let place = 0;
  for (const sign of text) {
    const isSkipped = skipped.some(([from, to]) => place >= from && place < to);
    if (!isSkipped && SIGN.test(sign)) {
      signs.push(sign.toLowerCase());
      places.push([place, place + sign.length]);
    }
    place += sign.length;
  }
  return { signs, places, text: signs.join("") };
}

const stripLinks = (text) => text.replace(/\]\([^)]*\)/g, "] ");

function textNodes(node, parent, found) {
  if (node.type === "text") found.push({ node, parent });
  else if (node.tagName !== "pre" && node.tagName !== "code") {
    (node.children ?? []).forEach((child) => textNodes(child, node, found));
  }
  return found;
}

// A rehype plugin: cuts text nodes at markers and at the borders of marked sentences.
export function annotate({ markers, unsupported, quote, skip }) {
  return (tree) => {
    const nodes = textNodes(tree, null, []);
    const whole = nodes.map(({ node }) => node.value).join("\u0000");
    const ranges = [];
    const hay = essence(whole);
    const mark = (sentence, name, occurrence) => {
      const needle = essence(stripLinks(sentence)).text;
      if (needle.length < 3) return;
      let at = -1;
      for (let n = 0; n <= occurrence; n += 1) {
        const next = hay.text.indexOf(needle, at + 1);
        if (next < 0) break;
        at = next;
      }
      if (at < 0) return;
      // signs may be longer than one unit, so count signs, not units
      const first = [...hay.text.slice(0, at)].length;
      const last = first + [...needle].length - 1;
      let end = hay.places[last][1];
      while (end < whole.length && /[.!?…"'”’»)\]]/.test(whole[end])) end += 1;
      ranges.push([hay.places[first][0], end, name]);
    };
    unsupported.forEach((sentence) => mark(sentence, "unsupported", 0));
    if (quote) mark(quote, "quoted", skip);
    let place = 0;
    for (const { node, parent } of nodes) {
      const pieces = cut(node.value, place, ranges, markers, parent?.tagName === "a");
      place += node.value.length + 1;
      if (pieces) {
        node.type = "element";
        node.tagName = "span";
        node.properties = {};
        node.children = pieces;
        delete node.value;
      }
    }
  };
}

function cut(value, offset, ranges, markers, isLink) {
  const spans = [];
  if (!isLink && markers) {
    for (const found of value.matchAll(MARKER)) {
      const numbers = found[1].split(",").map(Number).filter((number) => markers.has(number));
      if (numbers.length) {
        // the space before a badge goes, so that it never stands alone on a line
        const from = found.index - (/\s$/.test(value.slice(0, found.index)) ? 1 : 0);
        spans.push({ from, to: found.index + found[0].length, numbers });
      }
    }
  }
  const here = ranges
    .map(([from, to, name]) => [Math.max(0, from - offset), Math.min(value.length, to - offset), name])
    .filter(([from, to]) => from < to);
  if (!spans.length && !here.length) return null;
  const borders = new Set([0, value.length]);
  spans.forEach(({ from, to }) => borders.add(from).add(to));
  here.forEach(([from, to]) => borders.add(from).add(to));
  const sorted = [...borders].sort((a, b) => a - b);
  const pieces = [];
  for (let n = 0; n + 1 < sorted.length; n += 1) {
    const [from, to] = [sorted[n], sorted[n + 1]];
    const badge = spans.find((span) => span.from <= from && to <= span.to);
    if (badge) {
      if (badge.from === from) badge.numbers.forEach((number) => pieces.push(element("cite-badge", { marker: String(number) }, [])));
      continue;
    }
    const text = { type: "text", value: value.slice(from, to) };
    const range = here.find(([start, end]) => start <= from && to <= end);
    pieces.push(range ? element(range[2] === "quoted" ? "mark" : "unsupported-words", {}, [text]) : text);
  }
  return pieces;
}

// How often a quote occurs before the one that is meant.
export function countBefore(before, quote) {
  const needle = essence(stripLinks(quote)).text;
  return needle ? essence(stripLinks(before)).text.split(needle).length - 1 : 0;
}

const element = (tagName, properties, children) => ({ type: "element", tagName, properties, children });
