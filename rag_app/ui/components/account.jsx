// Signing in and out: the session is a cookie that only the server can read.
import { useRef, useState } from "react";

const post = (route, body) =>
  fetch(route, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Pincite": "1" },
    body: JSON.stringify(body ?? {}),
  });

export function SignInForm({ labels }) {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const field = useRef(null);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      const answer = await post("/api/login", { password: field.current.value });
      // a full load, so that the websocket opens anew with the cookie
      if (answer.ok) return location.assign("/");
      const reasons = { 401: labels.wrong, 429: labels.throttled };
      setProblem(reasons[answer.status] ?? labels.failed);
    } catch {
      setProblem(labels.failed);
    }
    setBusy(false);
    field.current.select();
    return undefined;
  };
  return (
    <form className="sign-in-form" onSubmit={submit}>
      <label htmlFor="password">{labels.password}</label>
      <input id="password" ref={field} type="password" autoComplete="current-password" required autoFocus aria-invalid={Boolean(problem)} aria-describedby="sign-in-problem" />
      <p id="sign-in-problem" role="alert">{problem}</p>
      <button id="sign-in" type="submit" className="button main" disabled={isBusy}>{labels.signIn}</button>
    </form>
  );
}

export function SignOutButton({ label }) {
  const leave = async () => {
    await post("/api/logout").catch(() => {});
    sessionStorage.clear();
    location.assign("/sign-in");
  };
  return <button type="button" className="quiet" id="sign-out" onClick={leave}>{label}</button>;
}
