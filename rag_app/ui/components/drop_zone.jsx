// Takes files and folders by drop or choice, and sends a few at a time to our own route.
import { useCallback, useEffect, useRef, useState } from "react";
import { FileUp, FolderUp, RotateCw, X } from "lucide-react";

const AT_ONCE = 3;
const ROUTE = "/api/uploads?name=";
const LARGEST_HASHED = 256e6; // the browser hashes only what lies in memory whole

// Whether the library has these very bytes, so that they need not be sent.
async function isKnown(file) {
  if (!globalThis.crypto?.subtle || !file.size || file.size > LARGEST_HASHED) return false;
  try {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const answer = await fetch(`/api/uploads/known/${hex}`, { method: "POST", headers: { "X-Pincite": "1" } });
    return answer.ok;
  } catch {
    return false; // then it is sent, and any trouble told
  }
}

// Chromium gives a folder's entries a hundred at a time.
async function readAll(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const files = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return files;
    for (const child of batch) files.push(...(await readAll(child)));
  }
}

function send(file, onProgress) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve) => {
    request.upload.onprogress = (event) => onProgress(event.loaded, event.total);
    request.onload = () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // a proxy's page instead of our answer: the status says enough
      }
      resolve({ status: request.status, error: answer.error ?? answer.detail });
    };
    request.onerror = () => resolve({ status: 0 });
    request.onabort = () => resolve({ status: -1 });
  });
  request.open("PUT", ROUTE + encodeURIComponent(file.name));
  request.setRequestHeader("X-Pincite", "1");
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
  return { done, cancel: () => request.abort() };
}

const size = (bytes) =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} KB` : `${(bytes / 1e6).toFixed(1)} MB`;

export function DropZone({ accept, labels }) {
  const [uploads, setUploads] = useState([]);
  const [isOver, setOver] = useState(false);
  const queue = useRef([]);
  const sending = useRef(new Map());
  const next = useRef(1);
  const change = useCallback(
    (id, values) => setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...values } : one))),
    [],
  );
  const drop = useCallback((id) => setUploads((all) => all.filter((one) => one.id !== id)), []);
  const pump = useCallback(() => {
    while (sending.current.size < AT_ONCE && queue.current.length) {
      const { id, file } = queue.current.shift();
      let told = 0;
      let isCancelled = false;
      sending.current.set(id, () => { isCancelled = true; });
      const transfer = async () => {
        if (await isKnown(file)) return { status: 200 };
        if (isCancelled) return { status: -1 };
        change(id, { state: "sending" });
        const { done, cancel } = send(file, (sent, total) => {
          const now = performance.now();
          if (now - told < 100 && sent < total) return;
          told = now;
          change(id, { sent });
        });
        sending.current.set(id, cancel);
        return done;
      };
      transfer().then(({ status, error }) => {
        sending.current.delete(id);
        if (status === 401) location.assign("/sign-in");
        if (status === -1 || (status >= 200 && status < 300)) drop(id);
        else change(id, { state: "failed", error: error ?? (status ? labels.failed : labels.lost) });
        pump();
      });
    }
  }, [change, drop, labels]);
  const add = useCallback(
    (files) => {
      const found = files
        .filter((file) => !file.name.startsWith(".") && file.name !== "Thumbs.db")
        .map((file) => ({ id: next.current++, file }));
      queue.current.push(...found);
      setUploads((all) => [
        ...all,
        ...found.map(({ id, file }) => ({ id, file, name: file.name, total: file.size, sent: 0, state: "waiting" })),
      ]);
      pump();
    },
    [pump],
  );
  const cancel = (id) => {
    queue.current = queue.current.filter((one) => one.id !== id);
    if (sending.current.has(id)) sending.current.get(id)();
    else drop(id);
  };
  const retry = (upload) => {
    change(upload.id, { state: "waiting", sent: 0, error: undefined });
    queue.current.push({ id: upload.id, file: upload.file });
    pump();
  };
  // files may be dropped anywhere on the page; without this the browser would open them
  useEffect(() => {
    let depth = 0;
    const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    const enter = (event) => { if (hasFiles(event)) { depth += 1; setOver(true); } };
    const leave = () => { depth = Math.max(0, depth - 1); if (!depth) setOver(false); };
    const over = (event) => hasFiles(event) && event.preventDefault();
    const take = async (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      const loose = [...event.dataTransfer.files];
      if (!entries.length) return add(loose);
      for (const entry of entries) {
        try {
          add(await readAll(entry));
        } catch {
          add(loose.filter((file) => file.name === entry.name));
        }
      }
    };
    window.addEventListener("dragenter", enter);
    window.addEventListener("dragleave", leave);
    window.addEventListener("dragover", over);
    window.addEventListener("drop", take);
    return () => {
      window.removeEventListener("dragenter", enter);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", take);
    };
  }, [add]);
  const choose = (event) => {
    add([...event.target.files]);
    event.target.value = "";
  };
  const shown = uploads.slice(0, 8);
  return (
    <div id="drop-zone" data-over={isOver || undefined}>
      <p className="drop-title">
        <span className="with-mouse">{isOver ? labels.now : labels.title}</span>
        <span className="with-finger">{labels.titleTouch}</span>
      </p>
      <p className="drop-kinds">{labels.kinds}</p>
      <div className="drop-choices">
        <label className="button">
          <FileUp size={16} aria-hidden="true" />
          {labels.files}
          <input type="file" multiple accept={accept} className="visually-hidden" onChange={choose} />
        </label>
        <label className="button folder-choice">
          <FolderUp size={16} aria-hidden="true" />
          {labels.folder}
          <input type="file" multiple webkitdirectory="" className="visually-hidden" data-folder="" onChange={choose} />
        </label>
      </div>
      {uploads.length > 0 && (
        <ul className="uploads" aria-label={labels.uploads}>
          {shown.map((upload) => (
            <li key={upload.id} className="upload" data-state={upload.state}>
              <span className="upload-name" dir="auto" title={upload.name}>{upload.name}</span>
              <span className="upload-state">
                {upload.state === "waiting" && labels.waiting}
                {upload.state === "sending" && `${Math.floor((100 * upload.sent) / Math.max(upload.total, 1))} % · ${size(upload.total)}`}
              </span>
              {upload.state === "failed" && (
                <button type="button" className="icon" aria-label={`${labels.again}: ${upload.name}`} title={labels.again} onClick={() => retry(upload)}>
                  <RotateCw size={15} aria-hidden="true" />
                </button>
              )}
              <button type="button" className="icon" aria-label={`${labels.cancel}: ${upload.name}`} title={labels.cancel} onClick={() => cancel(upload.id)}>
                <X size={15} aria-hidden="true" />
              </button>
              {upload.state === "failed" ? (
                <p className="upload-error" role="alert">{upload.error}</p>
              ) : (
                <progress max={Math.max(upload.total, 1)} value={upload.sent} aria-label={upload.name} />
              )}
            </li>
          ))}
          {uploads.length > shown.length && <li className="upload-rest">+ {uploads.length - shown.length}</li>}
        </ul>
      )}
    </div>
  );
}
