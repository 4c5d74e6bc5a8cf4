"""Golden playthroughs: whole episodes as text, which a person reviews when they change.

`python -m tests.playthroughs` writes them again, in this folder, one folder for each environment.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import waybench
from waybench.core import Episode, Policy, TurnRecord, play_out, policy
from waybench.envs import registry
from waybench.testing import StumblingPolicy, ways

HERE = Path(__file__).parent
SHORTER = {"history": 3, "steps": 8}  # options whose defaults make more text than a person reviews
AnyEpisode = Episode[Any, Any, Any]


def playthroughs(env_id: str) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of an environment's playthroughs, on the first public item of its smallest level."""
    environment = waybench.load(env_id)
    item = environment.source().item(0)
    default, *others = ({**way, **shorter(environment)} for way in ways(environment))
    players: list[Policy] = [policy(name) for name in ("oracle", "heuristic", "random", "noisy-0.5")]
    for player in (*players, StumblingPolicy()):
        yield player.name, transcript(play_out(environment, item, player, default))
    for options in others:
        # Spoilt plans show more of a wording's answers than an oracle's first reply.
        name = f"noisy-0.5 {options['protocol']} {options['wording']}"
        yield name, transcript(play_out(environment, item, policy("noisy-0.5"), options))
    if "teacher_guided" in default_options(environment):
        guided = {**default, "teacher_guided": True}
        yield "stumbling guided", transcript(play_out(environment, item, StumblingPolicy(), guided))
        coached = {**default, "weak_tg_chances": 1}
        yield "noisy-0.5 coached", transcript(play_out(environment, item, policy("noisy-0.5"), coached))
        examples = tuple(environment.source("examples").item(index).instance for index in range(2))
        for protocol in ("paper", "sound"):
            episode = play_out(environment, replace(item, examples=examples), policy("oracle"), {"protocol": protocol})
            yield f"examples {protocol}", transcript(episode)


def shorter(environment: Any) -> dict[str, Any]:
    """Return the options by which long episodes are cut."""
    defaults = {**default_options(environment), **environment.trial}
    return {name: most for name, most in SHORTER.items() if (defaults.get(name) or 0) > most}


def default_options(environment: Any) -> dict[str, Any]:
    """Return the options of play with their defaults."""
    options: dict[str, Any] = environment.resolve_options({})
    return options


def transcript(episode: AnyEpisode) -> str:
    """Return an episode as text: what the player was told, what it said and what that came to."""
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
    for number, turn in enumerate(record.turns, start=1):
        lines += ["", _rule(f"reply {number}"), _visible(turn.reply), "", _rule(f"turn {number}: {turn.outcome}")]
        lines += [*_facts(turn), "", _rule("answer"), _visible(turn.message)]
    values = {metric.name: metric.of(record) for metric in episode.environment.metrics}
    lines += ["", _rule(f"end: {record.end}")]
    lines += [f"{name}: {'-' if value is None else f'{value:g}'}" for name, value in values.items()]
    lines += [f"{one.name}: {_json(list(one.of(record)))}" for one in episode.environment.series]
    return "\n".join(lines) + "\n"


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
        for entry in registry.entries
        for name, text in playthroughs(entry.id)
    }
