"""The players whose episodes the golden files hold. They know nothing but the messages (shared/specs/aqa.md, 9).

They owe nothing to the code under test; that they say what the recorded ones said is tested with the recordings.
"""

import random
import re
from collections.abc import Callable

Say = Callable[[str], str]  # message -> reply
Think = Callable[[str], "int | None"]  # message -> answer; None where the algorithm is through

_INSTEAD = {  # policy -> number of a reply, from 0 -> what is said in place of the optimal answer
    "invalid_once": {2: "I don't know."},
    "invalid_value_once": {1: "99999999999"},
    "invalid3_then_ok": {2: "???", 3: "99999999999", 4: ""},
    "invalid4_format": {2: "???", 3: "???", 4: "???", 5: "???"},
    "invalid4_value": {2: "???", 3: "no idea", 4: "-", 5: "maybe 99999999999?"},
}
_NOISE = ("{}\n", " {}", "{}.", "0{}", "**{}**", "-{}", "[{}, 0, 1]")
_PLAIN = ("optimal", "alt_optimal", "verbose", "verbose_step", "noisy", *_INSTEAD)


def numbers(message: str) -> list[int]:
    """Return the numbers in a message."""
    return [int(digits) for digits in re.findall(r"\d+", message)]


def bisection(low: int, high: int, alternative: bool) -> Think:
    """Bisect the half-open range; the alternative is the textbook's bisection."""
    left, right = low, high + (not alternative)
    guess = 0

    def think(message: str) -> int:
        nonlocal left, right, guess
        if "bigger than" in message:
            left = guess + alternative
        elif "smaller than" in message:
            right = guess - alternative
        guess = (left + right) // 2
        return guess

    return think


def depth_first(alternative: bool) -> Think:
    """Visit the first new neighbour, or go back; the alternative takes the last one."""
    stack, seen = [0], {0}

    def think(message: str) -> int:
        new = [node for node in numbers(message) if node not in seen]
        if new:
            stack.append(new[-1 if alternative else 0])
            seen.add(stack[-1])
        elif len(stack) > 1:
            stack.pop()
        return stack[-1]

    return think


def breadth_first(alternative: bool) -> Think:
    """Visit nodes in the order in which they were met; the alternative takes the latest one of each level."""
    seen = {0}
    now: list[int] = []
    later: list[int] = []

    def think(message: str) -> int | None:
        nonlocal now, later
        later += [node for node in numbers(message) if node not in seen]
        seen.update(later)
        if not alternative or not now:
            now, later = now + later, []
        return now.pop(-1 if alternative else 0) if now else None

    return think


def player(policy: str, env: str, case: int, low: int, high: int) -> Say:
    """Return a player.

    Args:
        policy: Its name.
        env: What it plays, without "search/".
        case: The number of the case, of which the random player's numbers are made.
        low: The least answer in range.
        high: The greatest.

    Raises:
        ValueError: For a policy that is not known here.
    """
    number = env in ("guessnum", "coin")
    chance = random.Random(1000003 * case + 17)
    spoken = -1
    answer: int | None = None
    alternative = policy == "alt_optimal"
    think = (
        bisection(low, high, alternative)
        if number
        else depth_first(alternative)
        if env.endswith("dfs")
        else breadth_first(alternative)
    )

    def say(message: str) -> str:
        nonlocal spoken, answer
        spoken += 1
        match policy:
            case "poor_scan":
                return str(low + spoken if number else (spoken + 1) % (high + 1))
            case "poor_random":
                return str(chance.randint(low, high) if number else chance.randrange(high + 1))
            case "poor_adj":
                return str((low + high) // 2 if number else numbers(message)[-1])
            case "invalid_from_start":
                return "I don't know."
            case _ if policy not in _PLAIN:
                raise ValueError(f"policy {policy!r} is not known here: write it as section 9 describes it")
            case _:
                pass
        if not message.startswith("Invalid"):  # after such a message the last answer is still to be given
            answer = think(message)
        if spoken in _INSTEAD.get(policy, {}):
            return _INSTEAD[policy][spoken]
        match policy:
            case "verbose":
                return f"I think the best choice is {answer}."
            case "verbose_step":
                return f"Step {spoken + 1}: my answer is {answer}"
            case "noisy":
                return _NOISE[spoken % len(_NOISE)].format(answer)
            case _:
                return str(answer)

    return say
