// Shows Markdown that other people wrote: no raw HTML, no remote image, links only to http(s).
// [n] becomes a badge when a source n exists; sentences that nothing supports are marked.
import { createContext, memo, useContext, useEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import Markdown from "react-markdown";
import remarkGfm from "remark-gfm";

const REMARK = [remarkGfm];
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
function annotate({ markers, unsupported, quote, skip }) {
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

const element = (tagName, properties, children) => ({ type: "element", tagName, properties, children });

const isWeb = (href) => /^https?:\/\//i.test(href ?? "");

// Badges read what changes from here, so that they stay the same elements and keep the focus.
const Citing = createContext(null);

function Badge({ marker }) {
  const ref = useRef(null);
  const { byMarker, openMarker, label, onOpen, onPoint } = useContext(Citing);
  const source = byMarker.get(Number(marker));
  if (!source) return null;
  const point = () => onPoint({ source, element: ref.current });
  return (
    <a
      ref={ref}
      className="cite"
      href={source.href}
      data-marker={marker}
      aria-label={`${label} ${marker}: ${source.place} ${source.title}`}
      aria-current={openMarker === source.marker ? "true" : undefined}
      onPointerEnter={(event) => event.pointerType === "mouse" && point()}
      onPointerLeave={() => onPoint(null)}
      onFocus={(event) => event.target.matches(":focus-visible") && point()}
      onBlur={() => onPoint(null)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
        event.preventDefault();
        onPoint(null, true);
        onOpen(source.marker);
      }}
    >
      {marker}
    </a>
  );
}

function UnsupportedWords({ children }) {
  return <span className="unsupported" title={useContext(Citing)?.unsupportedLabel}>{children}</span>;
}

// The passage behind a badge, while the pointer or the keyboard rests on it.
function Passage({ pointed, onKeep, onLeave }) {
  const ref = useRef(null);
  const [at, setAt] = useState(null);
  useEffect(() => {
    const badge = pointed.element.getBoundingClientRect();
    const box = ref.current.getBoundingClientRect();
    const middle = (badge.left + badge.right - box.width) / 2;
    const left = Math.min(Math.max(8, middle), window.innerWidth - box.width - 8);
    const above = badge.top - box.height - 8;
    setAt({ left, top: above > 8 ? above : badge.bottom + 8 });
  }, [pointed]);
  const { source } = pointed;
  return createPortal(
    <div
      ref={ref}
      className="passage"
      role="tooltip"
      style={at ?? { left: 0, top: 0, visibility: "hidden" }}
      onPointerEnter={onKeep}
      onPointerLeave={onLeave}
    >
      <p className="passage-place">
        {source.place && <b>{source.place}</b>} <span dir="auto">{source.title}</span>
      </p>
      <p className="passage-words" dir="auto">{source.excerpt}</p>
    </div>,
    document.body,
  );
}

const Block = memo(function Block({ text, markers, unsupported, quote, skip }) {
  const plugins = useMemo(
    () => [[annotate, { markers, unsupported, quote, skip }]],
    [markers, unsupported, quote, skip],
  );
  return (
    <Markdown remarkPlugins={REMARK} rehypePlugins={plugins} components={COMPONENTS}>
      {text}
    </Markdown>
  );
});

const directed = (Tag) => function Directed({ children, style, start }) {
  return <Tag dir="auto" style={style} start={start}>{children}</Tag>;
};

const COMPONENTS = {
  "cite-badge": Badge,
  "unsupported-words": UnsupportedWords,
  a: ({ href, children }) =>
    isWeb(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">{children}</a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt }) => <span className="image-words">{alt}</span>,
  pre: ({ children }) => <pre tabIndex={0} dir="ltr">{children}</pre>,
  table: ({ children }) => <div className="table-frame" tabIndex={0}><table>{children}</table></div>,
  p: directed("p"),
  ul: directed("ul"),
  ol: directed("ol"),
  li: directed("li"),
  blockquote: directed("blockquote"),
  h1: directed("h3"),
  h2: directed("h3"),
  h3: directed("h4"),
  h4: directed("h5"),
  h5: directed("h5"),
  h6: directed("h5"),
};

const NONE = [];

export function AnswerText({
  text = "", head = "", middle = "", tail = "", sources = NONE, unsupported = NONE,
  sourceLabel = "Source", unsupportedLabel = "", openMarker = 0, isRunning = false, onOpen,
}) {
  const whole = text + head + middle + tail;
  const blocks = useMemo(() => splitBlocks(whole), [whole]);
  const key = sources.map((source) => `${source.marker}:${source.href}`).join(" ");
  const byMarker = useMemo(() => new Map(sources.map((source) => [source.marker, source])), [key]);
  const markers = useMemo(() => new Set(byMarker.keys()), [byMarker]);
  const [pointed, setPointed] = useState(null);
  const timer = useRef(0);
  const open = useRef(onOpen);
  open.current = onOpen;
  const point = useRef((next, now) => {
    clearTimeout(timer.current);
    if (next || now) setPointed(next);
    else timer.current = setTimeout(() => setPointed(null), 120);
  }).current;
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!pointed) return undefined;
    const leave = (event) => event.key === "Escape" && (event.stopPropagation(), setPointed(null));
    document.addEventListener("keydown", leave, true);
    return () => document.removeEventListener("keydown", leave, true);
  }, [pointed]);
  const citing = useMemo(
    () => ({
      byMarker,
      openMarker,
      label: sourceLabel,
      unsupportedLabel,
      onOpen: (marker) => open.current(marker),
      onPoint: point,
    }),
    [byMarker, openMarker, sourceLabel, unsupportedLabel, point],
  );
  return (
    <Citing.Provider value={citing}>
      <div className="answer-text" data-running={isRunning || undefined}>
        {blocks.map((block, number) => (
          <Block key={number} text={block} markers={markers} unsupported={unsupported} />
        ))}
      </div>
      {pointed && (
        <Passage pointed={pointed} onKeep={() => clearTimeout(timer.current)} onLeave={() => point(null)} />
      )}
    </Citing.Provider>
  );
}

// A stretch of a document with the cited words marked in it.
export function QuotedText({ before = "", quote = "", after = "", label = "" }) {
  const ref = useRef(null);
  const whole = before + quote + after;
  const skip = useMemo(() => {
    const needle = essence(stripLinks(quote)).text;
    return needle ? essence(stripLinks(before)).text.split(needle).length - 1 : 0;
  }, [before, quote]);
  useEffect(() => {
    const mark = ref.current?.querySelector("mark");
    const column = document.getElementById("main");
    if (mark) mark.scrollIntoView({ block: "center" });
    else if (column) column.scrollTop = 0;
  }, [whole]);
  return (
    <div ref={ref} className="quoted-text" aria-label={label} role="group">
      <Block text={whole} markers={null} unsupported={NONE} quote={quote} skip={skip} />
    </div>
  );
}
