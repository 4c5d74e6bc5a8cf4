"""Writes the golden playthroughs again: review the change, for it is what players will see."""

from tests.playthroughs import HERE, golden


def main() -> None:
    """Write every playthrough, delete those that are no more, and name what changed."""
    texts = golden()
    for path in set(HERE.rglob("*.txt")) - set(texts):
        path.unlink()
        print(f"deleted {path.relative_to(HERE)}")
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {path.relative_to(HERE)}")


if __name__ == "__main__":
    main()
