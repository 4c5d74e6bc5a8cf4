"""How the puzzle fails: by illegal moves, or by allowed ones that are not of a shortest solution."""

import waybench
from waybench.core import Episode
from waybench.envs.hanoi._game import HanoiRules

ENV = waybench.load("hanoi/rods")
AB, AC, BA, BC, CA, CB = range(6)


def kind(*moves: int | str, steps: int) -> str | None:
    item = ENV.item({"start": "AAA", "goal": "CCC"})
    episode: Episode = Episode(ENV, item, {"wording": "one_question", "steps": steps})  # type: ignore[type-arg]
    names = HanoiRules(published=True).actions(item.instance)
    for move in moves:
        episode.step(names[move] if isinstance(move, int) else move)
    assert episode.done
    found = ENV.scoring.failure_of(episode.record())
    return found and found.name


def test_which_mistakes_are_most_frequent() -> None:
    assert kind(AC, AB, CB, AC, BA, BC, AC, steps=7) is None
    assert kind(*[BC] * 4, steps=4) == "illegal"  # rod B is empty
    # The smallest disk to and fro: to C is the beginning of the solution, and back is not.
    assert kind(AC, CA, AC, CA, steps=4) == "detour"
    assert kind(AC, CA, BC, BC, steps=4) == "illegal"
    assert kind(AC, AB, CB, steps=3) == "turn_limit"  # without a mistake
    assert kind("?", "?", AC, steps=3) == "unnamed"
