import pytest

from rag_app.errors import IngestionError
from rag_app.uris import canonical_url, find_video_id, find_video_list, is_youtube

ID = "dQw4w9WgXcQ"


@pytest.mark.parametrize(
    "uri",
    [
        f"https://www.youtube.com/watch?v={ID}", f"http://youtube.com/watch?t=5&v={ID}&list=PL1",
        f"https://youtu.be/{ID}?si=abc", f"youtu.be/{ID}", f"https://m.youtube.com/watch?v={ID}",
        f"https://music.youtube.com/watch?v={ID}", f"https://www.youtube.com/shorts/{ID}?feature=x",
        f"https://www.youtube.com/live/{ID}", f"https://www.youtube.com/embed/{ID}?start=3",
        f"https://www.youtube-nocookie.com/embed/{ID}", f"https://www.youtube.com/v/{ID}",
        f"www.youtube.com/watch?v={ID}#t=3", f"https://WWW.YouTube.com/watch/{ID}",
    ],
)  # fmt: skip
def test_every_form_of_address_leads_to_the_same_video(uri: str) -> None:
    assert find_video_id(uri) == ID
    assert f"https://www.youtube.com/watch?v={ID}" == canonical_url(uri)


@pytest.mark.parametrize(
    "uri",
    ["https://www.youtube.com/playlist?list=PL123", "https://www.youtube.com/@somebody/videos",
     "https://www.youtube.com/", "https://youtu.be/", "https://www.youtube.com/watch?v=short"],
)  # fmt: skip
def test_what_is_no_single_video_has_no_id(uri: str) -> None:
    assert is_youtube(uri)
    assert find_video_id(uri) is None
    assert uri == canonical_url(uri)


@pytest.mark.parametrize(
    "uri", ["https://example.com/watch?v=dQw4w9WgXcQ", "https://youtube.com.evil.example/", "x", ""]
)
def test_other_addresses_are_not_for_youtube(uri: str) -> None:
    assert not is_youtube(uri)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("example.com/Page", "https://example.com/Page"),
        (" HTTP://Example.COM ", "http://example.com/"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/a#:~:text=words", "https://example.com/a"),
        ("https://example.com/#/guide", "https://example.com/#/guide"),
    ],
)
def test_one_page_has_one_address(typed: str, kept: str) -> None:
    assert canonical_url(typed) == kept


@pytest.mark.parametrize("typed", ["", "two words", "file:///etc/passwd", "https://", "ftp://a.b/"])
def test_nonsense_is_named(typed: str) -> None:
    with pytest.raises(IngestionError, match="is not a web address"):
        canonical_url(typed)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("youtube.com/@somebody", "/@somebody/videos"),
        ("https://m.youtube.com/@somebody/streams?x=1", "/@somebody/videos"),
        ("https://www.youtube.com/channel/UC123/featured", "/channel/UC123/videos"),
        (
            "https://www.youtube.com/playlist?list=PLabcdefghij&si=x",
            "/playlist?list=PLabcdefghij",
        ),
    ],
)
def test_a_channel_or_a_playlist_has_one_address(typed: str, kept: str) -> None:
    assert canonical_url(typed) == f"https://www.youtube.com{kept}"


def test_a_video_within_a_playlist_is_that_video() -> None:
    typed = "https://www.youtube.com/watch?v=abcdefghijk&list=PLabcdefghij&index=3"

    assert find_video_list(typed) is None
    assert canonical_url(typed) == "https://www.youtube.com/watch?v=abcdefghijk"


def test_a_whole_site_is_kept_under_its_own_mark() -> None:
    assert canonical_url("site:Example.org/docs") == "site:https://example.org/docs"
    with pytest.raises(IngestionError):
        canonical_url("site:ftp://example.org")
