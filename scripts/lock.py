"""Compiles requirements*.in into pinned and hashed files, with a uv of its own for the moment."""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILE = [
    *("pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--no-header"),
    *("--index-strategy", "unsafe-best-match"),  # as pip, which will install them: all are equal
]
# pip's settings, and the variables in which uv takes the same; uv reads no pip.conf
SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}


def main() -> int:
    """Compile both files; further arguments go to uv, as in `--upgrade-package reflex`."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        environment = {**pip_settings(python), **os.environ}
        for name in ("requirements", "requirements-dev"):
            subprocess.run(
                [python, "-m", "uv", *COMPILE, *sys.argv[1:], f"{name}.in", "-o", f"{name}.txt"],
                cwd=ROOT,
                env=environment,
                check=True,
            )
    return 0


def pip_settings(python: Path) -> dict[str, str]:
    """Return where pip gets packages from, as variables for uv."""
    listed = subprocess.run(
        [python, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    found = {}
    for line in listed.stdout.splitlines():
        name, _, value = line.partition("=")
        setting = name.rpartition(".")[2]
        if setting in SETTINGS:
            # several values stand on lines of their own
            values = value.strip().strip("'\"").replace("\\n", " ").split()
            found[SETTINGS[setting]] = ("," if setting == "find-links" else " ").join(values)
    return found


if __name__ == "__main__":
    sys.exit(main())
