"""Asking a model for something in steps: each answer is checked, and asked for again with what was wrong with it."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core import Invalid, JsonObject, Reply, WaybenchError, last_object, plural, shown, split_reasoning

MOST_PROBLEMS = 10  # problems of one answer

D = TypeVar("D")

Ask = Callable[[Sequence[str]], Awaitable[Reply]]
"""What was said so far, by the user and the model in turn, the user first and last -> what the model says to it."""


class Refused(NamedTuple):
    """Why an answer is not taken.

    Attributes:
        problems: One sentence each, for the model.
        back: The name of the earlier step whose answer is to blame, which is asked for again, and then this one anew;
            empty if the blame is this step's own.
    """

    problems: Sequence[str]
    back: str = ""


@dataclass(frozen=True, slots=True)
class Step(Generic[D]):
    """One thing that is asked for.

    Attributes:
        name: What it is called in messages.
        keys: Keys of the JSON object that is asked for; none where plain text is.
        longest: Draft -> most characters of an answer, reasoning left out.
        prompt: Draft -> the request.
        check: (answer, draft) -> the draft with the answer in it, or why not. The answer is the plain text, or a dict
            of exactly the keys whose values may be anything.
    """

    name: str
    keys: tuple[str, ...]
    longest: Callable[[D], int]
    prompt: Callable[[D], str]
    check: Callable[[Any, D], D | Refused]


async def take_steps(ask: Ask, steps: Sequence[Step[D]], draft: D, attempts: int, problems: list[str]) -> D:
    """Go through all steps with a model.

    A request shows the accepted answers of the steps before, and all refused ones of its own step with their problems.

    Args:
        ask: Asks the model.
        steps: The steps, in order.
        draft: What is known before the first one.
        attempts: Most requests for each step, those after a return from a later step included.
        problems: Gets what was wrong with each refused answer, a line each.

    Returns:
        The draft with all answers in it.

    Raises:
        WaybenchError: If a step has had no usable answer in so many requests; it names the step, and
            what was wrong with the last answer.
    """
    names = [step.name for step in steps]
    drafts, answers = [draft], list[str]()
    refusals = {name: list[str]() for name in names}
    requests = Counter[str]()
    last = ""
    while (number := len(answers)) < len(steps):
        step = steps[number]
        if requests[step.name] >= attempts:
            raise WaybenchError(f"no usable {step.name} in {plural(attempts, 'request')}; the last problem: {last}")
        requests[step.name] += 1
        said = [text for at in range(number) for text in (steps[at].prompt(drafts[at]), answers[at])]
        reply = await ask([*said, step.prompt(drafts[-1]), *refusals[step.name]])
        answer, result = _judged(step, reply, drafts[-1])
        if not isinstance(result, Refused):
            answers.append(answer)
            drafts.append(result)
            continue
        problems_shown = _shown_problems(result.problems)
        problems.extend(f"{step.name}: {problem}" for problem in problems_shown)
        last = f"{step.name}: {problems_shown[0]}"  # the others may be mere consequences
        to_blame = result.back or step.name
        if result.back:
            refusals[step.name].clear()  # they are about something that is going to change
            number = names.index(result.back)
            answer = answers[number]
            del answers[number:], drafts[number + 1 :]
        refusals[to_blame] += [answer, _complaint(problems_shown)]
    return drafts[-1]


def _judged(step: Step[D], reply: Reply, draft: D) -> tuple[str, D | Refused]:
    """Return an answer as it stands in the conversation from then on, and the new draft or why there is none."""
    longest = step.longest(draft)
    text = split_reasoning(reply.text).answer.strip()
    quoted = text[:longest] or "(nothing)"  # some providers take no empty message
    if reply.stop == "truncated":
        return quoted, Refused(["The reply was cut off at the output limit: give a shorter one."])
    if reply.stop == "overflow":
        return "(nothing)", Refused(["The conversation is longer than the model can read."])
    if reply.stop == "refused":
        return quoted, Refused(["The reply was a refusal: choose something that you can tell."])
    if len(text) > longest:
        return quoted, Refused([f"The reply has {len(text)} characters: give at most {longest}."])
    if not text:
        return quoted, Refused(["The reply is empty."])
    if not step.keys:
        return text, step.check(text, draft)
    found = _values(text, step.keys)
    if isinstance(found, Refused):
        return quoted, found
    result = step.check(found, draft)
    return (quoted if isinstance(result, Refused) else json.dumps(found, ensure_ascii=False)), result


def _values(text: str, keys: Sequence[str]) -> dict[str, Any] | Refused:
    found = last_object(text, keys[0])
    if isinstance(found, Invalid):
        return Refused([found.reason])
    if missing := [key for key in keys if key not in found]:
        return Refused([f'The key "{key}" is missing.' for key in missing])
    objects = [found, *(found[key] for key in keys if isinstance(found[key], JsonObject))]
    if twice := [each.duplicate for each in objects if each.duplicate is not None]:
        return Refused([f"The key {shown(name)} is there twice." for name in twice])
    return {key: found[key] for key in keys}


def _shown_problems(problems: Sequence[str]) -> list[str]:
    more = len(problems) - MOST_PROBLEMS
    return [*problems[:MOST_PROBLEMS], *([f"{plural(more, 'more problem')} of this kind."] if more > 0 else [])]


def _complaint(problems: Sequence[str]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"This cannot be used:\n{listed}\nAnswer this step again, in full and in the form that was asked for."
