"""Families of hostile replies: what was shown and what would be right, spoilt in ways that a fixed key determines."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from waybench.core import Stream

LONG = 100_000  # characters of a long reply
_DIGITS = "0123456789"
_SCRIPTS = ("٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９", "⁰¹²³⁴⁵⁶⁷⁸⁹", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "〇一二三四五六七八九")  # noqa: RUF001
_LETTERS = str.maketrans("aeiouAEIOUn", "áèîöúÁÈÎÖÚñ")
_LOOK_ALIKE = str.maketrans("aeopcxyABEHKMOPT", "аеорсхуАВЕНКМОРТ")  # noqa: RUF001  Cyrillic
_FULLWIDTH = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a player may make a reply of.

    Attributes:
        good: A reply that would be right, or at least legal.
        other: Another one.
        prompt: The message that is answered.
        replies: The player's replies so far.
    """

    good: str
    other: str
    prompt: str
    replies: Sequence[str] = field(default_factory=list[str])


Family = Callable[[Stream, Seen], str]


def _at(rng: Stream, text: str, inserted: str) -> str:
    """Return a text with something inserted somewhere, both ends included."""
    at = rng.below(len(text) + 1)
    return text[:at] + inserted + text[at:]


def _some(texts: Sequence[str]) -> Family:
    """Return a family of texts: alone, or somewhere within a good reply."""

    def family(rng: Stream, seen: Seen) -> str:
        text = rng.choice(texts)
        return rng.choice((text, text + seen.good, seen.good + text, _at(rng, seen.good, text)))

    return family


def _empty(rng: Stream, seen: Seen) -> str:
    return rng.choice(
        ("", " ", "\n", "\t\r\n\v\f", "\u3000\u00a0\u2007", " " * 1_000, "\n" * 1_000, "\u2028\u2029\x85")
    )


def _numbers(rng: Stream, seen: Seen) -> str:
    """Return one of the numbers that are not what they seem, alone or in place of the numbers of a good reply."""
    number = rng.choice(NUMBERS)
    return rng.choice((number, re.sub(r"\d+", lambda _: number, seen.good), f"{seen.good}{number}"))


NUMBERS = (
    *(str(10**4_000), "9" * 5_001, "1" + "0" * 5_000, "-" + "9" * 5_001, "1e999", "-1e999", "1e-999", "1E400", "NaN"),
    *("Infinity", "-Infinity", "inf", "-0", "-0.0", "-1", "+1", "0.5", "1.0", "1.", ".5", "1e0", "0x1", "0b1", "0o1"),
    *("1_000", "1,000", "1 000", "01", "007", str(2**31), str(2**63), str(-(2**63)), str(2**64), "1/0", "1j", "true"),
)


def _scripts(rng: Stream, seen: Seen) -> str:
    """Return a good reply whose digits, or all of whose characters, are of another script."""
    return rng.choice(
        (
            seen.good.translate(str.maketrans(_DIGITS, rng.choice(_SCRIPTS))),
            seen.good.translate(_FULLWIDTH),
            seen.good.translate(_LOOK_ALIKE),
            rng.choice(_SCRIPTS),
            "Ⅲ ① 三 ½ ௧",
        )
    )


def _deep(rng: Stream, seen: Seen) -> str:
    opening, closing = rng.choice((("[", "]"), ("{", "}"), ("(", ")"), ('{"a":', "}"), ('{"movements":[', "]}")))
    times = rng.choice((50, 101, 1_000, LONG // len(opening + closing)))
    inside = rng.choice(("", "1", seen.good))
    return rng.choice((opening * times + inside + closing * times, opening * times + inside, inside + closing * times))


def _unbalanced(rng: Stream, seen: Seen) -> str:
    cut = rng.below(len(seen.good) + 1)
    return rng.choice(
        (
            seen.good[:cut],
            seen.good[cut:],
            seen.good + rng.choice("]})\"'"),
            rng.choice("[{(\"'") + seen.good,
            "```json\n" + seen.good,
            '{"movements": [' + seen.good,
            _at(rng, seen.good, rng.choice("[]{}\"',:\\")),
        )
    )


_JSON = (
    *('{"movements":[],"movements":[{"direction":"up","cells":1}]}', '{"a":1,"a":2}', '{"direction":"up"}', "null"),
    *('{"movements":{"direction":"up","cells":1}}', '{"movements":null}', '{"movements":[["up",1]]}', "true", "[]"),
    *('{"movements":[{"direction":1,"cells":"up"}]}', '{"movements":[{"direction":["up"],"cells":[1]}]}', '{"":{}}'),
    *('{"movements":[{"direction":"up","cells":1,"x":2}]}', '{"path":"0"}', '{"answer":{"answer":[]}}', '"up"', "{}"),
    *('[{"location_before":1,"action":[],"location_after":{}}]', '[{"location_before":"x"}]', "[[[]],{}]", "[null]"),
    *('[{"prev_node":null,"node":0,"action":true}]', '{"__proto__":{"x":1}}', '{"type":"noop"}{"type":"noop"}', "[1]"),
)


def _json(rng: Stream, seen: Seen) -> str:
    """Return JSON of wrong types, or a good reply whose values are of wrong types."""
    wrong = rng.choice(("null", "true", "[]", "{}", '"x"', "-1", "1e999", '{"a":[]}'))
    return rng.choice(
        (
            rng.choice(_JSON),
            rng.choice(_JSON) + seen.good,
            re.sub(r"\d+", wrong, seen.good),
            re.sub(r'"[^"]*"(?!:)', lambda _: wrong, seen.good),
            re.sub(r"([{,])", lambda match: f'{match[0]}"a":1,"a":2,', seen.good),
        )
    )


_MARKUP = (
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</pre></body></html>", "<!--", "]]>", "&lt;b&gt;"),
    *(
        "# Heading\n| a | b |\n|---|---|\n",
        "[x](javascript:alert(1))",
        "![](http://127.0.0.1/x)",
        "**1**",
        "`1`",
        "\\(1",
    ),
    *("\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b[31m1\x1b[0m", "\x9b2J", "<think>", "</think>", "<answer>1</answer>"),
    *("<|im_end|>", "<|endoftext|>", "[INST]", "```\n", "<<SYS>>", "\r1\r2", "1\b2"),
)
_TEMPLATES = (
    *(
        "{0.__class__}",
        "{0.__class__.__mro__[1].__subclasses__()}",
        "{}",
        "{{}}",
        "{0!r:>999}",
        "{:9999999d}",
        "{self}",
    ),
    *("%s", "%n%d%(x)s", "%%", "%999999d", "${x}", "$(true)", "`true`", "{{7*7}}", "<%= 7*7 %>", "#{7*7}", "\\1\\g<0>"),
    *("\\", "\\u0031", "\\x31", "(?i)", "(a+)+$", ".*", "^1$", "'; DROP TABLE moves; --", "../../../etc/passwd\0.json"),
)
_CODE = (
    *(
        "__import__('os').system('true')",
        "exec('1')",
        "eval('1+1')",
        "lambda: 1",
        "print(1)",
        "1 if True else 2",
        "1+1",
    ),
    *("open('/etc/passwd').read()", "import os\nos._exit(1)", "raise SystemExit", "while True: pass", "[1]*10**9"),
    *("def act():\n    return 1\n", "\\N{DIGIT ONE}", "(1,)", "None", "len('x')", "9**9**9", "''.join([])", "f'{1}'"),
)
_CONTROLS = ("\0", "\x07", "\x08", "\x1b", "\x7f", "\x80", "\x85", "\x9f", "".join(map(chr, range(32))), "\0" * 1_000)
_SURROGATES = ("\ud800", "\udfff", "\udc00\ud800", "\ud83d", "\udcff", "\ud800" * 1_000, '"\ud800":"\udfff"', "\\ud800")
_INVISIBLE = (
    *("\u202e", "\u202dx\u202c", "\u2066\u2069", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e"),
    *("\u061c", "\u034f", "\U000e0031", "\ufe0f", "e\u0301", "\u0301" * 1_000, "\ufffe", "\uffff", "\U0010ffff"),
)


def _near(rng: Stream, seen: Seen) -> str:
    """Return a good reply with a small difference."""
    good, half = seen.good, len(seen.good) // 2
    words = good.split()
    rng.shuffle(words)
    swapped = good[: max(0, half - 1)] + good[half : half + 1] + good[max(0, half - 1) : half] + good[half + 1 :]
    return rng.choice(
        (
            *(good.upper(), good.lower(), good.title(), good.swapcase(), good.translate(_LETTERS), good[::-1], swapped),
            *(good.replace('"', "'"), good.replace('"', "\u201d"), f'"{good}"', f"'{good}'", f"\u201c{good}\u201d"),
            *(good.replace(",", ",,"), good + ",", "," + good, good.replace("}", ",}"), good.replace("]", ",]")),
            *(good.replace(" ", ""), good.replace(" ", "_"), good.replace(" ", "\u00a0"), "  ".join(good)),
            *(good[:-1], good[1:], good + ".", good + "!", f"({good})", f"- {good}", f"1. {good}", f"Answer: {good}"),
            *(" ".join(words), good + "s", f"not {good}", f"I will not {good}", f"{good}?", f"{good} or {seen.other}"),
        )
    )


def _again(rng: Stream, seen: Seen) -> str:
    """Return a good reply over and over."""
    between = rng.choice(("", " ", "\n", ",", ", "))
    return between.join([seen.good] * rng.choice((2, 3, 10, min(1_000, 1 + LONG // (len(seen.good) + 1)))))


def _several(rng: Stream, seen: Seen) -> str:
    return rng.choice(
        (
            seen.good + seen.other,
            f"{seen.other}\n{seen.good}",
            f"{seen.good}\nNo, wait: {seen.other}",
            f"<think>{seen.good}</think>{seen.other}",
            f"<think>{seen.good}",
            f"{seen.other}</think>",
            f"```json\n{seen.good}\n```\n```json\n{seen.other}\n```",
            f"[{seen.good},{seen.other}]",
        )
    )


def _long(rng: Stream, seen: Seen) -> str:
    """Return 100 kB of one thing, alone, before or after a good reply."""
    piece = rng.choice(
        ("a", "1 ", "9", ",", "-", ". ", "\n", "{", '"', "\\", '{"', "()", "word ", "<think>", "é", "1. ")
    )
    long = piece * (LONG // len(piece))
    return rng.choice((long, long + seen.good, seen.good + long))


def _prompt(rng: Stream, seen: Seen) -> str:
    half = len(seen.prompt) // 2
    return rng.choice(
        (
            seen.prompt,
            seen.prompt + "\n" + seen.good,
            seen.good + "\n" + seen.prompt,
            seen.prompt[half:],
            rng.choice(seen.prompt.splitlines() or [""]),
            "\n".join("> " + line for line in seen.prompt.splitlines()),
        )
    )


def _spliced(rng: Stream, seen: Seen) -> str:
    """Return parts of what was said before, which may be hostile, with a good reply."""
    replies = [*seen.replies[-6:], seen.good, seen.other]
    first, second = rng.choice(replies)[:LONG], rng.choice(replies)[:LONG]
    return first[: rng.below(len(first) + 1)] + second[rng.below(len(second) + 1) :]


def _noise(rng: Stream, seen: Seen) -> str:
    """Return characters of everywhere, up to 200 of them."""
    return "".join(chr(rng.below(0x110000) if rng.below(2) else rng.below(128)) for _ in range(rng.below(200)))


FAMILIES: Mapping[str, Family] = {
    "empty": _empty,
    "control characters": _some(_CONTROLS),
    "lone surrogates": _some(_SURROGATES),
    "invisible characters": _some(_INVISIBLE),
    "numbers": _numbers,
    "other scripts": _scripts,
    "deep brackets": _deep,
    "unbalanced": _unbalanced,
    "JSON": _json,
    "markup": _some(_MARKUP),
    "templates": _some(_TEMPLATES),
    "code": _some(_CODE),
    "near misses": _near,
    "again and again": _again,
    "several answers": _several,
    "long": _long,
    "the prompt": _prompt,
    "spliced": _spliced,
    "noise": _noise,
}
"""Name -> function that makes a reply."""
