"""Markdown for the generated pages."""

from collections.abc import Iterable


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    lines = [list(head), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def between(text: str, name: str, content: str) -> str:
    """Return a page's text with new content between its comments `<!-- NAME -->` and `<!-- end of NAME -->`.

    Raises:
        ValueError: If the page does not have these comments.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = text.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"no comments {start.strip()} and {end.strip()}")
    return f"{before}{start}\n{content}\n\n{end}{after}"
