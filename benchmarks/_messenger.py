"""Messenger: steps of a random player."""

from collections.abc import Iterator
from typing import Any

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Episode, Item, Stream, play_to_end, policy

# Stage -> steps a second of the published program, resets included (shared/specs/smartplay.md, section 14).
PUBLISHED = {1: 3_900, 2: 3_500, 3: 2_300}
GAMES = 100


def messenger() -> Iterator[Comparison]:
    """Play given replies through the whole loop, and by the rules alone."""
    environment = waybench.load("messenger/roles")
    options = {"wording": "one_question"}
    game: Any = environment.playing.play(environment.resolve_options(options)).game
    for stage, published in PUBLISHED.items():
        items: list[Item[Any]] = environment.source("bench", stage).head(GAMES * (10 if stage == 1 else 1))
        records = [play_to_end(environment, item, policy("random"), options).record() for item in items]
        replies = [[turn.reply for turn in record.turns] for record in records]
        choices = [[game.decode(turn.action) for turn in record.turns] for record in records]

        def whole(items=items, replies=replies) -> None:  # type: ignore[no-untyped-def]
            for item, text in zip(items, replies, strict=True):
                episode: Episode[Any, Any, Any] = Episode(environment, item, options)
                for reply in text:
                    episode.step(reply)

        def rules(items=items, choices=choices) -> None:  # type: ignore[no-untyped-def]
            for item, chosen in zip(items, choices, strict=True):
                world, rng = game.rules.begin(item.instance), Stream("bench", item.index)
                for choice in chosen:
                    world = game.rules.step(world, choice.action, rng).world
                    if world.fate:
                        break

        yield compare(
            f"messenger/roles, stage {stage}: a random player's steps, replies read, history and observation written, "
            f"{len(items)} games begun (the published program is said to make {published:,} a second)",
            whole,
            rules,
            against="the rules alone",
            count=sum(map(len, replies)),
            unit="steps",
        )
