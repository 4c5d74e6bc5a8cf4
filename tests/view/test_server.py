"""The server, asked by a client over a socket."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.report.pages import Page
from tests.view.support import TOKEN, asked, cookie, served
from waybench.core import UsageError
from waybench.reporting.view._app import PROGRESS, SCRIPT, LiveSite, entity_tag
from waybench.reporting.view._serve import DEFAULT_PORT, address_with_token, new_token, open_listener

POLICY = "default-src 'none'"
PAGE = (
    f'<!doctype html><html><head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    "<title>{0}</title></head><body>{0}</body></html>"
)
SECRET = "a secret"
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site's folder, with files around it that are nobody's business."""
    home = tmp_path_factory.mktemp("home")
    site = home / "site"
    files = {"index.html": PAGE, "models/m-1.html": PAGE, "assets/style.css": "p {}", "assets/x.js": "1", "a.bin": "b"}
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(name) if text == PAGE else text)
    (site / ".index.html.123").write_text(SECRET)
    (home / "secret.html").write_text(SECRET)
    (home / "site-2").mkdir()
    (home / "site-2" / "index.html").write_text(SECRET)
    return site


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    """Return the port on which the site is served."""
    with served(LiveSite(folder, "title")) as found:
        yield found


@pytest.fixture(scope="module")
def client(port: int) -> Iterator[httpx.Client]:
    """Return a client of the server."""
    with client_of(port) as made:
        yield made


def client_of(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, cookies=cookie(port))


@pytest.mark.parametrize(("path", "file"), [("/", "index.html"), ("/index.html", "index.html")])
def test_the_first_page(client: httpx.Client, folder: Path, path: str, file: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    read = Page(answer.text)
    assert read.problems == []
    assert "index.html" in read.words
    assert read.all("script") == [{"src": SCRIPT, "data-version": answer.headers["ETag"]}]
    (policy,) = [meta["content"] for meta in read.all("meta")]
    assert policy == f"{POLICY}; script-src 'self'; connect-src 'self'"
    assert answer.headers["ETag"] == entity_tag((folder / file).read_bytes())
    assert (folder / file).read_text() == PAGE.format("index.html")  # nothing is written to the files


def test_other_files_are_sent_as_they_are(client: httpx.Client) -> None:
    wanted = {
        "/assets/style.css": ("text/css; charset=utf-8", b"p {}"),
        "/assets/x.js": ("text/javascript; charset=utf-8", b"1"),
        "/a.bin": ("application/octet-stream", b"b"),
    }
    for path, (kind, content) in wanted.items():
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Content-Type"], answer.content) == (200, kind, content)


def test_the_script_is_the_servers_own(client: httpx.Client, folder: Path) -> None:
    answer = client.get(SCRIPT)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "location.reload()" in answer.text
    assert not [*folder.rglob("reload.js")]


@pytest.mark.parametrize(
    "path", ["/", "/models/m-1.html", "/assets/style.css", SCRIPT, PROGRESS, "/nothing", "/models/"]
)
def test_every_answer_has_the_headers(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
    assert "server" not in answer.headers


def test_a_page_that_changes_has_another_version(client: httpx.Client, folder: Path) -> None:
    versions = {path: client.head(path).headers["ETag"] for path in ("/", "/index.html", "/models/m-1.html")}
    assert versions["/"] == versions["/index.html"] != versions["/models/m-1.html"]
    assert client.head("/").content == b""
    before = (folder / "index.html").read_text()
    (folder / "index.html").write_text(PAGE.format("new"))
    now = {path: client.head(path).headers["ETag"] for path in versions}
    assert {path for path in versions if now[path] != versions[path]} == {"/", "/index.html"}
    (folder / "index.html").write_text(before)
    assert {path: client.head(path).headers["ETag"] for path in versions} == versions


# Each as it goes over the wire.
OUTSIDE = [
    *("/../secret.html", "/models/../../secret.html", "/%2e%2e/secret.html", "/%2e%2e%2fsecret.html"),
    *("/..%2fsecret.html", "/models/..%2f..%2fsecret.html", "/%252e%252e/secret.html", "/..%5csecret.html"),
    *("/..\\secret.html", "/models\\..\\..\\secret.html", "//etc/passwd", "/%2fetc/passwd", "/etc/passwd"),
    *("/.index.html.123", "/%2eindex.html.123", "/models/./m-1.html", "/models/../index.html", "/C:/secret.html"),
    *("/index.html%00", "/index.html%00.css", "/%00", "/%ff", "/%c0%ae%c0%ae/secret.html", "/site-2/index.html"),
    *("/../site-2/index.html", "/~waybench/", "/~waybench/../index.html", "/~waybench/pages/waiting.html", "/%"),
    *("/models", "/models/", "/assets", "/assets/", "/index.html/", "/index.html/x", "/" + "a" * 5000, "/a/" * 500),
    "http://127.0.0.1/../secret.html",
]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path[:30])
def test_nothing_but_files_of_the_site(port: int, path: str) -> None:
    response, body = asked(port, path)
    assert 400 <= response.status < 500
    assert SECRET.encode() not in body
    assert b"m-1" not in body  # no listing


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_links_lead_to_files_of_the_site_alone(port: int, folder: Path) -> None:
    (folder / "out.html").symlink_to("../secret.html")
    (folder / "up").symlink_to("..")
    (folder / "circle.html").symlink_to("circle.html")
    (folder / "in.html").symlink_to("models/m-1.html")
    for path in ("/out.html", "/up/secret.html", "/up/site/index.html", "/circle.html"):
        response, body = asked(port, path)
        assert (response.status, SECRET.encode() in body) == ((200 if "site" in path else 404), False)
    assert asked(port, "/in.html")[0].status == 200


@pytest.mark.parametrize("path", ["/", "/assets/style.css", SCRIPT, PROGRESS, "/nothing"])
def test_other_names_are_refused(port: int, path: str) -> None:
    refused = [
        *("attacker.example", f"attacker.example:{port}", f"127.0.0.1.attacker.example:{port}", "127.0.0.1"),
        *("localhost", f"127.0.0.1:{port + 1}", f"0.0.0.0:{port}", f"127.0.0.1:{port}@attacker.example"),
        *(f"127.0.0.2:{port}", f"[::1]:{port}", f"127.0.0.1:0{port}", f"localhost.:{port}", f"a@127.0.0.1:{port}"),
    ]
    for host in [*refused, ""]:
        response, body = asked(port, path, host)
        assert 400 <= response.status < 500, host
        assert b"html" not in body and b"p {}" not in body
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}"):
        assert asked(port, path, host)[0].status == (404 if path == "/nothing" else 200)


def test_a_second_name_does_not_help(port: int) -> None:
    for names in ((f"127.0.0.1:{port}", "attacker.example"), ("attacker.example", f"127.0.0.1:{port}")):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            lines = "".join(f"Host: {name}\r\n" for name in names)
            connection.sendall(f"GET / HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode())
            assert connection.makefile("rb").readline().split()[1].startswith(b"4")


def test_a_request_without_a_name_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"421"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_is_taken_but_questions(port: int, method: str) -> None:
    for path in ("/", "/index.html", SCRIPT):
        assert asked(port, path, method=method)[0].status == 405


def test_until_there_is_a_page_another_one_stands_in(tmp_path: Path) -> None:
    site = LiveSite(tmp_path / "later", "<b>title</b>", {"<b>start</b>": "waybench run '<b>'"})
    with served(site) as port, client_of(port) as client:
        building = client.get("/")
        assert building.status_code == 200
        assert "being built" in building.text and "waybench run" not in building.text
        site.message, site.hint = "<b>There is none</b>", True
        waiting = client.get("/index.html")
        read = Page(waiting.text)
        assert read.problems == []
        assert read.all("b") == []  # nothing of it is markup
        assert all(text in read.text for text in ("<b>title</b>", "<b>There is none</b>", "<b>start</b>", "run '<b>'"))
        assert read.all("script") == [{"src": SCRIPT, "data-version": waiting.headers["ETag"]}]
        site.folder.mkdir()
        (site.folder / "index.html").write_text(PAGE.format("there"))
        assert "there" in client.get("/").text
        assert len({building.headers["ETag"], waiting.headers["ETag"], client.head("/").headers["ETag"]}) == 3


def test_a_replay_without_a_page_is_made_when_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "m.html").write_text("results")
    calls: list[str] = []
    site = LiveSite(tmp_path, "title", call=lambda: calls.append("called"))
    with served(site) as port, client_of(port) as client:
        first = client.get("/replays/index.html?m-7.html", follow_redirects=True)
        assert first.url.path == "/replays/m-7.html"
        assert "is being made" in first.text
        assert (site.wanted, calls) == ({"m-7.html"}, ["called"])
        assert client.head("/replays/m-7.html").headers["ETag"] == first.headers["ETag"]
        assert calls == ["called"]
        (tmp_path / "replays").mkdir()
        (tmp_path / "replays" / "m-7.html").write_text(PAGE.format("the replay"))
        assert "the replay" in client.get("/replays/m-7.html").text
        assert client.get("/replays/m-8.html").status_code == 200
        site.built = site.wanted  # and there is no such replay
        assert client.get("/replays/m-8.html").status_code == 404
        for other in ("/replays/n-7.html", "/replays/m.html", "/replays/m-x.html", "/replays/%2e%2e%2fm-7.html"):
            assert client.get(other).status_code == 404
        outside = client.get("/replays/index.html?//other.example/", follow_redirects=False)
        assert outside.headers["Location"].startswith(f"http://127.0.0.1:{port}/replays/")
        assert site.wanted == {"m-7.html", "m-8.html"}


NO_TOKENS = [None, "", "a", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\u00e4", '"', f"x; {TOKEN}"]


@pytest.mark.parametrize("path", ["/", "/models/m-1.html", "/assets/style.css", "/a.bin", SCRIPT, "/nothing", "/.x"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_who_has_no_token_sees_nothing(port: int, path: str, method: str) -> None:
    refused = "This page is private: open the full address that `waybench view` printed, with ?token=... at the end."
    for token in NO_TOKENS:
        response, body = asked(port, path, method=method, token=token and token.encode().decode("latin-1"))
        assert response.status == 403, token
        assert response.getheader("Set-Cookie") is None
        assert body.decode() == ("" if method == "HEAD" else refused + "\n")
        assert HEADERS.items() <= {name: response.getheader(name) for name in HEADERS}.items()
    assert asked(port, f"{path}?token=another", method=method, token=None)[0].status == 403
    assert asked(port, f"{path}?token=", method=method, token="")[0].status == 403


def test_the_cookie_of_another_port_does_not_help(port: int) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as other:
        other.cookies.update(cookie(port + 1))
        assert other.get("/").status_code == 403


def test_the_first_address_sets_the_cookie_and_loses_the_token(port: int) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as visitor:
        first = visitor.get(f"/models/m-1.html?a=1&token={TOKEN}&b=2")
        assert (first.status_code, first.headers["Location"]) == (
            303,
            f"http://127.0.0.1:{port}/models/m-1.html?a=1&b=2",
        )
        assert HEADERS.items() <= {name: first.headers.get(name) for name in HEADERS}.items()
        name_and_value, *attributes = first.headers["Set-Cookie"].split("; ")
        assert name_and_value == f"waybench-view-{port}={TOKEN}"
        assert {each.lower() for each in attributes} == {"httponly", "samesite=strict", "path=/"}
        assert "m-1" in visitor.get(first.headers["Location"]).text  # the client keeps the cookie
        assert visitor.head(SCRIPT).status_code == 200


def test_the_first_address_leads_nowhere_else(port: int) -> None:
    for path in ("//other.example/", "/%5cother.example", "/\\other.example", "/%0d%0aSet-Cookie:x"):
        response, _ = asked(port, f"{path}?token={TOKEN}", token=None)
        assert response.status == 303
        assert str(response.getheader("Location")).startswith(f"http://127.0.0.1:{port}/")
    response, body = asked(port, f"/?token={TOKEN}", "attacker.example", token=None)
    assert (response.status, response.getheader("Set-Cookie")) == (421, None)
    assert TOKEN.encode() not in body


def test_tokens_are_random() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 32 and token.replace("-", "").replace("_", "").isalnum() for token in tokens)


def test_it_listens_on_loopback_alone() -> None:
    with open_listener(0) as listener:
        name, port = listener.getsockname()
        assert name == "127.0.0.1"
        assert address_with_token(listener, "abc") == f"http://127.0.0.1:{port}/?token=abc"


def test_a_port_that_is_taken() -> None:
    with open_listener(0) as first:
        port = first.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} .*--port"):
            open_listener(port)


def test_of_the_usual_ports_the_next_free_one() -> None:
    with open_listener() as first, open_listener() as second:
        ports = [listener.getsockname()[1] for listener in (first, second)]
        assert DEFAULT_PORT <= ports[0] < ports[1]
