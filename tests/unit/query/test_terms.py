import pytest

from rag_app.query.terms import CLOSE, closeness, content_terms, coverage, fold, rarity, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ﬁnal exam\u00adple, naïve Straße", ["the", "final", "example", "naive", "strasse"]),
        ("1.190 and 1,190 and 3,5", ["1190", "and", "1190", "and", "3.5"]),
        ("2015-16 ended 3:2", ["2015", "16", "ended", "3", "2"]),
        ("ERR_4012-B in v2.10.3", ["err_4012-b", "in", "v2.10.3"]),
        ("黑豹队 2016年", ["黑豹", "豹队", "2016", "年"]),
        ("٣٠٨ نقاط", ["308", "نقاط"]),
        ("Ещё Ёлка", ["еще", "елка"]),
        ("भारत की राजधानी", ["भारत", "की", "राजधानी"]),
        ("", []),
        ("!?… —", []),
    ],
)
def test_a_text_falls_into_terms(text, expected):
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("How many points did the Panthers score?", "en", ["points", "panthers", "score"]),
        ("Wie viele Punkte gab es in Köln?", "de", ["punkte", "koln"]),
        ("Сколько очков потеряла защита?", "ru", ["очков", "потеряла", "защита"]),
        ("谁发明了电话？", "zh", ["发明", "电话"]),
        ("كم نقطة سجل الفريق؟", "ar", ["نقطة", "سجل", "الفريق"]),
        ("What did he do in 1915?", None, ["1915"]),
    ],
)
def test_words_of_asking_carry_no_content(question, language, expected):
    found = content_terms(question, language)

    assert [fold(term) for term in expected] == found


def test_a_question_of_function_words_alone_is_about_them():
    assert content_terms("The Who?", "en") == ["the", "who"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("defense", "defenses"),
        ("developed", "develop"),
        ("häuser", "haus"),
        ("защита", "защиту"),
        ("حرب", "الحرب"),
        ("운하는", "운하가"),
        ("1990er", "1990"),
        ("universität", "university"),
    ],
)
def test_forms_of_a_word_are_close(first, second):
    assert closeness(fold(first), fold(second)) >= CLOSE
    assert closeness(fold(second), fold(first)) >= CLOSE


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("v2.10.3", "v2.10.4"),
        ("err_4012-a", "err_4012-b"),
        ("1915", "1951"),
        ("won", "wonder"),
        ("黑豹", "黑猫"),
        ("dance", "danger"),
        ("form", "farm"),
    ],
)
def test_other_words_and_other_numbers_are_not(first, second):
    assert closeness(fold(first), fold(second)) < CLOSE


def test_a_part_of_a_compound_counts_in_part():
    assert 0 < closeness("verteidigung", "landesverteidigung") < CLOSE


def test_rare_words_weigh_more():
    texts = [frozenset({"bee", "dance"}), frozenset({"bee"}), frozenset({"bees", "hive"})]
    weights = rarity(["bee", "dance", "whale"], texts)

    assert weights["bee"] < weights["dance"] < weights["whale"]
    assert coverage(weights, {"dance"}) > coverage(weights, {"bee"})


def test_nothing_wanted_is_covered_by_nothing():
    assert coverage({}, {"bee"}) == 0.0
