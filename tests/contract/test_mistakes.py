"""Mistakes that authors of environments make: each is found by the right check, with its line and what to do.

The environment is a walk that uses nothing of the kit (walk.py.txt), or that of `waybench new --kind turns`, which
does, with a few words of its source replaced.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import waybench.testing
from waybench.cli._environments import find_environment
from waybench.testing import Breach, find_breach, find_breaches


def source_of(path: Path) -> str:
    words = {"ENV_ID": "compass/turns", "PACKAGE": "compass", "TITLE": "Compass"}
    text = path.read_text("utf-8")
    for word, value in words.items():
        text = text.replace(word, value)
    return text


SOURCE = source_of(Path(__file__).with_name("walk.py.txt"))
TEMPLATE = source_of(Path(waybench.testing.__file__).with_name("template") / "turns.py.txt")


CHECKS = Path(__file__).parents[2] / "docs" / "reference" / "checks.md"


class Mistake(NamedTuple):
    """What is replaced by what, the check that finds it, and a part of what it says.

    `line` is a part of the line that is named; by default it is the first line of the replacement.
    """

    old: str
    new: str
    check: str
    says: str
    line: str | None = None
    source: str = SOURCE


CELL_LINE = '        place = f"You are in {cell_text(state.cell)}."'
PLAIN_MISTAKES: dict[str, Mistake] = {
    # parse and render
    "parse takes the word anywhere": Mistake(
        "return word if word in MOVES else",
        "return next(move for move in MOVES if move in word) if any(move in word for move in MOVES) else",
        "ambiguous replies",
        "names two actions, and is read as",
        "def parse",
    ),
    "parse takes the last word": Mistake(
        "word = reply.strip().lower()",
        'word = (reply.lower().replace("?", "").split() or [""])[-1]',
        "ambiguous replies",
        "names two actions",
        "def parse",
    ),
    "parse fails at an empty reply": Mistake(
        "word = reply.strip().lower()", "word = reply.split()[0].lower()", "hostile", "raised IndexError"
    ),
    "parse decodes JSON without a guard": Mistake(
        "word = reply.strip().lower()",
        'word = str(__import__("json").loads(reply)) if reply[:1] in "{[" else reply.strip().lower()',
        "hostile",
        "raised JSONDecodeError",
    ),
    "parse returns None": Mistake(
        "wb.Invalid(f\"Answer with one word: {', '.join(MOVES)}.\")",
        "None",
        "hostile",
        "parse returned None",
        "def parse",
    ),
    "parse gives no reason": Mistake(
        "wb.Invalid(f\"Answer with one word: {', '.join(MOVES)}.\")",
        'wb.Invalid("")',
        "hostile",
        "without a reason",
        "def parse",
    ),
    "parse repeats the whole reply": Mistake(
        "wb.Invalid(f\"Answer with one word: {', '.join(MOVES)}.\")",
        'wb.Invalid(f"What is {reply}?")',
        "hostile",
        "the reason",
        "def parse",
    ),
    "parse mistakes one word": Mistake(
        "word = reply.strip().lower()",
        'word = reply.strip().lower().replace("west", "east")',
        "round trip",
        "comes back 'east'",
        "def parse",
    ),
    "render writes another case": Mistake(
        "def render(self, action: str, state: State) -> str:\n        return action",
        "def render(self, action: str, state: State) -> str:\n        return action[0]",
        "round trip",
        "comes back Invalid",
        "def parse",
    ),
    # state and apply
    "a state that has a list": Mistake(
        "return State(instance, instance.start)",
        "return State(instance, list(instance.start))",
        "start",
        "not hashable",
        "def start",
    ),
    "a state that can be changed": Mistake(
        "class State(NamedTuple):\n",
        "@dataclass(unsafe_hash=True)\nclass State:\n",
        "start",
        "has a __dict__",
        "def start",
    ),
    "apply changes what its input has in common with others": Mistake(
        "        cell = state.field.after(state.cell, action)\n",
        "        distances(state.field).clear()\n        cell = state.field.after(state.cell, action)\n",
        "apply",
        "raised KeyError",
        "moves[",
    ),
    "apply changes its input": Mistake(
        "        cell = state.field.after(state.cell, action)\n",
        '        object.__setattr__(state.field, "flag", (0, 0))\n'
        "        cell = state.field.after(state.cell, action)\n",
        "apply",
        "changed its input",
        "def apply",
    ),
    "apply raises at an illegal action": Mistake(
        "            return wb.Transition(state, 0.0, {}, wb.Outcome.ILLEGAL)",
        '            raise ValueError("a wall")',
        "apply",
        "raised ValueError: a wall",
    ),
    "apply remembers in the game": Mistake(
        '{"cell": list(cell)}',
        '{"calls": vars(self).update(calls=vars(self).get("calls", 0) + 1) or vars(self)["calls"]}',
        "apply",
        "two results for one random stream",
        "def apply",
    ),
    "apply returns no Transition": Mistake(
        "            return wb.Transition(state, 0.0, {}, wb.Outcome.ILLEGAL)",
        "            return None",
        "apply",
        "raised AttributeError",
        "def apply",
    ),
    "chance from the module random": Mistake(
        "        cell = state.field.after(state.cell, action)\n",
        '        action = __import__("random").choice([action, action])\n'
        "        cell = state.field.after(state.cell, action)\n",
        "apply",
        "uses the module random",
        "def apply",
    ),
    "chance that is not declared": Mistake(
        '{"cell": list(cell)}', '{"luck": rng.below(1000)}', "apply", "depends on chance", "def apply"
    ),
    "an event that is no JSON": Mistake(
        '{"cell": list(cell)}', '{"cell": {cell}}', "apply", "no JSON value", "def apply"
    ),
    "an event that is a tuple": Mistake(
        '{"cell": list(cell)}', '{"cell": cell}', "apply", "change on their way", "def apply"
    ),
    "a reward that is infinite": Mistake(
        "float(cell == state.field.flag)", 'float("inf")', "apply", "reward is inf", "def apply"
    ),
    # legal and terminal
    "legal leaves a move out": Mistake(
        "return [move for move in MOVES if state",
        'return [move for move in MOVES if move != "north" and state',
        "listed actions",
        "carries out 'north'",
        "def legal",
    ),
    "legal leaves the last move out": Mistake(
        "is not None]\n\n    def apply",
        "is not None][:2]\n\n    def apply",
        "listed actions",
        "legal does not list it",
        "def legal",
    ),
    "legal lists walls": Mistake(
        "return [move for move in MOVES if state.field.after(state.cell, move) is not None]",
        "return list(MOVES)",
        "apply",
        "listed, but illegal",
        "def apply",
    ),
    "legal lists a move twice": Mistake(
        "is not None]\n\n    def apply",
        "is not None] * 2\n\n    def apply",
        "apply",
        "lists an action twice",
        "def legal",
    ),
    "legal lists moves after the end": Mistake(
        "        if self.terminal(state):\n            return []\n", "", "terminal", "against legal", "def terminal"
    ),
    "over before it begins": Mistake(
        "return wb.End.SOLVED if state.cell == state.field.flag else None",
        "return wb.End.SOLVED",
        "start",
        "over before the first turn",
        "def start",
    ),
    "terminal gives a limit": Mistake(
        "return wb.End.SOLVED if", "return wb.End.TURN_LIMIT if", "terminal", "solved, failed or None", "def terminal"
    ),
    # encode and decode
    "decode gives another action": Mistake(
        "        return action\n\n\nclass FieldWording",
        '        return "north"\n\n\nclass FieldWording',
        "action codec",
        "came back from",
        "def decode(self",
    ),
    "decode takes anything": Mistake(
        "            raise wb.DataError(f\"action: give one of {', '.join(MOVES)}\")",
        "            return str(action.strip())",
        "bad data",
        "raised AttributeError",
    ),
    "an instance that is not checked": Mistake(
        "    size, walls, start, flag = (fields.get(name)",
        "    size, walls, start, flag = (fields[name]",
        "bad data",
        "raised KeyError",
        None,
    ),
    "an instance that comes back otherwise": Mistake(
        '"start": list(self.start), "flag": list(self.flag)',
        '"start": list(self.flag), "flag": list(self.start)',
        "instances",
        "changes on its way through JSON",
        "def decode(data",
    ),
    "a canonical form that leaves the start out": Mistake(
        'return f"{self.size} {self.walls} {self.start} {self.flag}"',
        'return f"{self.size} {self.flag[0]}"',
        "instances",
        "do not agree",
        "def canonical",
    ),
    "an instance without slots": Mistake(
        "@dataclass(frozen=True, slots=True)\nclass Field",
        "@dataclass(frozen=True)\nclass Field",
        "instances",
        "__dict__",
        "@dataclass",
    ),
    # items
    "items from the module random": Mistake(
        "            rng.shuffle(cells)\n",
        '            __import__("random").shuffle(cells)\n',
        "source",
        "item",
        "class FieldSource",
    ),
    "items in the order of a set": Mistake(
        "        while True:\n",
        '        cells = [tuple(map(int, cell.split())) for cell in {f"{row} {column}" for row, column in cells}]\n'
        "        while True:\n",
        "processes",
        "instance differs in another process",
        "class FieldSource",
    ),
    "words in the order of a set": Mistake(
        "', '.join(MOVES)}.\"\n        )",
        # Many words: four have the same order in one process of 24.
        "', '.join({*MOVES, *dir(str)})}.\"\n        )",
        "processes",
        "opening differs",
        "def observe",
    ),
    "items without the key": Mistake(
        "rng = wb.Stream(ID, self.key, self.level, index)",
        "rng = wb.Stream(ID, self.level, index)",
        "keys",
        "keys gave only",
        "class FieldSource",
    ),
    "levels without an end": Mistake(
        "        if level not in LEVELS:\n",
        "        if level > LEVELS[-1]:\n",
        "levels",
        "below the smallest level",
        None,
    ),
    "a level that is looked up": Mistake(
        "        if level not in LEVELS:\n",
        "        LEVELS.index(level)\n        if level not in LEVELS:\n",
        "levels",
        "raised ValueError",
    ),
    "a level that is another one": Mistake(
        "level_of=lambda field: field.size,",
        "level_of=lambda field: len(field.walls),",
        "source",
        "does not give its level",
        "class FieldSource",
    ),
    "a proof that raises": Mistake(
        'return {"minimum": distances(field)[field.start]}',
        'return {"minimum": distances(field)[(-1, -1)]}',
        "source",
        "raised KeyError",
    ),
    # words
    "an observation that says nothing": Mistake(
        "        return place\n", '        return "" if last else place\n', "wordings", "is empty", "def observe"
    ),
    "an observation that shows the state": Mistake(
        CELL_LINE, '        place = f"You are in {state}."', "secrets", "State(field=", "def observe"
    ),
    "an observation that shows the instance's hash": Mistake(
        CELL_LINE,
        '        place = f"Field {state.field.hash[:16]}. You are in {cell_text(state.cell)}."',
        "secrets",
        "the hash of its instance",
        "def observe",
    ),
    "an observation that counts calls": Mistake(
        CELL_LINE,
        '        self.calls = getattr(self, "calls", 0) + 1\n        place = f"{self.calls}: {cell_text(state.cell)}."',
        "replay",
        "",
        "def observe",
    ),
    "an observation that raises at an invalid reply": Mistake(
        '            return f"{last.reason} {place}"',
        "            return last.events[place]",
        "wordings",
        "raised AttributeError",
    ),
    "a memory that is a word": Mistake(
        "    fields = (\n",
        '    memory = "chat"\n    fields = (\n',
        "wordings",
        "memory is 'chat': give Memory()",
        "class FieldWording",
    ),
    "a wording of another name": Mistake(
        "    fields = (\n",
        '    name = "compass"\n    fields = (\n',
        "wordings",
        "calls itself 'compass'",
        "class FieldWording",
    ),
    "a field without a description": Mistake(
        '"The cell where the player is."', '""', "wordings", "say in a sentence what it is", "class FieldWording"
    ),
    "a tool without a description": Mistake(
        '"enum": list(MOVES), "description": "The direction of the move."',
        '"enum": list(MOVES)',
        "tools",
        "has no description",
        "def tools",
    ),
    "a tool that is read otherwise": Mistake(
        'return str(call.arguments["direction"])', 'return "north"', "tools", "is read as", "def tools"
    ),
    "a tool whose argument has another name": Mistake(
        'wb.ToolCall("move", {"direction": action})',
        'wb.ToolCall("move", {"to": action})',
        "tools",
        "is read as",
        "def tools",
    ),
    # options and metrics
    "an option called limit": Mistake(
        'wb.Option(name="turns"',
        'wb.Option(name="limit", default=1, doc="A limit."), wb.Option(name="turns"',
        "options",
        "a parameter of every task has this name",
    ),
    "an option without a description": Mistake(
        'doc="Maximum number of turns."', 'doc=""', "options", "say in a sentence", 'name="turns"'
    ),
    "an option whose default is out of range": Mistake(
        'name="turns", default=TURNS', 'name="turns", default=TURNS + 1', "options", "do not pass its check"
    ),
    "a metric that raises": Mistake(
        'return float(record.proof["minimum"]) / len(record.turns) if',
        'return float(record.proof["minimum"]) / (len(record.turns) - 2) if',
        "metrics",
        "raised ZeroDivisionError",
    ),
    "a metric out of its range": Mistake(
        'return float(record.proof["minimum"]) / len(record.turns) if',
        'return float(record.proof["minimum"]) if',
        "metrics",
        "above 1",
        "def score",
    ),
    "a metric that is a whole number": Mistake(
        "else 0.0\n\n\ndef is_competent", "else 0\n\n\ndef is_competent", "metrics", "no finite float", "def score"
    ),
    "a metric without bounds": Mistake(
        "                high=1,\n", "", "metrics declared", "has no bounds", 'name="score"'
    ),
    "an axis of another name": Mistake(
        'wb.proof_axis("minimum"', 'wb.proof_axis("moves"', "metrics", "axis 'moves' is None for every item"
    ),
    # players and properties
    "an oracle that is not optimal": Mistake(
        "    return min(FieldGame().legal(state), key",
        "    return max(FieldGame().legal(state), key",
        "players",
        "the oracle has",
        "def oracle",
    ),
    "an oracle that raises": Mistake(
        "    moves = distances(state.field)\n", "    moves = {}\n", "players", "raised KeyError", None
    ),
    "a player that is missing": Mistake(', "heuristic": heuristic', "", "names", "lacks the players", "Environment("),
    "properties that are too small": Mistake(
        "wb.GameProperties(deterministic=True, turns=TURNS",
        "wb.GameProperties(deterministic=True, turns=3",
        "properties",
        "properties.turns is 3",
        "class FieldGame",
    ),
    "rewards beyond the properties": Mistake(
        "reward=(0.0, 1.0)", "reward=(0.0, 0.5)", "properties", "properties.reward is", "class FieldGame"
    ),
    "a name in the presentation that does not exist": Mistake(
        'metrics=("score",))', 'metrics=("scroe",))', "presentation declared", "there is no metric 'scroe'", None
    ),
}

# Of the kit: each is one problem in all checks together.
KIT_MISTAKES: dict[str, Mistake] = {
    name: mistake._replace(source=TEMPLATE)
    for name, mistake in {
        "a step that raises": Mistake("min(cell) >= 0", "cell[2] >= 0", "apply", "raised IndexError"),
        "a start that raises": Mistake(
            "(instance, instance.start)", "(instance, instance.cell)", "start", "AttributeError"
        ),
        "a start that has no hash": Mistake(
            "return State(instance, instance.start)", "return State(instance, [*instance.start])", "start", "unhashable"
        ),
        "an end that raises": Mistake("== state.field.flag", "== state.flag", "terminal", "AttributeError"),
        "a view that raises": Mistake('state.cell: "@"}', 'state.at: "@"}', "wordings", "AttributeError"),
        "a state without actions that is not over": Mistake(
            "actions = tuple(MOVES)",
            "actions = tuple(MOVES)[:3]",
            "horizon",
            "legal lists no action",
            "class FieldGame",
        ),
        "a field that JSON lacks": Mistake(
            "size: int", "size: float", "instances", "Field.size has a type", "@dataclass"
        ),
        "a highest level that cannot be drawn": Mistake(
            "    cells = [",
            "    assert level < 9\n    cells = [",
            "levels",
            "level 30, the highest_level",
        ),
        "a level in between that cannot be drawn": Mistake(
            "    cells = [",
            "    assert level != 17\n    cells = [",
            "levels",
            "level 17, which is below the highest_level, raised AssertionError",
        ),
        "items of higher levels in the order of a set": Mistake(
            "    while True:\n",
            "    if level > 7:\n"
            "        cells = [tuple(map(int, cell.split())) for cell in {f'{row} {at}' for row, at in cells}]\n"
            "    while True:\n",
            "processes",
            "instance differs in another process",
            "def draw",
        ),
    }.items()
}
MISTAKES = PLAIN_MISTAKES | KIT_MISTAKES


def mistaken(tmp_path: Path, name: str) -> Path:
    mistake = MISTAKES[name]
    assert mistake.source.count(mistake.old) >= 1, f"{name}: its source has no {mistake.old!r} any more"
    path = tmp_path / f"compass_{list(MISTAKES).index(name)}.py"
    path.write_text(mistake.source.replace(mistake.old, mistake.new, 1), "utf-8")
    return path


def mistake_row(name: str, breach: Breach) -> str:
    """Return a mistake's row in docs/reference/checks.md: the check and what is wrong, without places in files."""
    problem = re.sub(r"\w+\.py:\d+", "LINE", breach.problem)
    problem = problem if len(problem) <= 160 else f"{problem[:157]}..."
    return f"| {name} | {breach.check} | {problem.replace('|', chr(92) + '|').replace('<', chr(92) + '<')} |"


def require_helpful(breach: Breach, path: Path) -> None:
    assert breach.advice.endswith("."), breach
    assert breach.problem and "\n" not in breach.problem, breach
    assert breach.location is not None and breach.location.path == str(path), breach


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(name: str, tmp_path: Path) -> None:
    mistake, path = MISTAKES[name], mistaken(tmp_path, name)
    breach = find_breach(find_environment(str(path)), mistake.check)
    assert breach is not None, f"{mistake.check} finds nothing"
    assert mistake.says in breach.problem
    printed = CHECKS.read_text("utf-8").splitlines()
    row = mistake_row(name, breach).partition(" raised ")[0]  # the texts of exceptions depend on Python's version
    assert any(line.startswith(row) for line in printed), "the page is stale: run python docs/check_page.py"
    require_helpful(breach, path)
    if mistake.line is not None or mistake.new:
        line = mistake.line or mistake.new.strip("\n").splitlines()[0].strip()
        assert breach.location is not None
        named = path.read_text("utf-8").splitlines()[breach.location.line - 1]
        assert line in named or (mistake.line is None), (breach.location, named)


@pytest.mark.parametrize("check", ["source", "apply"])
def test_the_advice_on_the_module_random_is_the_same_in_every_check(check: str, tmp_path: Path) -> None:
    name = "items from the module random" if check == "source" else "chance from the module random"
    path = mistaken(tmp_path, name)
    breaches = [find_breach(find_environment(str(path)), each) for each in ("options", check)]
    found = [breach for breach in breaches if breach is not None and "the module random" in breach.problem]
    assert found
    assert all(breach.advice.startswith("Draw with the methods of the Stream") for breach in found)
    for breach in found:
        require_helpful(breach, path)


@pytest.mark.parametrize("source", [SOURCE, TEMPLATE], ids=["plain", "kit"])
def test_there_is_none_without_a_mistake(tmp_path: Path, source: str) -> None:
    path = tmp_path / f"compass_{tmp_path.name}.py"
    path.write_text(source, "utf-8")
    assert find_breaches(find_environment(str(path))) == []


def test_there_are_many_kinds() -> None:
    assert len(MISTAKES) >= 51


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_all_checks_together_name_the_mistake(name: str, tmp_path: Path) -> None:
    path = mistaken(tmp_path, name)
    breaches = find_breaches(find_environment(str(path)))
    assert any(MISTAKES[name].check in (breach.check, *breach.also) for breach in breaches)
    for breach in breaches:
        require_helpful(breach, path)


@pytest.mark.slow
@pytest.mark.parametrize("name", KIT_MISTAKES)
def test_a_mistake_with_the_kit_is_one_problem(name: str, tmp_path: Path) -> None:
    path = mistaken(tmp_path, name)
    [breach] = find_breaches(find_environment(str(path)))
    require_helpful(breach, path)
