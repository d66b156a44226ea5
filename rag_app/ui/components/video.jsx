// A transcript around the cited second; the player is loaded from YouTube only when asked for.
import { useEffect, useRef, useState } from "react";
import { Play } from "lucide-react";

const HOST = "https://www.youtube-nocookie.com";

export function Video({ videoId, title, second = 0, lines = [], labels }) {
  const [playing, setPlaying] = useState(null);
  const [now, setNow] = useState(null);
  const list = useRef(null);
  const player = useRef(null);
  useEffect(() => {
    setPlaying(null);
    setNow(null);
    const line = list.current?.querySelector("[data-marked]") ?? list.current?.querySelector("[data-current]");
    if (line) line.scrollIntoView({ block: "center" });
  }, [videoId, second, lines.length]);
  // the player tells the time to whoever says it listens
  useEffect(() => {
    if (playing === null) return undefined;
    const hear = (event) => {
      if (event.origin !== HOST || event.source !== player.current?.contentWindow) return;
      try {
        const time = JSON.parse(event.data)?.info?.currentTime;
        if (typeof time === "number") setNow(time);
      } catch {
        // not a message about the time
      }
    };
    window.addEventListener("message", hear);
    return () => window.removeEventListener("message", hear);
  }, [playing]);
  const listen = () =>
    player.current?.contentWindow?.postMessage(JSON.stringify({ event: "listening", id: 1 }), HOST);
  const time = now ?? second;
  const current = lines.reduce((found, line, number) => (line.second <= time ? number : found), -1);
  const start = (at) => { setPlaying({ at, count: (playing?.count ?? 0) + 1 }); setNow(null); };
  return (
    <div className="video">
      {playing === null ? (
        videoId && (
          <button id="play" type="button" className="play" onClick={() => start(second)}>
            <Play size={18} fill="currentColor" aria-hidden="true" />
            <span>{labels.play}<small>{labels.playHint}</small></span>
          </button>
        )
      ) : (
        <iframe
          key={playing.count}
          ref={player}
          id="player"
          title={`${labels.player}: ${title}`}
          src={`${HOST}/embed/${videoId}?start=${playing.at}&autoplay=1&enablejsapi=1&origin=${encodeURIComponent(location.origin)}`}
          allow="autoplay; encrypted-media; fullscreen; picture-in-picture"
          referrerPolicy="strict-origin-when-cross-origin"
          onLoad={listen}
        />
      )}
      <p className="transcript-title" id="transcript-title">{labels.transcript}</p>
      <ol className="transcript" ref={list} aria-labelledby="transcript-title">
        {lines.map((line, number) => (
          <li key={line.second + "-" + number} data-marked={line.is_marked || undefined} data-current={number === current || undefined}>
            <button type="button" className="time" disabled={!videoId} onClick={() => start(line.second)}>{line.time}</button>
            <span dir="auto">{line.is_marked ? <mark>{line.text}</mark> : line.text}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
