"""Reads the environment once into a frozen Settings."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from rag_app.errors import SettingsError

DEFAULT_PORT = 3000
SERVICE_HOME = Path("/var/lib/pincite")
"""As root, since PostgreSQL then runs as another user, who must be able to reach it."""

MODEL_DIR = Path(sys.prefix) / "share" / "pincite" / "me5-small"
"""The converted embedding model belongs to the set-up, so that all homes share one."""


@dataclass(frozen=True)
class Settings:
    """What a person can set, by environment variable. README.md lists each one."""

    home: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    password: str = ""
    database_url: str = ""
    chat_model: str = ""
    chat_api_base: str = ""
    embedding_model: str = ""
    embedding_api_base: str = ""
    embedding_dimensions: int = 0
    rerank_model: str = ""
    rerank_api_base: str = ""
    ollama_url: str = "http://127.0.0.1:11434"
    transcript_languages: tuple[str, ...] = ("en", "de")
    youtube_url: str = ""
    folders: tuple[Path, ...] = ()
    """Kept in step with the library by the worker."""
    site_pages: int = 100
    site_depth: int = 3
    site_pause: float = 0.5
    """Seconds between two requests to a site; tests set 0."""
    allowed_addresses: tuple[str, ...] = field(default=())
    origins: tuple[str, ...] = field(default=())
    """Where a proxy shows the page."""
    chromium: str = ""
    embedding_threads: int = 2
    is_served: bool = False
    """A process of `serve`, which alone may make a library where there is none."""
    model_dir: Path = MODEL_DIR

    @property
    def files_dir(self) -> Path:
        """Where original files are kept."""
        return self.home / "files"

    @property
    def uploads_dir(self) -> Path:
        """Where a file lies while the browser sends it."""
        return self.home / "uploads"

    @property
    def logs_dir(self) -> Path:
        """Where the processes write what they did."""
        return self.home / "logs"


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read every PINCITE_ variable and DATABASE_URL; a SettingsError names the wrong one."""
    env = os.environ if environ is None else environ
    settings = Settings(
        home=Path(env.get("PINCITE_HOME") or default_home()).expanduser().absolute(),
        host=env.get("PINCITE_HOST", "127.0.0.1"),
        port=_whole_number(env, "PINCITE_PORT", DEFAULT_PORT),
        password=env.get("PINCITE_PASSWORD", ""),
        database_url=env.get("DATABASE_URL", ""),
        chat_model=env.get("PINCITE_CHAT_MODEL", ""),
        chat_api_base=env.get("PINCITE_CHAT_API_BASE", ""),
        embedding_model=env.get("PINCITE_EMBEDDING_MODEL", ""),
        embedding_api_base=env.get("PINCITE_EMBEDDING_API_BASE", ""),
        embedding_dimensions=_whole_number(env, "PINCITE_EMBEDDING_DIMENSIONS", 0),
        rerank_model=env.get("PINCITE_RERANK_MODEL", ""),
        rerank_api_base=env.get("PINCITE_RERANK_API_BASE", ""),
        ollama_url=env.get("PINCITE_OLLAMA_URL", "http://127.0.0.1:11434"),
        transcript_languages=_names(env, "PINCITE_TRANSCRIPT_LANGUAGES", ("en", "de")),
        youtube_url=env.get("PINCITE_YOUTUBE_URL", ""),
        folders=tuple(
            Path(name).expanduser().absolute() for name in _names(env, "PINCITE_FOLDERS", ())
        ),
        site_pages=_whole_number(env, "PINCITE_SITE_PAGES", 100),
        site_depth=_whole_number(env, "PINCITE_SITE_DEPTH", 3),
        allowed_addresses=_names(env, "PINCITE_ALLOWED_ADDRESSES", ()),
        origins=tuple(name.rstrip("/") for name in _names(env, "PINCITE_ORIGINS", ())),
        chromium=env.get("PINCITE_CHROMIUM", ""),
        is_served=bool(env.get("PINCITE_SERVED")),
        embedding_threads=_whole_number(env, "PINCITE_EMBEDDING_THREADS", 2),
        model_dir=Path(env.get("PINCITE_MODEL_DIR") or MODEL_DIR).expanduser().absolute(),
    )
    if settings.host not in {"127.0.0.1", "localhost", "::1"} and not settings.password:
        raise SettingsError(
            f"PINCITE_HOST is {settings.host}, so others could reach the library: "
            "set PINCITE_PASSWORD too, or leave PINCITE_HOST at 127.0.0.1."
        )
    return settings


def default_home() -> Path:
    """Where everything of one installation lives when PINCITE_HOME is not set."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return SERVICE_HOME
    return Path(platformdirs.user_data_dir("pincite"))


def _whole_number(env: Mapping[str, str], name: str, default: int) -> int:
    value = env.get(name, "")
    if not value:
        return default
    if not value.isdigit():
        raise SettingsError(f"{name} must be a whole number, not {value!r}.")
    return int(value)


def _names(env: Mapping[str, str], name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = env.get(name)
    if value is None:
        return default
    return tuple(part.strip() for part in value.split(",") if part.strip())
