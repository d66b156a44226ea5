// Where filters are chosen: opens above the field, closes with Escape or by a click beside it.
import { useEffect, useRef, useState } from "react";
import { SlidersHorizontal, X } from "lucide-react";

export function FilterMenu({ label, title, closeLabel, onOpen, children }) {
  const menu = useRef(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = () => {
      setOpen(false);
      menu.current?.querySelector("#filter").focus({ preventScroll: true });
    };
    const keys = (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      close();
    };
    const outside = (event) => {
      // what was clicked may be gone by now: a title that was chosen, say
      if (event.target.isConnected && !menu.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("keydown", keys, true);
    document.addEventListener("pointerdown", outside);
    return () => {
      document.removeEventListener("keydown", keys, true);
      document.removeEventListener("pointerdown", outside);
    };
  }, [isOpen]);
  return (
    <div className="filter-menu" ref={menu}>
      <button
        id="filter"
        type="button"
        className="chip"
        aria-expanded={isOpen}
        aria-controls="filter-panel"
        onClick={() => { if (!isOpen) onOpen(); setOpen(!isOpen); }}
      >
        <SlidersHorizontal size={14} aria-hidden="true" />
        {label}
      </button>
      <div id="filter-panel" role="dialog" aria-label={title} hidden={!isOpen}>
        <div className="filter-head">
          <h2>{title}</h2>
          <button type="button" className="icon" aria-label={closeLabel} title={closeLabel} onClick={() => setOpen(false)}>
            <X size={16} aria-hidden="true" />
          </button>
        </div>
        {children}
      </div>
    </div>
  );
}
