"""What becomes of a page when it is served: its policy, and the script that reloads it."""

import re
from html import unescape

import pytest

from tests.report.pages import Page
from waybench.reporting.view._app import SCRIPT, add_reload_script, allow_reload, entity_tag

REST = "img-src data:; base-uri 'none'; form-action 'none'"


def directives(policy: str) -> dict[str, set[str]]:
    return {name: set(sources) for name, *sources in (each.split() for each in policy.split(";"))}


@pytest.mark.parametrize(
    ("policy", "scripts"),
    [
        (f"default-src 'none'; style-src 'unsafe-inline'; {REST}", {"'self'"}),
        (
            f"default-src 'none'; style-src 'unsafe-inline'; {REST}; script-src 'sha256-aGVsbG8='",
            {"'sha256-aGVsbG8='", "'self'"},
        ),
        (f"default-src 'none'; style-src 'self' 'unsafe-inline'; {REST}", {"'self'"}),
        (f"default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; {REST}", {"'self'"}),
        (f"default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'none'; {REST}", {"'self'"}),
        (f"default-src 'none';script-src   'NONE' ;;{REST};", {"'self'"}),
    ],
)
def test_our_script_comes_in_and_nothing_else_changes(policy: str, scripts: set[str]) -> None:
    allowed = directives(allow_reload(policy))
    assert allowed.pop("script-src") == scripts
    assert allowed.pop("connect-src") == {"'self'"}
    given = directives(";".join(part for part in policy.split(";") if part.strip()))
    given.pop("script-src", None)
    assert allowed == given


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        # What is not named falls back to default-src, and goes on to do so but for our own server.
        ("default-src https://a.example", {"script-src": {"https://a.example", "'self'"}}),
        ("script-src-elem 'none'; default-src 'none'", {"script-src-elem": {"'self'"}, "script-src": {"'self'"}}),
        ("connect-src https://a.example; default-src 'none'", {"connect-src": {"https://a.example", "'self'"}}),
        # Of two directives of a name browsers take the first.
        ("script-src 'none'; script-src *; default-src 'none'", {"script-src": {"'self'"}}),
        ("Default-Src 'none'; SCRIPT-SRC 'none'", {"script-src": {"'self'"}, "default-src": {"'none'"}}),
    ],
)
def test_policies_of_other_forms(policy: str, wanted: dict[str, set[str]]) -> None:
    assert directives(allow_reload(policy)).items() >= wanted.items()


@pytest.mark.parametrize("policy", ["img-src data:", "base-uri 'none'"])
def test_what_a_policy_does_not_restrict_it_does_not_restrict_afterwards(policy: str) -> None:
    assert allow_reload(policy) == policy


@pytest.mark.parametrize("policy", ["", ";", " ; ; "])
def test_an_empty_policy_stays_empty(policy: str) -> None:
    assert allow_reload(policy) == ""


def policy_of(page: Page) -> str:
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    return policy


@pytest.mark.parametrize(
    "meta",
    [
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">',
        "<META content='default-src &#39;none&#39;'\n  HTTP-EQUIV=content-security-policy />",
    ],
)
def test_a_page_gets_the_script_as_its_last_element(meta: str) -> None:
    body = "<p>&lt;/body&gt; <code>&lt;meta http-equiv=&quot;Content-Security-Policy&quot;&gt;</code> — ü</p>"
    page = f"<!doctype html>\n<html><head><title>x</title>{meta}</head>\n<body>{body}</body>\n</html>\n".encode()
    served = add_reload_script(page).decode()
    read = Page(served)
    assert policy_of(read) == "default-src 'none'; script-src 'self'; connect-src 'self'"
    assert read.all("script") == [{"src": SCRIPT, "data-version": entity_tag(page)}]
    assert served.endswith("></script>\n</body>\n</html>\n")
    # The rest is as it was.
    without = re.sub(r"(?i)<meta[^>]*>|<script[^>]*></script>\n", "", served)
    assert without == page.decode().replace(meta, "")


def test_a_word_of_a_policy_in_the_text_is_no_policy() -> None:
    page = (
        b"<html><head></head><body><meta http-equiv=content-security-policy content=\"img-src 'none'\"></body></html>"
    )
    assert b"img-src 'none'\">" in add_reload_script(page)


@pytest.mark.parametrize("page", [b"", b"plain \xff words", b"<html><body>x", b"<p></BODY>"])
def test_what_is_hardly_a_page_is_kept(page: bytes) -> None:
    served = add_reload_script(page)
    assert served.replace(served[served.index(b"<script") : served.index(b"</script>\n") + 10], b"") == page


def test_versions_tell_contents_apart() -> None:
    pages = [b"", b"a", b"b", b"a\n"]
    assert len({entity_tag(page) for page in pages}) == len(pages)
    assert re.fullmatch(r'"[0-9a-f]{16}"', entity_tag(b"a"))
    assert unescape(add_reload_script(b"a").decode()).count(entity_tag(b"a")) == 1
