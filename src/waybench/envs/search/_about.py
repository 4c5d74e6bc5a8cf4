"""What the documentation says of the six environments."""

from waybench._package_data import read_text, read_toml


def about(name: str) -> str:
    """Return the description of an environment.

    Args:
        name: The part of its id after the slash.
    """
    parts = read_toml(__file__, "about.toml")
    kind = "number" if name in ("guessnum", "coin") else "depth" if name.endswith("dfs") else "breadth"
    shared = parts["number" if kind == "number" else "walk"]
    return read_text(__file__, "about.md").format(**{**shared, **parts[kind], **parts[name]})
