"""Inspect's agents and solvers as players: `--agent NAME[:arg=...]`."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model

import waybench
from waybench.core import UsageError, replay
from waybench.evaluation._agents import MOST_MESSAGES, PrerequisiteError, parse_agent_spec
from waybench.evaluation._sample import stored_record, to_sample
from waybench.evaluation._scores import episode
from waybench.evaluation._solver import play
from waybench.evaluation.tasks import find_task, load_task
from waybench.results import read_logs
from waybench.submission._logs import verify_logs

MAZES = waybench.load("maze/alicia")
ITEM = MAZES.source().item(0)
WALL = '{"movements": [{"direction": "up", "cells": 1}]}'
GOOD = '{"movements": [{"direction": "down", "cells": 4}]}'
MODULE = '''
from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.util import store

@agent
def planner(hint: str = "Think.", times: int = 1) -> Agent:
    """Plan before acting, with notes of its own."""
    async def execute(state: AgentState) -> AgentState:
        for _ in range(times):
            await get_model().generate([*state.messages, ChatMessageUser(content=hint)])
        store().set("notes", [*store().get("notes", []), len(state.messages)])
        state.output = await get_model().generate(state.messages)
        state.messages.append(state.output.message)
        return state
    return execute

@solver
def hinting(hint: str):
    """Change the prompt, and leave it to others to ask the model."""
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        assert not state.metadata and not state.target.text, "it is shown more than the messages"
        state.messages.append(ChatMessageUser(content=hint))
        return state
    return solve

number = 3

def neither():
    return 3
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_harness.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def _run(tmp_path: Path, agent: str, answer: Any) -> Any:
    def outputs(messages: Any, *_: Any) -> ModelOutput:
        output: ModelOutput = answer(messages)
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    task = Task(dataset=[to_sample(MAZES, ITEM, MAZES.resolve_options({}), 1)], solver=play(agent), scorer=episode())
    [log] = eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.samples is not None and log.status == "success", log.error
    return log.samples[0]


def test_react_submits_a_reply_for_each_turn(tmp_path: Path) -> None:
    def answer(messages: Any) -> ModelOutput:
        if not any(isinstance(message, ChatMessageTool) for message in messages) and messages[-1].role == "user":
            if "not viable" not in messages[-1].text and "proceed" not in messages[-1].text.lower():
                return ModelOutput.for_tool_call("m", "submit", {"answer": WALL}, content="I try.")
            if "not viable" in messages[-1].text:
                return ModelOutput.from_content("m", "Let me think.")
        return ModelOutput.for_tool_call("m", "submit", {"answer": GOOD}, content="Now I know.")

    sample = _run(tmp_path, "react", answer)
    record = stored_record(sample.metadata, sample.store)
    assert [turn.reply for turn in record.turns] == [WALL, GOOD] and record.end == "solved"
    assert replay(MAZES, record).done
    # The tokens of all requests are those of the reply: one for the first, and two for the second.
    assert [turn.usage and turn.usage.output_tokens for turn in record.turns] == [5, 10]
    assert [message.role for message in sample.messages] == ["user", "assistant", "user", "assistant", "user"]
    assert all(not getattr(message, "tool_calls", None) for message in sample.messages)


def test_an_agent_that_never_acts_is_ended(tmp_path: Path) -> None:
    asked: list[int] = []

    def answer(messages: Any) -> ModelOutput:
        asked.append(len(messages))
        return ModelOutput.from_content("m", "Let me think.")

    sample = _run(tmp_path, "react", answer)
    record = stored_record(sample.metadata, sample.store)
    assert [str(turn.outcome) for turn in record.turns] == ["truncated"] * 3 and record.end == "turn_limit"
    assert len(asked) <= 3 * MOST_MESSAGES and record.tokens[1] == 5 * len(asked)


@pytest.mark.slow
def test_agents_and_solvers_of_one_s_own(module: Path) -> None:
    waybench.evaluate("alicia", "waybench/noisy-0.2", out=module / "out", limit=2, max_dimension=5)
    for agent in ("my_harness.planner:hint=Plan first, then act.,times=2", "my_harness.hinting:hint=Go on."):
        waybench.evaluate("alicia", "waybench/noisy-0.2", out=module / "out", agent=agent, limit=2, max_dimension=5)
    by_agent: dict[Any, list[Any]] = {}
    for each in read_logs(module / "out"):
        by_agent.setdefault(each.settings.get("agent"), []).append(each.record)
    assert len(by_agent) == 3 and None in by_agent
    assert all(record.agent == (agent or "") for agent, records in by_agent.items() for record in records)
    # The same player plays alike, whatever is around it, and each record is kept apart.
    replies = [
        sorted((r.item["id"], r.attempt, *(t.reply for t in r.turns)) for r in some) for some in by_agent.values()
    ]
    assert replies[0] == replies[1] == replies[2]
    verdict = verify_logs([module / "out"], on_problem=lambda problem: pytest.fail(str(problem)))
    assert verdict.is_verified, verdict.text()


def test_arguments_and_what_is_no_agent(module: Path) -> None:
    assert parse_agent_spec("react") == ("react", {})
    given = {"hint": "a, b", "times": 2, "on": True}
    assert parse_agent_spec("mine.one:hint=a, b,times=2,on=true") == ("mine.one", given)
    for agent, said in {
        "nonsense": "Unknown solver nonsense",
        "react:attemptz=2": "unexpected keyword argument 'attemptz'",
        "react:2": "give arguments as NAME:arg=value",
        "my_harness.missing": "has no attribute 'missing'",
        "my_harness.neither": "it returns int, and no agent or solver",
        "no_such_module.agent": "No module named 'no_such_module'",
        "": "give a name",
    }.items():
        with pytest.raises(UsageError) as caught:
            waybench.evaluate("alicia", "waybench/oracle", out=module / "none", agent=agent, limit=1)
        assert said in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="leave out interface=tools"):
        waybench.evaluate("alicia", "waybench/oracle", out=module / "none", agent="react", interface="tools")


def echo(messages: list[dict[str, str]]) -> str:
    return messages[-1]["content"]


def test_a_function_takes_no_agent_that_gives_it_tools(tmp_path: Path) -> None:
    for agent in ("react", "explore_map_act:python=local"):
        with pytest.raises(UsageError, match=f"takes no tools: agent {agent} gives it tools; use another model"):
            waybench.evaluate("alicia", f"python:{__name__}.echo", out=tmp_path, agent=agent, limit=1)
    assert not list(tmp_path.glob("*.eval"))


def _texts(messages: Any) -> str:
    return "\n".join(message.text for message in messages)


def test_the_ready_scaffold_maps_plans_and_acts(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(messages: Any) -> ModelOutput:
        asked.append(_texts(messages))
        last = messages[-1].text
        if "Write down what you know" in last:
            return ModelOutput.from_content("m", f"note {len(asked)}")
        if "Do not act yet. Plan" in last:
            return ModelOutput.from_content("m", f"plan {len(asked)}")
        return ModelOutput.from_content("m", WALL if "not viable" not in _texts(messages) else GOOD)

    sample = _run(tmp_path / "all", "explore_map_act", answer)
    record = stored_record(sample.metadata, sample.store)
    assert [turn.reply for turn in record.turns] == [WALL, GOOD] and len(asked) == 6
    # The plan is made with the notes, the action with both, and the next notes with the earlier ones.
    assert "note 1" in asked[1] and "note 1" in asked[2] and "plan 2" in asked[2]
    assert "Your notes so far:\nnote 1" in asked[3] and "note 1" not in asked[4] and "note 4" in asked[4]
    assert "plan 2" not in asked[4]
    assert [turn.usage and turn.usage.output_tokens for turn in record.turns] == [15, 15]
    asked.clear()
    for agent, requests in (("notes=false", 4), ("plan=false", 4), ("notes=false,plan=false", 2)):
        _run(tmp_path / agent, f"explore_map_act:{agent}", answer)
        assert len(asked) == requests, agent
        asked.clear()


@pytest.mark.slow
def test_a_python_tool_runs_in_a_sandbox_if_asked_for(tmp_path: Path) -> None:
    seen: list[str] = []

    def answer(messages: Any, *_: Any) -> ModelOutput:
        results = [message.text for message in messages if isinstance(message, ChatMessageTool)]
        seen.extend(results)
        name, value = ("submit", {"answer": GOOD}) if results else ("python", {"code": "print(6 * 7)"})
        output = ModelOutput.for_tool_call("m", name, value)
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    asked = {"agent": "react:python=local", "limit": 1, "max_dimension": 5, "attempts": 1}
    task = load_task(find_task("alicia"))(**asked)
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    [log] = eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.samples is not None and log.eval.sandbox is not None and log.eval.sandbox.type == "local"
    record = stored_record(log.samples[0].metadata, log.samples[0].store)
    assert record.end == "solved" and seen[0].strip() == "42"
    assert load_task(find_task("alicia"))(agent="react").sandbox is None
    with pytest.raises(PrerequisiteError, match="python='cloud': choose from local, docker"):
        load_task(find_task("alicia"))(agent="react:python=cloud")
