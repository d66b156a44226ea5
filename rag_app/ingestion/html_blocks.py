"""Writes all of an HTML text as blocks, for books, in which nothing is mere decoration."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from rag_app.ingestion.writing import heading, join_blocks, list_item, paragraph, table

_DROPPED = frozenset({"script", "style", "template", "head", "svg", "math", "rt", "rp", "nav"})
_BLOCKS = frozenset(
    """address article aside blockquote body center dd details div dl dt fieldset figcaption figure
    footer form header hr html li main ol p pre section summary table ul h1 h2 h3 h4 h5 h6
    """.split()  # noqa: SIM905 - a list of names
)
_DEEPEST = 200  # elements inside one another, beyond which a page is no text of a person


def html_blocks(html: str) -> str:
    """Return the text of a page: headings, paragraphs, lists and tables in their order."""
    body = LexborHTMLParser(html).body
    return join_blocks(_blocks(body, -1, 0)) if body is not None else ""


def _blocks(parent: LexborNode, depth: int, level: int) -> Iterator[str]:
    run: list[str] = []
    if level > _DEEPEST:
        return
    for node in parent.iter(include_text=True):
        tag = node.tag or ""
        if tag in _DROPPED or "hidden" in node.attributes:
            continue
        if tag not in _BLOCKS and not _holds_blocks(node):
            run.extend(_inline(node, level + 1))
            continue
        yield paragraph("".join(run))
        run = []
        yield from _block(node, tag, depth, level + 1)
    yield paragraph("".join(run))


def _block(node: LexborNode, tag: str, depth: int, level: int) -> Iterator[str]:
    if re.fullmatch("h[1-6]", tag):
        yield heading(int(tag[1]), "".join(_inline(node, level)))
    elif tag in {"ul", "ol"}:
        yield from _list(node, depth + 1, level)
    elif tag == "table":
        yield from _table(node, depth, level)
    elif tag == "pre":
        yield paragraph(node.text())
    else:
        yield from _blocks(node, depth, level)


def _list(node: LexborNode, depth: int, level: int) -> Iterator[str]:
    number = 0
    for item in node.iter():
        if item.tag != "li":
            continue
        number += 1
        sign = f"{number}." if node.tag == "ol" else "-"
        first, *rest = [block for block in _blocks(item, depth, level) if block] or [""]
        yield list_item(depth, first, sign)
        yield from rest


def _table(node: LexborNode, depth: int, level: int) -> Iterator[str]:
    rows = [
        [" ".join(_inline(cell, level)) for cell in row.iter() if cell.tag in {"td", "th"}]
        for row in node.css("tr")
    ]
    if node.css_first("table table") is not None or max(map(len, rows), default=0) < 2:
        for cell in node.css("td,th,caption"):
            if cell.css_first("table") is None:
                yield from _blocks(cell, depth, level)
        return
    caption = node.css_first("caption")
    if caption is not None:
        yield paragraph("".join(_inline(caption, level)))
    yield table(rows)


def _holds_blocks(node: LexborNode) -> bool:
    return node.tag not in {"-text", "-comment"} and node.css_first(",".join(_BLOCKS)) is not None


def _inline(node: LexborNode, level: int) -> Iterator[str]:
    tag = node.tag or ""
    if tag == "-text":
        yield re.sub(r"\s+", " ", node.text_content or "")
    elif tag == "br":
        yield "\n"
    elif tag not in _DROPPED and tag != "-comment" and level <= _DEEPEST:
        for one in node.iter(include_text=True):
            yield from _inline(one, level + 1)
