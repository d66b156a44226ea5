import pytest

from rag_app.ingestion.broken_text import is_garbled


@pytest.mark.parametrize(
    "text",
    ["\x03\x04\x05\x06 abcdefgh" * 3, "\ue000\ue001 some words here", "\ufffd\ufffd abcdefghij",
     "뷁뷂뷃뷄뷅뷆뷇뷈뷉뷊뷋뷌뷍뷎뷏뷐뷑뷒뷓뷔", "¡¢£¤¥¦§¨©ª«¬®¯°±²³"],
)  # fmt: skip
def test_signs_of_a_broken_font_map_are_seen(text: str) -> None:
    assert is_garbled(text)


@pytest.mark.parametrize(
    "text",
    ["Die Straße führt über den Fluß.",
     "꿀벌은 꽃이 있는 곳을 서로에게 알리기 위해 춤을 춘다고 합니다.",
     "x\x03", "", "soft\u00adhyphen and line\ufffeend",
     "§ 3 Abs. 2 «oui» £5, and then many more words that follow"],
)  # fmt: skip
def test_good_text_is_left_alone(text: str) -> None:
    assert not is_garbled(text)
