"""Writes the small library that the pictures in docs/ show."""

from pathlib import Path

from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

HEADING = ParagraphStyle("heading", fontName="Times-Bold", fontSize=17, leading=22, spaceAfter=12)
TEXT = ParagraphStyle(
    "text", fontName="Times-Roman", fontSize=10.5, leading=15.5, spaceAfter=7, alignment=TA_JUSTIFY
)

BEEKEEPER = {
    "The year begins in August": (
        "Winter losses are decided in late summer. Bees that hatch in August and September live "
        "for six months instead of six weeks, because they raise no brood and store fat in their "
        "bodies.",
        "Whoever treats against the varroa mite only in October treats too late: by then the "
        "winter bees have already been raised by infested nurses.",
        "A colony is best read from outside before it is opened. The keeper watches the entrance "
        "for a few minutes, counts the foragers that carry pollen, and listens.",
    ),
    "Feeding": (
        "A colony in a temperate climate needs fifteen to twenty kilograms of stores to survive "
        "the winter. Feeding ends by the middle of September, while the bees can still ripen the "
        "syrup and cap the cells.",
        "Never feed honey of unknown origin: spores of American foulbrood stay alive in it for "
        "decades.",
        "A hive that feels light in February is given fondant directly above the cluster. Syrup "
        "would chill the bees and tempt them to fly.",
    ),
    "The winter cluster": (
        "Below ten degrees the bees draw together into a cluster, head to head over the seams "
        "between the combs. The colder it grows, the closer they sit.",
        "In its core they hold the temperature near twenty degrees, and near thirty-four as soon "
        "as there is brood. They do so by trembling with their flight muscles while the wings are "
        "uncoupled; a cluster of ten thousand bees gives off about forty watts.",
        "Bees of the outer mantle hardly move. From time to time they trade places with those "
        "inside, and none of them stays in the cold for long.",
        "Noise, a knock on the box or a mouse at the entrance makes the whole cluster hum. Each "
        "such alarm costs stores, and in a long winter stores are what the colony lacks first.",
    ),
    "Varroa in December": (
        "The varroa mite breeds in capped brood. In December, when there is none, nearly all mites "
        "sit on the bees, and a single treatment with oxalic acid reaches more than ninety percent "
        "of them.",
        "Count the fallen mites on a board under the hive for three days; more than one a day "
        "calls for treatment.",
    ),
    "The cleansing flight": (
        "The first cleansing flight comes on a still day above ten degrees. The snow before the "
        "hives is then dotted with yellow, and the year has turned.",
        "Only now is it worth lifting the lid for a moment: a look at the stores, no more.",
    ),
}

LINDEN = {
    "Standort": (
        "Eine Winterlinde braucht mindestens zwölf Kubikmeter durchwurzelbaren Boden. In engen "
        "Baumscheiben vertrocknet sie nach wenigen heißen Sommern.",
    ),
    "Blüte": (
        "Die Winterlinde blüht Anfang Juli und gibt den Bienen die letzte große Tracht des Jahres. "
        "Was danach kommt, reicht nur noch für den Wintervorrat.",
    ),
}

NOTE = """# Visits to the apiary

## 21 December

Cold and dry. **Hive 3** is calm, the cluster sits over the fourth seam. Trickled five millilitres
of oxalic acid a seam, once only: a second treatment harms the bees.

- Hive 7 is weak and stays united with hive 4
- Mouse guard of hive 9 had slipped, put back

## 14 February

First cleansing flight at noon, eleven degrees. Hive 3 feels light.
"""

WEB_PAGE = """<!doctype html><html lang="en"><head><title>How honey bees heat their nest</title>
</head><body><article><h1>How honey bees heat their nest</h1>
<p>A honey bee warms itself with the muscles that otherwise beat its wings. The wings stay still,
for the bee can uncouple them from the muscle as a driver puts a car in neutral.</p>
<p>Thermal cameras show single heater bees in the brood nest, each with a thorax of more than forty
degrees, pressed against the cap of a cell for up to half an hour.</p>
<p>The fuel is honey. A wintering colony uses about a kilogram of it in a month without brood, and
three times as much once the queen lays again.</p></article></body></html>"""

VIDEO_ID = "b33sInW1nt3"
VIDEO_LINES = (
    (0, "Good morning from the snow. Today we listen to a hive without opening it."),
    (24, "Put the stethoscope on the wall of the box, about a hand above the floor."),
    (51, "You hear a low, even hum, like wind in a wire."),
    (78, "That is the cluster at work: each of those bees trembles for a while and then rests."),
    (109, "If you hear a rising roar that does not settle, the queen may be gone."),
    (141, "And if you hear nothing at all, knock once, gently, and wait."),
    (163, "Leave the hive closed. Every opening costs them a day of heating."),
)


def write_files(folder: Path) -> list[Path]:
    """Write the files that are dropped into the library, one of them damaged."""
    linden = write_book(folder / "linden.pdf", "Handbuch der Stadtbäume", LINDEN)
    book = write_book(folder / "winter.pdf", "The Beekeeper's Winter", BEEKEEPER)
    note = folder / "visits.md"
    note.write_text(NOTE)
    damaged = folder / "scan-of-a-letter.pdf"
    damaged.write_bytes(b"%PDF-1.4\nnothing that could be read\n")
    return [linden, damaged, book, note]


def write_book(path: Path, title: str, chapters: dict[str, tuple[str, ...]]) -> Path:
    """Write a PDF with one chapter a page."""
    flow = []
    for heading, paragraphs in chapters.items():
        flow.append(Paragraph(heading, HEADING))
        flow.extend(Paragraph(paragraph, TEXT) for paragraph in paragraphs)
        flow.append(PageBreak())
    margins = dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), 52)
    SimpleDocTemplate(str(path), pagesize=A5, title=title, **margins).build(flow)
    return path
