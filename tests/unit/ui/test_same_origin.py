import pytest

from rag_app.ui.same_origin import SameOriginPlugin


def test_the_build_follows_the_page_that_serves_it(tmp_path):
    (tmp_path / "assets").mkdir()
    chunk = tmp_path / "assets" / "reflex-env-1.js"
    chunk.write_text("var e={PING:`http://localhost:8000/ping`,EVENT:`ws://localhost:8000/_event`}")
    SameOriginPlugin().post_build(static_dir=tmp_path)

    assert chunk.read_text() == (
        "var e={PING:(location.origin+'/ping'),"
        "EVENT:(location.origin.replace(/^http/,'ws')+'/_event')}"
    )


def test_a_build_without_that_chunk_is_refused_rather_than_shipped(tmp_path):
    with pytest.raises(FileNotFoundError, match="Reflex has changed"):
        SameOriginPlugin().post_build(static_dir=tmp_path)
