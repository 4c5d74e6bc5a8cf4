"""Steps in which a language model writes an instance: each answer is checked before the next request."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core import (
    Invalid,
    Reply,
    WaybenchError,
    json_excerpt,
    last_json_object,
    plural,
    split_reasoning,
)
from waybench.core._json_reply import JsonObject

MOST_PROBLEMS = 10  # problems of one answer

D = TypeVar("D")

Ask = Callable[[Sequence[str]], Awaitable[Reply]]
"""The conversation so far, by the user and the model in turn, the user first and last -> the model's next reply."""


class RefusedAnswer(NamedTuple):
    """Why an answer is refused.

    Attributes:
        problems: One sentence each, for the model.
        back: The name of the earlier step whose answer causes the problems: this step is asked for again first, and
            all steps after it; "" if the refused answer itself is the cause.
    """

    problems: Sequence[str]
    back: str = ""


@dataclass(frozen=True, slots=True)
class AuthorStep(Generic[D]):
    """A step in which a model writes one part of an instance.

    Attributes:
        name: Its name in messages.
        keys: Keys of the JSON object that the answer has to be; () for plain text.
        longest: Draft -> most characters of an answer, reasoning left out.
        prompt: Draft -> the request.
        check: (answer, draft) -> the draft with the answer in it, or the refusal. The answer is the plain text, or a
            dict of exactly the keys; its values may be anything.
    """

    name: str
    keys: tuple[str, ...]
    longest: Callable[[D], int]
    prompt: Callable[[D], str]
    check: Callable[[Any, D], D | RefusedAnswer]


async def run_author_steps(ask: Ask, steps: Sequence[AuthorStep[D]], draft: D, attempts: int, problems: list[str]) -> D:
    """Ask a model for each step of an instance in turn, and return the draft with all accepted answers.

    A request shows the accepted answers of the steps before, and all refused answers of its own step with their
    problems. Each step has at most `attempts` requests, requests after a return from a later step included. The
    problems of all refused answers are appended to `problems`, a line each.

    Raises:
        WaybenchError: If a step has no usable answer in so many requests; it names the step and the last problem.
    """
    names = [step.name for step in steps]
    drafts, answers = [draft], list[str]()
    refusals = {name: list[str]() for name in names}
    requests = Counter[str]()
    last_problem = ""
    while (number := len(answers)) < len(steps):
        step = steps[number]
        if requests[step.name] >= attempts:
            n_requests = plural(attempts, "request")
            raise WaybenchError(f"no usable {step.name} in {n_requests}; the last problem: {last_problem}")
        requests[step.name] += 1
        accepted = [text for at in range(number) for text in (steps[at].prompt(drafts[at]), answers[at])]
        reply = await ask([*accepted, step.prompt(drafts[-1]), *refusals[step.name]])
        answer, result = _check_reply(step, reply, drafts[-1])
        if not isinstance(result, RefusedAnswer):
            answers.append(answer)
            drafts.append(result)
            continue
        reasons = [*result.problems[:MOST_PROBLEMS]]
        if (n_more := len(result.problems) - MOST_PROBLEMS) > 0:
            reasons.append(f"{plural(n_more, 'more problem')} of this kind.")
        problems.extend(f"{step.name}: {reason}" for reason in reasons)
        last_problem = f"{step.name}: {reasons[0]}"  # the other reasons may be consequences of the first
        to_blame = result.back or step.name
        if result.back:
            refusals[step.name].clear()  # the answer that they are about will change
            number = names.index(result.back)
            answer = answers[number]
            del answers[number:], drafts[number + 1 :]
        lines = "\n".join(f"- {reason}" for reason in reasons)
        request_again = "Answer this step again, in full and in the form that was asked for."
        refusals[to_blame] += [answer, f"This cannot be used:\n{lines}\n{request_again}"]
    return drafts[-1]


def _check_reply(step: AuthorStep[D], reply: Reply, draft: D) -> tuple[str, D | RefusedAnswer]:
    """Return the answer as the conversation keeps it, and the new draft or why the answer is refused."""
    longest = step.longest(draft)
    text = split_reasoning(reply.text).answer.strip()
    kept_text = text[:longest] or "(nothing)"  # some providers do not accept empty messages
    if reply.stop == "truncated":
        return kept_text, RefusedAnswer(["The reply was cut off at the output limit: give a shorter one."])
    if reply.stop == "overflow":
        return "(nothing)", RefusedAnswer(["The conversation is longer than the model can read."])
    if reply.stop == "refused":
        return kept_text, RefusedAnswer(["The reply was a refusal: choose something that you can tell."])
    if len(text) > longest:
        return kept_text, RefusedAnswer([f"The reply has {len(text)} characters: give at most {longest}."])
    if not text:
        return kept_text, RefusedAnswer(["The reply is empty."])
    if not step.keys:
        return text, step.check(text, draft)
    values = _values_of_keys(text, step.keys)
    result = values if isinstance(values, RefusedAnswer) else step.check(values, draft)
    return (kept_text if isinstance(result, RefusedAnswer) else json.dumps(values, ensure_ascii=False)), result


def _values_of_keys(text: str, keys: Sequence[str]) -> dict[str, Any] | RefusedAnswer:
    """Return the values of these keys in the last JSON object of a text, or why the answer is refused."""
    data = last_json_object(text, keys[0])
    if isinstance(data, Invalid):
        return RefusedAnswer([data.reason])
    if missing_keys := [key for key in keys if key not in data]:
        return RefusedAnswer([f'The key "{key}" is missing.' for key in missing_keys])
    objects = [data, *(data[key] for key in keys if isinstance(data[key], JsonObject))]
    if duplicate_keys := [part.duplicate for part in objects if part.duplicate is not None]:
        return RefusedAnswer([f"The key {json_excerpt(name)} is there twice." for name in duplicate_keys])
    return {key: data[key] for key in keys}
