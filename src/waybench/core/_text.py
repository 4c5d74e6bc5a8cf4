"""Numbers of things, and things with their article, in plain English."""


def plural(count: int, one: str, several: str | None = None) -> str:
    """Return "1 maze", "2 mazes", "1,000 mazes".

    Args:
        count: The number.
        one: What there is one of.
        several: What there are several of; by default `one` with an "s".
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def with_article(noun: str) -> str:
    """Return "a maze", "an item"."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
