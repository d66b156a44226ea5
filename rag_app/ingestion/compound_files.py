"""Tells what an OLE compound file is: old Office files, and new ones behind a password."""

from enum import Enum
from typing import IO

_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENTRY_BYTES = 128
_MOST_SECTORS = 64  # of the directory; the names that matter stand in its first


class Kind(Enum):
    """What the streams of a compound file say of it."""

    PROTECTED = ("EncryptedPackage", "DataSpaces")
    WORKBOOK = ("Workbook", "Book")
    WORD = ("WordDocument",)
    SLIDES = ("PowerPoint Document",)
    MAIL = ("__nameid_version1.0",)
    OTHER = ()


def compound_kind(stream: IO[bytes]) -> Kind | None:
    """Return what kind of compound file this is, or None when it is none at all."""
    stream.seek(0)
    header = stream.read(512)
    if not header.startswith(_SIGNATURE) or len(header) < 512:
        return None
    size = 1 << min(max(int.from_bytes(header[30:32], "little"), 7), 12)
    names = _directory_names(stream, header, size)
    return next((kind for kind in Kind if set(kind.value) & names), Kind.OTHER)


def _directory_names(stream: IO[bytes], header: bytes, size: int) -> set[str]:
    """Return the names of streams and folders, following the directory from sector to sector."""
    names: set[str] = set()
    sector = int.from_bytes(header[48:52], "little")
    first_table = int.from_bytes(header[76:80], "little")
    for _ in range(_MOST_SECTORS):
        if sector >= 0xFFFFFFFA:
            break
        stream.seek((sector + 1) * size)
        data = stream.read(size)
        for start in range(0, len(data) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
            length = int.from_bytes(data[start + 64 : start + 66], "little")
            if 2 <= length <= 64:
                raw = data[start : start + length - 2]
                names.add(raw.decode("utf-16-le", "replace").lstrip("\x06\x01\x05"))
        # the chain lies in the first sector of the table; longer ones are rare and not needed
        if sector >= size // 4:
            break
        stream.seek((first_table + 1) * size + 4 * sector)
        sector = int.from_bytes(stream.read(4) or b"\xff" * 4, "little")
    return names
