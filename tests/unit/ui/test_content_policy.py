import base64
import hashlib

from rag_app.ui.content_policy import build_policy, with_policy


def test_inline_scripts_of_the_build_are_allowed_by_hash_and_no_others(tmp_path):
    script = "const theme = 1;\n"
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "index.html").write_text(
        f'<script src="/a.js"></script><script type="module">{script}</script>'
    )
    policy = build_policy(tmp_path)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "unsafe-eval" not in policy


def test_nothing_of_another_host_is_loaded_but_the_player(tmp_path):
    hosts = [word for word in build_policy(tmp_path).split() if "://" in word]

    assert hosts == ["https://www.youtube-nocookie.com;"]


async def test_answers_carry_the_policy_unless_they_have_their_own():
    plain = await _headers([])
    own = await _headers([(b"content-security-policy", b"sandbox")])

    assert b"frame-ancestors 'none'" in plain[b"content-security-policy"]
    assert own[b"content-security-policy"] == b"sandbox"
    assert own[b"x-content-type-options"] == b"nosniff"


async def _headers(headers):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    sent = []

    async def send(message):
        sent.append(message)

    await with_policy(app)({"type": "http"}, None, send)
    return dict(sent[0]["headers"])
