"""Golden playthroughs: episodes as text, which a person reviews when they change.

`python -m tests.playthroughs` writes them again, in this folder, one folder for each environment. Of a long episode the
first turns and the last one are shown, and a digest stands for those between, so that no change goes unseen.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import waybench
from waybench.core import LANGUAGE, Episode, TurnRecord, play_to_end, policy
from waybench.envs import registry
from waybench.testing._walks import StumblingPolicy, option_combinations

HERE = Path(__file__).parent
SHORTER = {"history": 3, "steps": 8}  # options whose defaults make more text than a person reviews
KINDS = ("protocol", "wording", LANGUAGE)
FEW, FEWEST = 3, 1  # turns that are shown
PLAYERS = ("null", "random", "heuristic", "oracle", "noisy-0.5")
AnyEpisode = Episode[Any, Any, Any]


def playthroughs(env_id: str) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of an environment's playthroughs, on the first public items of its two smallest levels."""
    environment = waybench.load(env_id)
    item, larger = (environment.source(level=level).item(0) for level in _two_levels(environment))
    default, *others = ({**way, **shorter(environment)} for way in option_combinations(environment))
    noisy = policy("noisy-0.5")  # its plans show more of a wording's answers than an oracle's first reply
    for player in (policy("oracle"), noisy, StumblingPolicy()):
        yield player.name, transcript(play_to_end(environment, item, player, default), FEW)
    yield "larger", transcript(play_to_end(environment, larger, noisy, default), FEWEST)
    remaining: list[str] = []
    for options in others:
        name = _way_name(options)
        if sum(default.get(kind) != options.get(kind) for kind in KINDS) == 1:
            yield name, transcript(play_to_end(environment, item, noisy, options), FEWEST)
        else:
            remaining.append(_line(environment, item, noisy.name, options))
    if "teacher_guided" in default_options(environment):
        guided = {**default, "teacher_guided": True}
        yield "stumbling guided", transcript(play_to_end(environment, item, StumblingPolicy(), guided), FEW)
        coached = {**default, "weak_tg_chances": 1}
        yield "noisy-0.5 coached", transcript(play_to_end(environment, item, noisy, coached), FEW)
        examples = tuple(environment.source("examples").item(index).instance for index in range(2))
        for protocol in ("paper", "sound"):
            small = replace(item, examples=examples)
            episode = play_to_end(environment, small, policy("oracle"), {"protocol": protocol})
            yield f"examples {protocol}", transcript(episode, FEW)
    lines = [_line(environment, played, name, default) for played in (item, larger) for name in PLAYERS]
    yield "players", "".join(lines + remaining)


def _two_levels(environment: Any) -> tuple[int, int]:
    levels = [*environment.items.sample_levels, *environment.items.sample_levels[-1:]]
    return levels[0], levels[1]


def _way_name(options: dict[str, Any]) -> str:
    return " ".join(str(options[kind]) for kind in KINDS if kind in options)


def _line(environment: Any, item: Any, name: str, options: dict[str, Any]) -> str:
    """Return how a player does at an item, with the digest of the whole episode."""
    episode = play_to_end(environment, item, policy(name), options)
    record = episode.record()
    values = {metric.name: metric.of(record) for metric in environment.scoring.metrics}
    digest = _digest(transcript(episode, len(record.turns)))
    head = f"level {item.level}, {_way_name(options)}, {name}: {record.end} after {len(record.turns)} turns"
    return f"{head}\n  {_json(values)}\n  sha256 {digest}\n"


def shorter(environment: Any) -> dict[str, Any]:
    """Return the options by which long episodes are cut."""
    defaults = {**default_options(environment), **environment.playing.check_options}
    return {name: most for name, most in SHORTER.items() if (defaults.get(name) or 0) > most}


def default_options(environment: Any) -> dict[str, Any]:
    """Return the options of play with their defaults."""
    options: dict[str, Any] = environment.resolve_options({})
    return options


def transcript(episode: AnyEpisode, most: int) -> str:
    """Return an episode as text: what the player was told, what it said and what that came to.

    Args:
        episode: The episode.
        most: Turns that are shown, the last one besides.
    """
    record = episode.record()
    item = record.item
    lines = [
        f"{record.env}@{record.env_version}, level {item['level']}, item {item['id']} of {item['key']}",
        f"player: {record.player}",
        f"options: {_json(record.options)}",
        f"proof: {_json(record.proof)}",
    ]
    for message in record.opening:
        lines += ["", _rule(message.role), _visible(message.text)]
    turns = [_turn(number, turn) for number, turn in enumerate(record.turns, start=1)]
    hidden = turns[most:-1]
    if len(hidden) > 1:
        digest = _digest("\n".join(line for turn in hidden for line in turn))
        turns[most:-1] = [["", _rule(f"turns {most + 1} to {len(turns) - 1}"), f"sha256: {digest}"]]
    lines += [line for turn in turns for line in turn]
    values = {metric.name: metric.of(record) for metric in episode.environment.scoring.metrics}
    lines += ["", _rule(f"end: {record.end}")]
    lines += [f"{name}: {'-' if value is None else f'{value:g}'}" for name, value in values.items()]
    lines += [f"{series.name}: {_json(list(series.of(record)))}" for series in episode.environment.scoring.series]
    return "\n".join(lines) + "\n"


def _turn(number: int, turn: TurnRecord) -> list[str]:
    lines = ["", _rule(f"reply {number}"), _visible(turn.reply), "", _rule(f"turn {number}: {turn.outcome}")]
    return [*lines, *_facts(turn), "", _rule("answer"), _visible(turn.message)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _facts(turn: TurnRecord) -> Iterator[str]:
    if turn.reason is not None:
        yield f"reason: {turn.reason}"
    if turn.action is not None:
        yield f"action: {_json(turn.action)}"
        yield f"reward: {turn.reward:g}"
        yield f"events: {_json(turn.events)}"
    if turn.executed is not None:
        yield f"executed: {_json(turn.executed)}"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=dict)


def _rule(title: str) -> str:
    return f"---- {title} ".ljust(80, "-")


def _visible(text: str) -> str:
    """Return a text with everything that cannot be seen, or not be written to a file, as an escape."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def golden() -> dict[Path, str]:
    """Return all playthroughs by the file that holds them."""
    return {
        HERE / entry.id.replace("/", "-") / f"{name.replace(' ', '_')}.txt": text
        for entry in registry.built_in
        for name, text in playthroughs(entry.id)
    }
