import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
MARKING = ROOT / "rag_app" / "ui" / "components" / "marking.js"


def run(expression: str, **values: Any) -> Any:
    """Evaluate an expression of the module in Node, which the build brings along."""
    script = f"""
import * as marking from {json.dumps(MARKING.as_uri())};
const values = {json.dumps(values)};
console.log(JSON.stringify({expression}));
"""
    done = subprocess.run(
        [ROOT / ".tools" / "node", "--no-warnings", "--input-type=module", "--eval", script],
        check=True,
        stdout=subprocess.PIPE,
        timeout=30,
    )
    return json.loads(done.stdout)


def annotate(tree, *, markers=(), unsupported=(), quote="", skip=0):
    """Return the tree with markers and sentences cut out, as nested lists of tag and text."""
    marked = run(
        "(() => { marking.annotate({ ...values.options, markers: new Set(values.markers) })"
        "(values.tree); return values.tree; })()",
        tree=tree,
        markers=list(markers),
        options={"unsupported": list(unsupported), "quote": quote, "skip": skip},
    )
    return _plain(marked)


def paragraph(*children):
    return element("p", *children)


def element(name, *children):
    nodes = [{"type": "text", "value": c} if isinstance(c, str) else c for c in children]
    return {"type": "element", "tagName": name, "properties": {}, "children": nodes}


def _plain(node):
    if node["type"] == "text":
        return node["value"]
    if node["tagName"] == "cite-badge":
        return ["cite", node["properties"]["marker"]]
    return [node["tagName"], *(_plain(child) for child in node["children"])]


def test_fences_and_lists_stay_whole_where_blank_lines_part_paragraphs():
    text = "One.\n\n- a\n\n  more\n\n- b\n\n```\nx\n\ny\n```\n\nTwo."

    assert run("marking.splitBlocks(values.text)", text=text) == [
        "One.",
        "- a\n\n  more\n\n- b",
        "```\nx\n\ny\n```",
        "Two.",
    ]


def test_an_open_fence_is_one_block_while_it_is_being_written():
    assert run("marking.splitBlocks(values.text)", text="```py\na = 1\n\nb = [1]") == [
        "```py\na = 1\n\nb = [1]"
    ]


def test_only_markers_that_exist_become_badges_and_keep_to_the_word_before():
    tree = paragraph("Bees shiver [1], [2, 1]. Not so [9].")

    assert annotate(tree, markers=[1, 2]) == [
        "p",
        ["span", "Bees shiver", ["cite", "1"], ",", ["cite", "2"], ["cite", "1"], ". Not so [9]."],
    ]


def test_code_and_links_keep_their_brackets():
    tree = paragraph(element("code", "a[1]"), element("a", "see [1]"))

    assert annotate(tree, markers=[1]) == ["p", ["code", "a[1]"], ["a", "see [1]"]]


def test_an_unsupported_sentence_is_marked_across_bold_words_and_to_its_full_stop():
    tree = paragraph("They shiver. They ", element("strong", "sing"), " at night. So it is.")
    marked = annotate(tree, unsupported=["They **sing** at night."])

    assert marked == [
        "p",
        ["span", "They shiver. ", ["unsupported-words", "They "]],
        ["strong", ["span", ["unsupported-words", "sing"]]],
        ["span", ["unsupported-words", " at night."], " So it is."],
    ]


def test_of_words_that_occur_twice_the_cited_ones_are_marked():
    before = "The core is warm. Then snow. "
    skip = run("marking.countBefore(values.b, values.q)", b=before, q="The core is warm.")
    tree = paragraph(before + "The core is warm. End.")

    assert skip == 1
    assert annotate(tree, quote="The core is warm.", skip=skip) == [
        "p",
        ["span", "The core is warm. Then snow. ", ["mark", "The core is warm."], " End."],
    ]


def test_letters_outside_the_basic_plane_do_not_shift_the_mark():
    tree = paragraph("𝔄𝔅 first. 𝔊𝔬𝔱𝔥𝔦𝔠 words here. Last.")

    assert annotate(tree, quote="𝔊𝔬𝔱𝔥𝔦𝔠 words here.") == [
        "p",
        ["span", "𝔄𝔅 first. ", ["mark", "𝔊𝔬𝔱𝔥𝔦𝔠 words here."], " Last."],
    ]
