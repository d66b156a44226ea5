// What the browser must do by itself: the drawer, where the page scrolls, where the keyboard is.
import { useEffect, useRef } from "react";

const isNarrow = () => matchMedia("(max-width: 1079px)").matches;
const FOCUSABLE = "a[href], button:not(:disabled), input, textarea, iframe, [tabindex='0']";

// The left column; on a phone a drawer that closes when something in it was chosen.
export function SideColumn({ label, language, children }) {
  const column = useRef(null);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  // a file that misses the library's drop zone must not replace the page
  useEffect(() => {
    const refuse = (event) => {
      if ([...(event.dataTransfer?.types ?? [])].includes("Files")) event.preventDefault();
    };
    window.addEventListener("dragover", refuse);
    window.addEventListener("drop", refuse);
    return () => {
      window.removeEventListener("dragover", refuse);
      window.removeEventListener("drop", refuse);
    };
  }, []);
  return (
    <nav
      id="side"
      popover="auto"
      ref={column}
      aria-label={label}
      onClick={(event) => {
        if (event.target.closest("a[href]") && column.current.matches(":popover-open")) {
          column.current.hidePopover();
        }
      }}
    >
      {children}
    </nav>
  );
}

const BLOCKS = "p, li, h3, h4, h5, pre, blockquote, th, td";

// What an answer says, for the ear: without the badges' numbers, which would be read in the middle
// of sentences, and with a pause between its blocks.
function spokenWords(answer) {
  const copy = answer.cloneNode(true);
  copy.querySelectorAll(".cite, .turn-status").forEach((node) => node.remove());
  copy.querySelectorAll(BLOCKS).forEach((block) => block.append(" "));
  return copy.textContent.replace(/\s+/g, " ").trim();
}

// The conversation: stays at its end while the reader is there, and says once how an answer ended.
export function Reading({ conversation, runningId = 0, finishedText, children }) {
  const frame = useRef(null);
  const spoken = useRef(null);
  const isAtEnd = useRef(true);
  const was = useRef(0);
  useEffect(() => {
    const area = frame.current;
    const stay = () => { if (isAtEnd.current) area.scrollTop = area.scrollHeight; };
    const note = () => { isAtEnd.current = area.scrollHeight - area.scrollTop - area.clientHeight < 60; };
    const grown = new ResizeObserver(stay);
    grown.observe(area.firstElementChild);
    grown.observe(area);
    area.addEventListener("scroll", note, { passive: true });
    return () => {
      grown.disconnect();
      area.removeEventListener("scroll", note);
    };
  }, []);
  useEffect(() => {
    isAtEnd.current = true;
    frame.current.scrollTop = frame.current.scrollHeight;
  }, [conversation]);
  useEffect(() => {
    if (runningId) {
      isAtEnd.current = true;
      spoken.current.textContent = "";
    } else if (was.current) {
      const answer = frame.current.querySelector(`[data-turn-id="${was.current}"] .answer`);
      // one that did not finish has a line that says why
      const ending = answer?.querySelector(".ending span")?.textContent ?? finishedText;
      spoken.current.textContent = answer ? `${ending} ${spokenWords(answer)}` : "";
    }
    was.current = runningId;
  }, [runningId, finishedText]);
  return (
    <div className="reading" ref={frame}>
      <div className="reading-column">{children}</div>
      <div className="visually-hidden" id="announcer" aria-live="polite" ref={spoken} />
    </div>
  );
}

// The sheet beside the conversation: takes the focus when it opens, gives it back when it closes.
export function EvidencePanel({ opened = "", label, onClose, children }) {
  const panel = useRef(null);
  const before = useRef(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    if (!opened) return;
    if (!panel.current.contains(document.activeElement)) before.current = document.activeElement;
    panel.current.focus({ preventScroll: true });
  }, [opened]);
  useEffect(() => {
    if (!opened) return undefined;
    const keys = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) close.current();
      if (event.key !== "Tab" || !isNarrow()) return;
      const places = [...panel.current.querySelectorAll(FOCUSABLE)].filter((place) => place.checkVisibility());
      const [first, last] = [places[0], places[places.length - 1]];
      const active = document.activeElement;
      if (event.shiftKey && (active === first || active === panel.current)) {
        event.preventDefault();
        last?.focus();
      } else if (!event.shiftKey && active === last) {
        event.preventDefault();
        first?.focus();
      }
    };
    document.addEventListener("keydown", keys);
    return () => {
      document.removeEventListener("keydown", keys);
      const back = before.current?.isConnected ? before.current : document.getElementById("question");
      back?.focus({ preventScroll: true });
    };
  }, [Boolean(opened)]);
  const isDialog = opened && typeof window !== "undefined" && isNarrow();
  return (
    <aside
      id="evidence"
      ref={panel}
      tabIndex={-1}
      hidden={!opened}
      aria-label={label}
      role={isDialog ? "dialog" : undefined}
      aria-modal={isDialog || undefined}
    >
      {children}
    </aside>
  );
}
