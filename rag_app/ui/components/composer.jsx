// Where a question is written. What is typed stays here, whatever arrives from the server.
import { useEffect, useRef, useState } from "react";
import { ArrowUp, Square } from "lucide-react";

const DRAFT = "pincite-draft";

export function Composer({
  isRunning = false, label, placeholder, askLabel, stopLabel, onAsk, onStop,
}) {
  const field = useRef(null);
  const [isEmpty, setEmpty] = useState(true);
  const grow = () => {
    const area = field.current;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
    setEmpty(!area.value.trim());
  };
  useEffect(() => {
    // somebody quick may have typed before the page came alive
    field.current.value ||= sessionStorage.getItem(DRAFT) ?? "";
    grow();
    if (matchMedia("(min-width: 900px) and (hover: hover)").matches) {
      field.current.focus({ preventScroll: true });
    }
  }, []);
  const ask = () => {
    const question = field.current.value.trim();
    if (!question || isRunning) return;
    field.current.form.reset();
    sessionStorage.removeItem(DRAFT);
    grow();
    onAsk(question);
  };
  return (
    <form className="composer" onSubmit={(event) => { event.preventDefault(); ask(); }}>
      <textarea
        id="question"
        ref={field}
        name="question"
        rows={1}
        dir="auto"
        maxLength={4000}
        aria-label={label}
        placeholder={placeholder}
        onInput={() => { grow(); sessionStorage.setItem(DRAFT, field.current.value); }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          ask();
        }}
      />
      {isRunning ? (
        <button id="stop" type="button" className="round" aria-label={stopLabel} title={stopLabel} onClick={() => onStop()}>
          <Square size={14} fill="currentColor" aria-hidden="true" />
        </button>
      ) : (
        <button id="ask" type="submit" className="round main" aria-label={askLabel} title={askLabel} disabled={isEmpty}>
          <ArrowUp size={18} aria-hidden="true" />
        </button>
      )}
    </form>
  );
}
