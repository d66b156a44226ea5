"""Runs a command with DATABASE_URL set to this installation's database, started when need be."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rag_app.database.server import start_server  # noqa: E402  found by the line above
from rag_app.settings import load_settings  # noqa: E402


def main() -> int:
    """Return the command's exit code."""
    settings = load_settings()
    if settings.database_url:
        return subprocess.call(sys.argv[1:], cwd=ROOT)
    server = start_server(settings.home)
    try:
        return subprocess.call(
            sys.argv[1:], cwd=ROOT, env={**os.environ, "DATABASE_URL": server.dsn}
        )
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
