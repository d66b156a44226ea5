"""Starts the finished app as a person does, `serve` and all, and finds its processes."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from tests.support.processes import children

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90
BROWSER_FLAGS = [
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


@dataclass
class App:
    """A running `serve` with a home of its own."""

    home: Path
    port: int
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and wait until the library can be asked."""
        with (self.home.parent / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rag_app", "serve"],
                cwd=ROOT,
                env=dict(self.environment),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.wait_until_healthy()

    def wait_until_healthy(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process is not None and self.process.poll() is not None:
                break
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/api/health", timeout=2).status_code == 200:
                    return
            time.sleep(0.1)
        raise AssertionError((self.home.parent / "serve.log").read_text()[-2000:])

    def stop(self) -> None:
        """Stop as Ctrl-C does."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)

    def find(self, words: str) -> list[psutil.Process]:
        """Return the processes below `serve` whose command line holds these words."""
        assert self.process is not None
        return children(words, of=self.process.pid)

    def kill(self, words: str, number: int = signal.SIGKILL) -> None:
        """Send those processes a signal, -9 unless told otherwise."""
        victims = self.find(words)
        assert victims, f"no process with {words!r} runs"
        for victim in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.send_signal(number)

    def command(self, *arguments: str) -> str:
        """Run one command on the same home and return what it prints."""
        return subprocess.run(
            [sys.executable, "-m", "rag_app", *arguments],
            cwd=ROOT,
            env=dict(self.environment),
            check=True,
            stdout=subprocess.PIPE,
            timeout=300,
        ).stdout.decode()


@contextlib.contextmanager
def run_app(**environment: str) -> Iterator[App]:
    """Run the app on a new home until the block ends; keywords are settings."""
    base = Path(tempfile.mkdtemp(prefix="pincite-e2e-"))
    base.chmod(0o755)  # as root, the database runs as another user
    port = free_port()
    app = App(
        home=base / "home",
        port=port,
        environment=os.environ
        | {
            "PINCITE_HOME": str(base / "home"),
            "PINCITE_PORT": str(port),
            "PINCITE_OLLAMA_URL": "",
            "PINCITE_OPEN_BROWSER": "0",
        }
        | environment,
    )
    try:
        app.start()
        yield app
    finally:
        app.stop()
        shutil.rmtree(base, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
