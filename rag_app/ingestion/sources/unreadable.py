"""Files that are recognised and cannot be read, each with what the person can do instead."""

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.compound_files import Kind, compound_kind
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.formats import guess_source_type
from rag_app.ingestion.packages import DAMAGED
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = ""

_ADVICE = {
    Kind.PROTECTED: "it is protected by a password. Save a copy without one and add that.",
    Kind.WORD: "it is a Word file of the old kind (.doc). Save it as .docx and add that.",
    Kind.SLIDES: "it is a PowerPoint file of the old kind (.ppt). Save it as .pptx and add that.",
    Kind.MAIL: "it is a message of Outlook's. Save it as text or PDF and add that.",
}
_ZIP = b"PK\x03\x04"
_SIGNATURES = (
    (b"\x89PNG\r\n", "a picture. Put it into a PDF and add that; its text is then recognised."),
    (b"\xff\xd8\xff", "a picture. Put it into a PDF and add that; its text is then recognised."),
    (b"GIF8", "a picture. Put it into a PDF and add that; its text is then recognised."),
    (b"II*\0", "a picture. Put it into a PDF and add that; its text is then recognised."),
    (b"MM\0*", "a picture. Put it into a PDF and add that; its text is then recognised."),
    (b"ID3", "a recording. Add its subtitles (.srt, .vtt) or a text of what is said."),
    (b"OggS", "a recording. Add its subtitles (.srt, .vtt) or a text of what is said."),
    (b"\x1aE\xdf\xa3", "a film. Add its subtitles (.srt, .vtt) or a text of what is said."),
    (b"Rar!", "an archive. Unpack it and add the files inside."),
    (b"7z\xbc\xaf", "an archive. Unpack it and add the files inside."),
    (b"\x1f\x8b", "an archive. Unpack it and add the files inside."),
    (_ZIP, "an archive. Unpack it and add the files inside."),
)
_FILM = b"ftyp"  # four bytes into an MP4


def accepts(request: ExtractRequest) -> bool:
    """Tell whether there is something to say about these bytes."""
    return bool(_reason(request))


async def extract(request: ExtractRequest) -> Extracted:
    """Raise the sentence for this kind of file."""
    with request.open() as stream:
        kind = compound_kind(stream)
    error = IngestionError if kind is Kind.PROTECTED else UnsupportedSourceError
    raise error(f'Could not read "{request.label}": {_reason(request)}')


def _reason(request: ExtractRequest) -> str:
    with request.open() as stream:
        kind = compound_kind(stream)
    if kind is not None:
        return _ADVICE.get(
            kind, "it is of a kind Pincite cannot read. Save it as PDF and add that."
        )
    head = request.head()
    if head.startswith(_ZIP) and guess_source_type(request.label):
        return DAMAGED
    for signature, text in _SIGNATURES:
        if head.startswith(signature):
            return f"it is {text}"
    if head[4:8] == _FILM:
        return "it is a film. Add its subtitles (.srt, .vtt) or a text of what is said."
    return ""
