"""Decodes text files: byte order marks, UTF-16 and UTF-8 by rule, everything else by guess."""

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 200_000  # a guesser reads no better for more
# what text files are written in; among all that Python knows, short texts look like old Mac ones
_GUESSES = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258",
    "koi8_r", "koi8_u", "iso8859_2", "cp866", "cp850", "cp437", "cp932", "euc_jp", "gb18030",
    "big5", "cp949", "euc_kr", "cp874",
)  # fmt: skip
_CONTROL_BYTES = frozenset(range(32)) - set(b"\t\n\r\f\v\x1b\x1a")


def decode(data: bytes, declared: str | None = None) -> str | None:
    """Return the text of bytes, or None when they are no text.

    `declared` is what somebody says the encoding is; it counts where the bytes do not speak.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if wide := _utf16_by_zeros(data[:_SAMPLE_BYTES]):
        return data.decode(wide, "replace")
    if looks_binary(data):
        return None
    for candidate in ("utf-8", declared):
        text = _try(data, candidate)
        if text is not None:
            return text
    return _guess(data)


def looks_binary(data: bytes) -> bool:
    """Tell whether bytes hold control characters that no text has."""
    sample = data[:_SAMPLE_BYTES]
    controls = sum(byte in _CONTROL_BYTES for byte in sample)
    return controls > 0.01 * len(sample)


def _utf16_by_zeros(sample: bytes) -> str | None:
    """Recognise UTF-16 without a mark by the zero in every second byte of Latin text."""
    if len(sample) < 4:
        return None
    half = len(sample) // 2
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if odd > 0.3 and even < 0.05:
        return "utf-16-le"
    if even > 0.3 and odd < 0.05:
        return "utf-16-be"
    return None


def _try(data: bytes, encoding: str | None) -> str | None:
    if not encoding:
        return None
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes  # 40 ms to import, rarely needed

    best = from_bytes(data[:_SAMPLE_BYTES], cp_isolation=list(_GUESSES)).best()
    encoding = best.encoding if best else "cp1252"
    return data.decode(encoding, "replace")
