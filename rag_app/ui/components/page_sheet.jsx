// One page of a PDF as an image from our own server, with the cited words marked on it.
import { useCallback, useEffect, useRef, useState } from "react";
import { ChevronLeft, ChevronRight, Minus, Plus } from "lucide-react";

const ZOOMS = [1, 1.25, 1.5, 2, 3];
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export function PageSheet({ versionId, page = 1, pageCount = 1, start = 0, end = 0, title = "", labels }) {
  const [current, setCurrent] = useState(page);
  const [zoom, setZoom] = useState(0);
  const [boxes, setBoxes] = useState([]);
  const [state, setState] = useState("loading");
  const [attempt, setAttempt] = useState(0);
  const frame = useRef(null);
  const place = `/api/versions/${versionId}/pages/${current}`;
  const words = `start=${start}&end=${end}`;
  useEffect(() => setCurrent(page), [versionId, page, start, end]);
  useEffect(() => setState("loading"), [place, attempt]);
  useEffect(() => {
    setBoxes([]);
    if (end <= start) return undefined;
    const stop = new AbortController();
    fetch(`${place}/marks?${words}`, { signal: stop.signal })
      .then((answer) => (answer.ok ? answer.json() : { boxes: [] }))
      .then((found) => setBoxes(found.boxes))
      .catch(() => {});  // without marks the page is still worth showing
    return () => stop.abort();
  }, [place, words, attempt]);
  // a new page starts at its top, a cited one at its first mark
  useEffect(() => {
    if (state !== "shown") return;
    const mark = frame.current?.querySelector(".mark-box");
    if (mark) mark.scrollIntoView({ block: "center", inline: "nearest" });
  }, [state, boxes]);
  const go = useCallback(
    (next) => setCurrent((now) => Math.min(Math.max(1, next(now)), pageCount)),
    [pageCount],
  );
  const turn = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft" && !zoom) go((now) => now - 1);
    else if (event.key === "ArrowRight" && !zoom) go((now) => now + 1);
    else if (event.key === "+") setZoom((now) => Math.min(now + 1, ZOOMS.length - 1));
    else if (event.key === "-") setZoom((now) => Math.max(now - 1, 0));
    else return;
    event.preventDefault();
  };
  const width = ZOOMS[zoom] > 1.25 ? 1800 : 1100;
  return (
    <div className="page-sheet" onKeyDown={turn}>
      <div className="page-bar" role="toolbar" aria-label={fill(labels.position, { page: current, count: pageCount })}>
        <button type="button" className="icon" aria-label={labels.previous} title={labels.previous} disabled={current <= 1} onClick={() => go((now) => now - 1)}>
          <ChevronLeft size={18} aria-hidden="true" />
        </button>
        <span id="page-position" aria-live="polite">{fill(labels.position, { page: current, count: pageCount })}</span>
        <button type="button" className="icon" aria-label={labels.next} title={labels.next} disabled={current >= pageCount} onClick={() => go((now) => now + 1)}>
          <ChevronRight size={18} aria-hidden="true" />
        </button>
        <span className="spread" />
        <button type="button" className="icon" aria-label={labels.smaller} title={labels.smaller} disabled={zoom === 0} onClick={() => setZoom(zoom - 1)}>
          <Minus size={16} aria-hidden="true" />
        </button>
        <span className="zoom">{Math.round(ZOOMS[zoom] * 100)} %</span>
        <button type="button" className="icon" aria-label={labels.larger} title={labels.larger} disabled={zoom === ZOOMS.length - 1} onClick={() => setZoom(zoom + 1)}>
          <Plus size={16} aria-hidden="true" />
        </button>
      </div>
      <div className="page-frame" ref={frame} tabIndex={0} role="group" aria-label={fill(labels.image, { page: current, title })}>
        <div className="paper" data-state={state} style={{ width: `${ZOOMS[zoom] * 100}%` }}>
          {state !== "failed" && (
            <img
              id="evidence-page"
              key={`${place}-${attempt}`}
              src={`${place}.png?width=${width}`}
              alt={fill(labels.image, { page: current, title })}
              onLoad={() => setState("shown")}
              onError={() => setState("failed")}
            />
          )}
          {state === "shown" &&
            boxes.map(([left, top, right, bottom], number) => (
              <span
                key={number}
                className="mark-box"
                style={{
                  left: `${left * 100}%`,
                  top: `${top * 100}%`,
                  width: `${(right - left) * 100}%`,
                  height: `${(bottom - top) * 100}%`,
                }}
              />
            ))}
          {state === "failed" && (
            <p className="page-failed" role="alert">
              {labels.failed}
              <button type="button" className="quiet" onClick={() => setAttempt(attempt + 1)}>{labels.again}</button>
            </p>
          )}
        </div>
      </div>
    </div>
  );
}
