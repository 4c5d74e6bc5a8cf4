"""Numbers of things, and things with their article, in plain English."""


def plural(count: int, one: str, several: str | None = None) -> str:
    """Return "1 maze", "2 mazes", "1,000 mazes".

    Args:
        count: The number.
        one: What there is one of.
        several: What there are several of; by default `one` with an "s".
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def short_count(count: float) -> str:
    """Return a number with three digits that count: "950", "31.2k", "1.2M"."""
    for least, size, letter in ((999_500, 1_000_000, "M"), (1_000, 1_000, "k")):
        if count >= least:
            value = count / size
            return f"{value:,.0f}{letter}" if value >= 99.95 else f"{value:.3g}{letter}"
    return f"{count:.0f}"


def duration_text(seconds: float) -> str:
    """Return a duration: "45 s", "3 min 20 s", "35 min", "1 h 5 min"."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole < 600 and whole % 60 else "")
    return f"{whole // 3600:,} h" + (f" {whole % 3600 // 60} min" if whole % 3600 >= 60 else "")


def with_article(noun: str) -> str:
    """Return "a maze", "an item"."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
