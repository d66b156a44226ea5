import pytest

from rag_app.ui.state.addresses import leads_here


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "localhost:3000/chat",
        "http://LOCALHOST./",
        "https://app.localhost/",
        "http://127.0.0.1:8000/x",
        "127.1.2.3",
        "http://[::1]/",
        "http://0.0.0.0:80",
    ],
)
def test_an_address_of_this_computer_is_told_at_once(url: str) -> None:
    assert leads_here(url, ())


@pytest.mark.parametrize(
    "url",
    ["example.org", "https://localhost.example/", "http://10.0.0.1/", "http://[::1", "", "x:y"],
)
def test_all_others_are_left_to_the_fetching(url: str) -> None:
    assert not leads_here(url, ())


def test_what_the_settings_allow_is_not_refused() -> None:
    assert not leads_here("http://127.0.0.1:8000/", ("127.0.0.1:8000",))
    assert not leads_here("http://localhost/", ("localhost",))
    assert leads_here("http://127.0.0.1:8001/", ("127.0.0.1:8000",))
