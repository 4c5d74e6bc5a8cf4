"""The published results of the bandits, Rock Paper Scissors and Hanoi, replayed (shared/specs/smartplay.md, 13)."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest

import waybench
from tests.conftest import shared
from waybench.core import End, Environment, Episode, Stream, replay
from waybench.envs.bandit._game import PUBLISHED as BANDITS
from waybench.envs.rps._game import PUBLISHED as MATCHES
from waybench.envs.smartplay._game import history_text, manual_text
from waybench.envs.smartplay._wording import first_named_action

Compared = Callable[[str, str, int], None]
Env = Environment[Any, Any, Any]

GOLDEN = ("WAYBENCH_GOLDEN", "golden", "smartplay")
QUESTION = "Choose the best executable action from the list of all actions. Write the exact chosen action."
CHOICES = ("Rock", "Paper", "Scissor")


@cache
def golden(name: str) -> Any:
    return json.loads(shared(*GOLDEN, name).read_text(encoding="utf-8"))


def found(pattern: str) -> list[str]:
    """Return the names of golden files; where there are none the pattern, so that a test asks for it and says so."""
    try:
        home = shared(*GOLDEN)
    except (pytest.skip.Exception, pytest.fail.Exception):
        return [pattern]
    return sorted(path.name for path in home.glob(pattern)) or [pattern]


class Given(Stream):
    """A stream of one number that is known."""

    __slots__ = ("_number",)

    def __init__(self, number: float) -> None:
        super().__init__("given")
        self._number = number

    def random(self) -> float:
        return self._number


class Recorded(Episode[Any, Any, Any]):
    """An episode whose chance is read from a file; its rules and words are those of every other."""

    def __init__(self, environment: Env, data: Any, draws: Sequence[float], **options: Any) -> None:
        self._draws = draws
        ways = {"protocol": "paper", "wording": "one_question", **options}
        super().__init__(environment, environment.item(data), ways)

    def stream(self, purpose: str) -> Stream:
        return Given(self._draws[len(self.turns)])


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def require_same(episode: Recorded, rollout: dict[str, Any]) -> int:
    """Play a rollout's actions by their names, and compare everything that was recorded; return the steps."""
    rules = episode.play.game.rules
    names = rules.actions(episode.item.instance)
    reset = rollout["reset"]
    assert rules.observe(episode.state.world) == reset["obs"]
    assert history_text(episode.state.past) == reset["history"]
    assert episode.messages[-1].text == f"current step observation: {reset['obs']}\n\n{QUESTION}"
    assert (rules.score(episode.state.world), reset["completed"]) == (reset["score"], 0)
    for step in rollout["steps"]:
        turn = episode.step(names[step["a"]])
        history = history_text(episode.state.past)
        assert turn.action == [step["a"], True]
        assert rules.observe(episode.state.world) == step["obs"]
        assert sha(history) == step["history_sha"]
        assert history == step.get("history", history)
        assert turn.message == f"{history}\n\ncurrent step observation: {step['obs']}\n\n{QUESTION}"
        assert (turn.reward, turn.events["score"]) == (step["reward"], step["score"])
        assert (episode.play.game.terminal(episode.state) is not None) == step["done"]
        assert (episode.end_reason is End.SOLVED) == bool(step["completed"])
    if rollout.get("last_history"):
        assert history_text(episode.state.past) == rollout["last_history"]
    measured = {metric.name: metric.of(episode.record()) for metric in episode.environment.scoring.metrics}
    last = rollout["steps"][-1]
    assert (measured["score"], measured["completed"]) == (last["score"], last["completed"])
    assert measured["reward"] == pytest.approx(sum(step["reward"] for step in rollout["steps"]))
    return len(rollout["steps"])


def kept(rollout: dict[str, Any], default: int) -> int:
    """Return the length of the history in a rollout that is longer than it."""
    history = rollout.get("last_history") or ""
    return int(history.split()[2]) if history else default


# Rollouts


@pytest.mark.parametrize("name", found("bandit*.json"))
def test_bandits(name: str, compared: Compared) -> None:
    environment, steps, rollouts = waybench.load("bandit/arms"), 0, 0
    settings = {f"{published}-v0": ours for ours, published in BANDITS.items()}
    for env_id, recorded in golden(name)["envs"].items():
        for rollout in recorded["rollouts"] if isinstance(recorded, dict) else recorded:
            data = {"arms": list(zip(rollout["p_dist"], rollout["r_dist"], strict=True)), "drift": 0, "draw": 0}
            data["arms"] = [list(arm) for arm in data["arms"]]
            count = len(rollout["steps"])
            episode = Recorded(environment, data, rollout["uniforms"], steps=count, history=kept(rollout, 50))
            assert episode.item.instance.setting == settings.get(env_id)
            assert episode.state.world.best == rollout["optimal"]
            steps, rollouts = steps + require_same(episode, rollout), rollouts + 1
            optimal = [float(step["a"] == rollout["optimal"]) for step in rollout["steps"]]
            assert list(environment.scoring.series[0].of(episode.record())) == optimal
    compared("smartplay", "bandit rollouts", rollouts)
    compared("smartplay", "bandit steps", steps)


def opponents(rollout: dict[str, Any]) -> Iterator[float]:
    """Yield a number in the middle of those that make the opponent choose as recorded."""
    for step in rollout["steps"]:
        other = CHOICES.index(step["obs"].split("the opponent chose ")[1].split(".")[0])
        yield sum(rollout["probs"][:other]) + rollout["probs"][other] / 2


@pytest.mark.parametrize("name", found("rps*.json"))
def test_rock_paper_scissors(name: str, compared: Compared) -> None:
    environment, steps, rollouts = waybench.load("rps/rounds"), 0, 0
    of_setting = {"basic": "basic", "different_score_via_base_class": "different_score"}
    for kind, setting in of_setting.items():
        for rollout in golden(name).get(kind, ()):
            data = {
                "chances": rollout["probs"],
                "wins": rollout["win_scores"],
                "opponent": "fixed",
                "rate": 0,
                "draw": 0,
            }
            count = len(rollout["steps"])
            episode = Recorded(environment, data, [*opponents(rollout)], steps=count, history=kept(rollout, 50))
            assert episode.item.instance.setting == setting
            assert episode.state.world.best == rollout["optimal"]
            if "manual" in rollout:
                assert manual_of(episode) == rollout["manual"]
            steps, rollouts = steps + require_same(episode, rollout), rollouts + 1
            human = next(metric for metric in environment.scoring.metrics if metric.name == "human").of(
                episode.record()
            )
            recorded = setting == "basic" and count == 50
            assert human == (pytest.approx(rollout["steps"][-1]["score"] / 43) if recorded else None)
    compared("smartplay", "rps rollouts", rollouts)
    compared("smartplay", "rps steps", steps)


@pytest.mark.parametrize("name", found("hanoi*.json"))
def test_hanoi(name: str, compared: Compared) -> None:
    environment, steps, rollouts = waybench.load("hanoi/rods"), 0, 0
    for rollout in golden(name)["rollouts"]:
        disks = rollout["disks"]
        data = {"start": "A" * disks, "goal": "C" * disks}
        episode = Recorded(environment, data, [0.0] * 1000, history=5)
        assert episode.item.instance.setting == (f"Hanoi{disks}Disk" if disks in (3, 4) else None)
        assert [step["a"] for step in rollout["steps"]] == rollout["actions"]
        steps, rollouts = steps + require_same(episode, rollout), rollouts + 1
        record = episode.record()
        assert replay(environment, record).record() == record  # without the class that knows what is drawn
        if rollout["name"] == "optimal":
            assert len(rollout["steps"]) == record.proof["minimum"]
    compared("smartplay", "hanoi rollouts", rollouts)
    compared("smartplay", "hanoi steps", steps)


# Words


def manual_of(episode: Episode[Any, Any, Any]) -> str:
    rules, instance = episode.play.game.rules, episode.item.instance
    return manual_text(rules.manual(instance), rules.actions(instance))


def setting_of(name: str) -> tuple[str, int, dict[str, Any]] | None:
    """Return environment, level and source options of a registered setting of these games."""
    for env_id, level, published in (("bandit/arms", 2, BANDITS), ("rps/rounds", 1, MATCHES)):
        for ours, theirs in published.items():
            if name == f"{theirs}-v0":
                return env_id, level, {"setting": ours}
    return ("hanoi/rods", int(name[5]), {}) if name.startswith("Hanoi") else None


@pytest.mark.parametrize("name", found("manuals*.json"))
def test_manuals_and_defaults(name: str, compared: Compared) -> None:
    manuals = 0
    for setting, expected in golden(name)["settings"].items():
        place = setting_of(setting)
        if place is None:
            continue
        env_id, level, options = place
        environment = waybench.load(env_id)
        for item in environment.source(level=level, **options).head(5):
            episode: Episode[Any, Any, Any] = Episode(environment, item, {"wording": "one_question"})
            assert manual_of(episode) == expected["manual"]
            assert episode.messages[0].text == f"You’re a player trying to play the game.\n\n{expected['manual']}"
            assert list(episode.play.game.rules.actions(item.instance)) == expected["action_list"]
            assert episode.limits.turns == expected["default_steps"]
        manuals += 1
    compared("smartplay", "manuals", manuals)


@pytest.mark.parametrize("name", found("manuals*.json"))
def test_every_registered_setting_of_these_games_is_there(name: str, compared: Compared) -> None:
    ours = [setting for setting in golden(name)["registered"] if setting.startswith(("Bandit", "Rock", "Hanoi"))]
    for setting in ours:
        env_id, level, options = setting_of(setting) or pytest.fail(setting)
        assert waybench.load(env_id).source(level=level, **options).item(0).instance.setting is not None
    compared("smartplay", "registered settings", len(ours))


@pytest.mark.parametrize("name", found("evaluation*.json"))
def test_matching(name: str, compared: Compared) -> None:
    data, cases = golden(name), 0
    for case in data["match_act"]:
        match = first_named_action(case["text"], data["action_lists"][case["env"]])
        assert (0 if match is None else match) == case["action"], case
        cases += 1
    compared("smartplay", "matched replies", cases)
