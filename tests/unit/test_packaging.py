"""What is installed with Pincite: its licences, and pins that a machine can trust."""

import importlib.metadata
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PINS = re.findall(r"^([a-zA-Z0-9._-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
# some are pinned for other platforms and are not installed here
INSTALLED = {
    re.sub(r"[-_.]+", "-", found.name).lower() for found in importlib.metadata.distributions()
}
COPYLEFT = re.compile(r"\bA?GPL|(?<!Lesser )General Public|Affero", re.IGNORECASE)
WEAKER = re.compile(r"\bLGPL|Lesser General Public", re.IGNORECASE)


@pytest.mark.parametrize("name", sorted(INSTALLED.intersection(PINS)))
def test_each_package_may_be_used_without_the_gpl(name: str) -> None:
    metadata = importlib.metadata.metadata(name)
    expression = metadata.get("License-Expression", "")
    classifiers = [c for c in metadata.get_all("Classifier") or [] if c.startswith("License")]
    stated = [expression] if expression else classifiers or [metadata.get("License", "")[:200]]
    choices = [choice for text in stated for choice in text.split(" OR ")]

    assert any(choices), f"{name} states no licence"
    assert any(WEAKER.search(text) or not COPYLEFT.search(text) for text in choices)


def test_every_pinned_package_carries_hashes() -> None:
    for name in ("requirements.txt", "requirements-dev.txt", "model-requirements.txt"):
        blocks = re.split(r"^(?=[a-zA-Z0-9])", (ROOT / name).read_text(), flags=re.MULTILINE)
        pinned = [block for block in blocks if re.match(r"[a-zA-Z0-9._\[\]-]+==", block)]

        assert pinned
        assert [block.split()[0] for block in pinned if "--hash=sha256:" not in block] == []


def test_the_works_that_come_along_are_named() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")

    for work in ("multilingual-e5-small", "lid.176", "Source Sans", "Source Serif", "IBM Plex"):
        assert work in notice
