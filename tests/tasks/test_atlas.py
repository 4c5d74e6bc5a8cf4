"""Atlas's tasks: a ladder for each condition, climbed by itself, and the quick sketch."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from waybench.core import Episode, EpisodeRecord, Item, UsageError, policy
from waybench.envs import registry
from waybench.evaluation._ladders import Ladders, WithinBudget
from waybench.evaluation.tasks import find_task, resolve_key
from waybench.evaluation.tasks._estimate import TaskQuote
from waybench.evaluation.tasks._items import task_items
from waybench.evaluation.tasks._samples import task_samples

WORLD = registry.load("atlas/world")
ATLAS, QUICK = find_task("atlas"), find_task("atlas_quick")


def finished(sample: Any, player: str) -> Any:
    """Play a sample's episode as the solver would, and return what the engine would report of it."""
    head = EpisodeRecord.from_parts(sample.metadata["waybench"])
    item = Item(WORLD.items.decode(head.instance), **head.item, proof=head.proof)
    episode: Episode[Any, Any, Any] = Episode(WORLD, item, head.options, attempt=head.attempt, player="m")
    while not episode.done:
        episode.step(policy(player).reply(episode))
    turns = [turn.dumps() for turn in episode.turns]
    progress = {"player": "m", "turns": turns, "end": episode.end_reason, "error": None}
    return SimpleNamespace(
        id=sample.id, epoch=1, error=None, metadata=sample.metadata, store={"waybench": progress}, scores=None
    )


def climbed(player_of: dict[str, str], **parameters: Any) -> Counter[tuple[str, int]]:
    """Return how many samples of each condition and level a player runs."""
    source = task_samples(ATLAS, resolve_key(ATLAS.resolve({"limit": 2, "max_level": 11, **parameters})))
    assert isinstance(source, Ladders)
    waiting, ran = source.initial_samples(), list[Any]()
    while waiting:
        sample = waiting.pop()  # the order changes nothing
        ran.append(sample)
        condition = str(sample.id).partition("-")[0]
        waiting += asyncio.run(source.sample_complete(finished(sample, player_of.get(condition, "null")))) or []
    return Counter((str(sample.id).partition("-")[0], sample.metadata["level"]) for sample in ran)


def test_each_condition_is_climbed_by_itself() -> None:
    counts = climbed({"plan": "oracle", "explore": "oracle"})
    levels = {condition: [level for name, level in sorted(counts) if name == condition] for condition, _ in counts}
    assert levels["plan"] == levels["explore"] == [3, 4, 6, 8, 11]
    # The others end after two levels without success.
    others = ("map", "read", "recall", "act", "blind", "detour")
    assert {condition: levels[condition] for condition in others} == {condition: [3, 4] for condition in others}
    assert set(counts.values()) == {2}


def test_levels_between_the_ends_are_those_of_the_specification() -> None:
    assert {level for _, level in climbed({"map": "oracle"}, min_level=5, max_level=9)} == {6, 8}
    with pytest.raises(UsageError, match="min_level=12"):
        task_samples(ATLAS, resolve_key(ATLAS.resolve({"min_level": 12, "max_level": 13})))


def test_all_conditions_have_the_same_worlds() -> None:
    items = list(task_items(QUICK.parts, resolve_key(QUICK.resolve({}))))
    by_condition: dict[str, set[str]] = {}
    for played in items:
        by_condition.setdefault(str(played.options["condition"]), set()).add(played.item.instance.hash)
    assert {condition: len(hashes) for condition, hashes in by_condition.items()} == {
        **dict.fromkeys(("plan", "map", "read", "recall", "act", "detour"), 9),
        "explore": 4,
    }
    assert len({played.item.instance.hash for played in items}) == 9
    assert len({played.item.id for played in items}) == len(items)


def test_the_quote_has_all_ladders() -> None:
    quote = TaskQuote(ATLAS, ATLAS.resolve({"limit": 1, "max_level": 4}))
    assert "climbs from route length 3" in " ".join(quote.notes)


def spent(tokens: int | None) -> list[int]:
    """Return how many samples `atlas_quick` supplies in each round to a player that takes so many tokens for each."""
    source = task_samples(QUICK, resolve_key(QUICK.resolve({})))
    assert isinstance(source, WithinBudget)
    samples, rounds, state = source.initial_samples(), list[int](), source.initial_state("m")
    while samples:
        rounds.append(len(samples))
        following: list[Any] = []
        for sample in samples:
            assert not following  # before the last is finished nothing follows
            record: Any = SimpleNamespace(tokens=(tokens or 0, 0))
            following = source.samples_after(state, str(sample.id), record)
        samples = following
    return rounds


def test_the_sketch_goes_on_to_level_eight_while_its_budget_lasts() -> None:
    assert spent(None) == [58, 18]
    assert spent(1_000) == [58, 18]  # 142,000 are left
    assert spent(200_000 // 58) == [58]
    few = spent(3_300)  # 8,600 are left: some of the single replies
    assert few[0] == 58
    assert 0 < sum(few[1:]) < 18
