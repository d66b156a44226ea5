"""Reads HTML: main text as Markdown, title, and signs that scripts have yet to write the page.

Runs inside the sandbox, since a page built to be slow would otherwise hold the worker.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from rag_app.errors import IngestionError

_UNSEEN = "script,style,template,noscript,[hidden],[aria-hidden='true'],svg,dialog:not([open])"
_HIDING_STYLE = re.compile(
    r"(?i)(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)|font-size\s*:\s*0(?:px|em|rem|pt|%)?\s*(?:;|!|$)"
    r"|(?:left|top|text-indent)\s*:\s*-\d{4,})"
)
_NOSCRIPT_START = re.compile(r"(?i)<noscript\b")
_NOSCRIPT_END = re.compile(r"(?i)</noscript\s*>")
_SHELL_ROOTS = "#root,#app,#__next,#__nuxt,#gatsby-focus-wrapper,#svelte,app-root,[data-reactroot]"
_WANTS_SCRIPTS = re.compile(
    r"(?i)(?:enable|requires?|turn on|activate|need|aktivier\w{0,20}|activez|habilit\w{0,20})"
    r"\W[^.]{0,40}java\s?script"
    r"|java\s?script[^.]{0,40}(?:required|disabled|aktivier|erforderlich|nécessaire)"
)
_ASKS_FOR_HUMAN = re.compile(
    r"(?i)checking (?:if the site|your browser)|verify(?:ing)? (?:that )?you are (?:a )?human"
    r"|are you a robot|^just a moment"
)
_SMALL_WORDS = 60
_MOST_BYTES = 8_000_000


def read_page(request: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Answer with what a page says about itself, and its main text as Markdown."""
    html = str(request["html"])
    if len(html) > _MOST_BYTES:
        raise IngestionError(f"{request['url']} is too large a page. Save its text and add that.")
    # taken out before parsing: one in the head would end the head there
    html, noscript = _split_noscript(html)
    tree = LexborHTMLParser(html)
    facts = _facts(tree, noscript)
    _drop_unseen(tree)
    text = tree.body.text(separator=" ") if tree.body else ""
    facts["words"] = _count_words(text)
    facts["wants_scripts"] = facts["wants_scripts"] or (
        facts["words"] < _SMALL_WORDS and bool(_WANTS_SCRIPTS.search(text))
    )
    facts["asks_for_human"] = facts["words"] < 150 and bool(
        _ASKS_FOR_HUMAN.search(text.strip()) or _ASKS_FOR_HUMAN.search(facts["title"])
    )
    markdown = _main_text(tree.html or "", str(request["url"])) or _plain_text(tree)
    yield facts, markdown.encode("utf-8", "replace")


def _split_noscript(html: str) -> tuple[str, str]:
    """Return a page without its parts for browsers without scripts, and the text of those."""
    kept: list[str] = []
    taken: list[str] = []
    place = 0
    while opening := _NOSCRIPT_START.search(html, place):
        begin = html.find(">", opening.end()) + 1
        closing = _NOSCRIPT_END.search(html, begin) if begin else None
        if closing is None:
            break  # then there is none for any later one either
        kept.append(html[place : opening.start()])
        taken.append(html[begin : closing.start()])
        place = closing.end()
    return "".join([*kept, html[place:]]), " ".join(taken)


def _facts(tree: LexborHTMLParser, noscript: str) -> dict[str, Any]:
    roots = [node for node in tree.css(_SHELL_ROOTS) if _count_words(node.text()) < 5]
    root = tree.root
    return {
        "title": _title(tree),
        "language": (root.attributes.get("lang") if root else None) or None,
        "is_shell": bool(roots) and bool(tree.css("script")),
        "has_scripts": bool(tree.css("script[src],script:not([type*='json'])")),
        "wants_scripts": bool(_WANTS_SCRIPTS.search(noscript)),
        "asks_for_login": bool(tree.css("input[type='password']")),
    }


def _title(tree: LexborHTMLParser) -> str:
    named = tree.css_first("meta[property='og:title']")
    candidates = (
        named.attributes.get("content") if named else None,
        _text(tree.css_first("head title")),
        _text(tree.css_first("h1")),
    )
    return next((title for raw in candidates if (title := " ".join((raw or "").split()))), "")


def _text(node: LexborNode | None) -> str:
    return node.text() if node else ""


def _drop_unseen(tree: LexborHTMLParser) -> None:
    """Remove what a person would not see, as far as the page alone tells."""
    for node in tree.css(_UNSEEN):
        node.decompose()
    for node in tree.css("[style]"):
        if _HIDING_STYLE.search(node.attributes.get("style") or ""):
            node.decompose()


def _main_text(html: str, url: str) -> str:
    import trafilatura  # a second to import

    # favouring recall keeps the headings that precision drops
    found = trafilatura.extract(
        html,
        url=url,
        output_format="markdown",
        include_comments=False,
        include_tables=True,
        include_formatting=True,
        include_links=False,
        include_images=False,
        favor_recall=True,
        deduplicate=False,
    )
    return found or ""


def _plain_text(tree: LexborHTMLParser) -> str:
    """Return all text by simple rules, for pages in which no main text was found."""
    blocks = []
    body = tree.css_first("main,article,[role='main']") or tree.body
    for node in body.css("h1,h2,h3,h4,h5,h6,p,li,pre,td,blockquote,dt,dd") if body else []:
        text = " ".join(node.text(separator=" ").split())
        if text:
            tag = node.tag or ""
            level = int(tag[1]) if re.fullmatch("h[1-6]", tag) else 0
            blocks.append(f"{'#' * level} {text}" if level else text)
    if not blocks and body:
        blocks = [" ".join(body.text(separator=" ").split())]
    return "\n\n".join(blocks)


def _count_words(text: str) -> int:
    unspaced = len(re.findall("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]", text))
    return len(text.split()) + unspaced // 2
