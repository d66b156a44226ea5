// Shows Markdown that other people wrote: no raw HTML, no remote image, links only to http(s).
// [n] becomes a badge when a source n exists; sentences that nothing supports are marked.
import { createContext, memo, useContext, useEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import Markdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { annotate, countBefore, splitBlocks } from "./marking.js";

const REMARK = [remarkGfm];
const isWeb = (href) => /^https?:\/\//i.test(href ?? "");

// Badges read what changes from here, so that they stay the same elements and keep the focus.
const Citing = createContext(null);

function Badge({ marker }) {
  const ref = useRef(null);
  const { byMarker, openMarker, label, onOpen, onPoint } = useContext(Citing);
  const source = byMarker.get(Number(marker));
  if (!source) return null;
  // two sentences that cite one source rest on different words of it
  const occurrence = () => {
    const answer = ref.current.closest(".answer-text");
    return [...answer.querySelectorAll(`[data-marker="${marker}"]`)].indexOf(ref.current);
  };
  const point = () => {
    const excerpt = source.excerpts?.[occurrence()] ?? source.excerpt;
    onPoint({ source: { ...source, excerpt }, element: ref.current });
  };
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
        onOpen(source.marker, occurrence());
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
      onOpen: (marker, occurrence) => open.current(marker, occurrence),
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
  const skip = useMemo(() => countBefore(before, quote), [before, quote]);
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
