"""Templates of users, over every environment: they change words, and never the game, the parser or a score."""

from pathlib import Path

import pytest

import waybench
from waybench.core import Episode, base_wording_name, play_to_end, policy, replay
from waybench.core._template import template_fields
from waybench.envs import registry

IDS = [entry.id for entry in registry.built_in]
OF_MESSAGES = {"shared"}  # measured on the text of the prompt


@pytest.mark.parametrize("env_id", IDS)
def test_the_general_fields_repeat_the_messages(env_id: str, tmp_path: Path) -> None:
    environment = waybench.load(env_id)
    path = tmp_path / "same.toml"
    path.write_text('rules = "{rules}"\nobservation = "{observation}"\n')
    item = environment.source().item(0)
    own, same = (
        play_to_end(environment, item, policy("heuristic"), {**environment.playing.check_options, "wording": wording})
        for wording in (environment.resolve_options({})["wording"], f"file:{path}")
    )
    assert same.record().options["wording"].startswith("file:same-")
    assert [(m.role, m.text) for m in same.messages] == [(m.role, m.text) for m in own.messages]
    assert [turn.message for turn in same.turns] == [turn.message for turn in own.turns]


@pytest.mark.parametrize("env_id", IDS)
def test_all_fields_can_be_named_and_scores_stay(env_id: str, tmp_path: Path) -> None:
    environment = waybench.load(env_id)
    item = environment.source().item(0)
    wording = environment.playing.play(environment.resolve_options({})).wording
    named = {part: [field.name for field in fields] for part, fields in template_fields(wording).items()}
    assert all(len(set(names)) == len(names) for names in named.values())
    path = tmp_path / "mine.toml"
    texts = (" ".join(f"{name}: {{{name}}}" for name in names) for names in named.values())
    path.write_text("rules = '''Mine. {}'''\nobservation = '''Mine. {}'''\n".format(*texts))
    for player in ("oracle", "random", "null"):
        own = play_to_end(environment, item, policy(player), dict(environment.playing.check_options))
        mine = play_to_end(
            environment, item, policy(player), {**environment.playing.check_options, "wording": f"file:{path}"}
        )
        assert base_wording_name(mine.options) == own.options["wording"]
        assert mine.messages[0].text.startswith("Mine. ")
        assert [turn.outcome for turn in mine.turns] == [turn.outcome for turn in own.turns]
        assert mine.end_reason is own.end_reason
        for metric in environment.scoring.metrics:
            if metric.name not in OF_MESSAGES:
                assert metric.of(mine.record()) == metric.of(own.record()), metric.name
        if environment.playing.not_replayable is None:
            assert replay(environment, mine.record()).record() == mine.record()


@pytest.mark.parametrize("env_id", IDS)
def test_every_environment_of_ours_has_fields_of_its_own(env_id: str) -> None:
    environment = waybench.load(env_id)
    fields = template_fields(environment.playing.play(environment.resolve_options({})).wording)
    assert len(fields["rules"]) + len(fields["observations"]) > 3, "it has no field of its own"


def test_every_wording_can_be_the_base(tmp_path: Path) -> None:
    for env_id in IDS:
        environment = waybench.load(env_id)
        for choice in next(option for option in environment.playing.options if option.name == "wording").choices:
            path = tmp_path / "mine.toml"
            path.write_text(f'base = "{choice}"\nobservation = "{{observation}}"\n')
            item = environment.source().item(0)
            mine, own = (
                Episode(environment, item, {**environment.playing.check_options, "wording": wording})
                for wording in (f"file:{path}", choice)
            )
            assert [m.text for m in mine.messages] == [m.text for m in own.messages]
