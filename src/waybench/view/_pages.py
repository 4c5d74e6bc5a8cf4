"""What becomes of a page on its way to the browser: it may run our script, which reloads it when it has changed."""

from hashlib import sha256
from html import escape
from html.parser import HTMLParser

HOME = "/~waybench"  # the server's own; no file of a site begins with "~"
SCRIPT = f"{HOME}/reload.js"
PROGRESS = f"{HOME}/progress.json"
_RELOAD = ("script-src", "connect-src")


def version(content: bytes) -> str:
    """Return what tells a page's contents apart, as an entity tag."""
    return f'"{sha256(content).hexdigest()[:16]}"'


def with_reload(page: bytes) -> bytes:
    """Return a page that reloads itself: with our script, and with a policy that lets it in.

    Args:
        page: The page as it is on disk; what is no UTF-8 stays as it is.
    """
    text = page.decode("utf-8", "surrogateescape")
    head, end_of_head, rest = text.partition("</head>")
    for found, policy in _policies(head):
        allowed = escape(allow_reload(policy))
        head = head.replace(found, f'<meta http-equiv="Content-Security-Policy" content="{allowed}">')
    script = f'<script src="{SCRIPT}" data-version="{escape(version(page))}"></script>\n'
    before, end_of_body, after = (head + end_of_head + rest).rpartition("</body>")
    whole = before + script + end_of_body + after if end_of_body else after + script
    return whole.encode("utf-8", "surrogateescape")


def allow_reload(policy: str) -> str:
    """Return a Content-Security-Policy that lets a page load scripts from and speak to its own server, too.

    Everything else stays as it is; a policy that does not restrict one of the two is left alone in it.
    """
    directives: dict[str, list[str]] = {}
    for directive in policy.split(";"):
        name, *sources = directive.split() or [""]
        if name:
            directives.setdefault(name.lower(), sources)  # of a directive that stands twice the first one counts
    wanted = [*_RELOAD, *(["script-src-elem"] if "script-src-elem" in directives else [])]
    for name in wanted:
        sources = directives.get(name, directives.get("default-src"))
        if sources is not None:
            kept = [source for source in sources if source.lower() not in ("'none'", "'self'")]
            directives[name] = [*kept, "'self'"]
    return "; ".join(" ".join([name, *sources]) for name, sources in directives.items())


def _policies(head: str) -> list[tuple[str, str]]:
    """Return the <meta> elements with a policy, as they are written, and what the policy is."""
    reader = _Policies()
    reader.feed(head)
    reader.close()
    return reader.found


class _Policies(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.found.append((self.get_starttag_text() or "", given.get("content", "")))
