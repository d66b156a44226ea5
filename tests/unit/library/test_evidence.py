"""What of a document is shown around a quote."""

from rag_app.library.evidence import boxes_on_lines


def test_a_quote_on_a_scan_is_marked_line_by_line() -> None:
    lines = [[0, 10, 0.1, 0.1, 0.5, 0.12], [11, 21, 0.1, 0.14, 0.3, 0.16]]

    assert [[round(edge, 6) for edge in box] for box in boxes_on_lines(lines, 5, 16)] == [
        [0.3, 0.1, 0.5, 0.12],
        [0.1, 0.14, 0.2, 0.16],
    ]
    assert boxes_on_lines(lines, 10, 11) == []
