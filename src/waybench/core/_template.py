"""Wordings from a file: templates of messages, for every environment."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from waybench.core._environment import AnyEnvironment, AnyPlay, PlayExtension, Resolve
from waybench.core._errors import UsageError, WaybenchError, shorten_long_words
from waybench.core._game import A, Json, S, Transition
from waybench.core._json import is_object
from waybench.core._play import TEMPLATE_PREFIX, WORDING, Option
from waybench.core._tools import TOOLS_PREFIX, without_tools
from waybench.core._user_files import read_text, user_path
from waybench.core._wording import DerivedWording, Field, Invalid, View, Wording

I = TypeVar("I")  # noqa: E741  the instance

TEMPLATE = "template"  # the option of play that has the content of the file, in records
LARGEST_TEMPLATE = 1 << 20  # bytes
_PARTS = ("rules", "first", "observation")
_FIELD = re.compile(r"\{\{([a-z][a-z_]*)\}\}|\{([a-z][a-z_]*)\}")
_BASE = "base"
_RULES = Field[Any]("rules", "The rules as the base wording has them.", lambda instance: "")
_GENERAL = (
    Field[Any]("observation", "The message of this turn as the base wording has it.", lambda view: ""),
    Field[Any]("turn", "Number of turns that have counted so far.", lambda view: str(view.turn)),
)


@dataclass(frozen=True, slots=True)
class Template:
    """The texts of a file, which replace those of one of an environment's own wordings.

    Attributes:
        name: Its name as a wording: "file:", the file's name, and the beginning of a SHA-256 of its content.
        base: The wording whose parser, memory and roles it has, and whose texts stand where it has none.
        rules: The template of the rules; None for the base wording's.
        first: That of the first observation; None for `observation`, where the base wording has a first observation.
        observation: That of each observation; None for the base wording's.
    """

    name: str
    base: str
    rules: str | None = None
    first: str | None = None
    observation: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return its content, without the name."""
        texts = {part: getattr(self, part) for part in _PARTS}
        return {_BASE: self.base, **{part: text for part, text in texts.items() if text is not None}}


def is_template_name(value: object) -> bool:
    """Return whether a value of the option `wording` names a file, or a template that was read from one."""
    return isinstance(value, str) and value.startswith(TEMPLATE_PREFIX)


def read_template(reference: str, option: Option) -> Template:
    """Read a template.

    Args:
        reference: "file:" and the path of a text file, the template of the rules, or of a TOML file with "rules",
            "first", "observation" and "base".
        option: The option `wording` of the environment, which lists the wordings that it can be based on.

    Raises:
        UsageError: If the file cannot be read, or has something else in it.
    """
    what, path, content = read_toml_file(reference, WORDING, "a template", else_named="rules")
    return _template({_BASE: option.default, **content}, f"{path.stem[:60]}", option, what)


def read_toml_file(
    reference: str, option: str, kind: str, else_named: str | None = None
) -> tuple[str, Path, Mapping[str, Json]]:
    """Read a TOML file that an option of play names.

    Args:
        reference: "file:" and the path.
        option: The name of the option.
        kind: What the file should be, for messages: "a template".
        else_named: The key of the text of a file whose name does not end in ".toml"; None if all files are TOML.

    Returns:
        What messages about it begin with, its path, and its content.

    Raises:
        UsageError: If it cannot be read.
    """
    path = user_path(reference.removeprefix(TEMPLATE_PREFIX))
    what = f"{option}={TEMPLATE_PREFIX}{shorten_long_words(str(path))}"
    try:
        text = read_text(path, LARGEST_TEMPLATE, kind)
    except WaybenchError as error:
        raise UsageError(f"{what}: {shorten_long_words(str(error))}") from None
    if else_named is not None and path.suffix.lower() != ".toml":
        return what, path, {else_named: text}
    try:
        return what, path, tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{what}: it is not valid TOML: {error}") from None


def toml_text(texts: Mapping[str, Json]) -> str:
    """Return texts by name as a TOML file."""
    lines: list[str] = []
    for name, value in texts.items():
        # A basic string of TOML has the escapes of JSON; the delete character has to be one.
        text = json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f"{json.dumps(str(name))} = {text}")
    return "\n".join(lines) + "\n"


def content_name(stem: str, content: Mapping[str, Json]) -> str:
    """Return the value of an option that stands for a file in records: a stem and a digest of the content."""
    text = json.dumps(content, sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{TEMPLATE_PREFIX}{stem}-{digest}"


def stored_template(content: Json, name: str, option: Option) -> Template:
    """Return the template of a record.

    Args:
        content: What `Template.to_json` returned.
        name: Its name as a wording.
        option: The option `wording` of the environment.

    Raises:
        UsageError: If it is no template, or not the one of this name.
    """
    if not is_object(content):
        raise UsageError(f"option {TEMPLATE}: give an object with the texts of a template")
    stem = name.removeprefix(TEMPLATE_PREFIX).rpartition("-")[0]
    template = _template(content, stem, option, f"option {TEMPLATE}")
    if template.name != name:
        raise UsageError(f"option {TEMPLATE}: its text is not that of {WORDING}={name[:80]}: one of them was changed")
    return template


def _template(content: Mapping[str, Json], stem: str, option: Option, what: str) -> Template:
    for name, value in content.items():
        if name != _BASE and name not in _PARTS:
            raise UsageError(f"{what}: unknown key {name[:40]!r}: choose from {', '.join((_BASE, *_PARTS))}")
        if not isinstance(value, str):
            raise UsageError(f"{what}: {name} must be a text")
    base = str(content[_BASE]) if _BASE in content else ""
    if is_template_name(base) or (option.choices and base not in option.all_choices):
        raise UsageError(f"{what}: unknown base {base[:40]!r}: choose from {', '.join(option.all_choices)}")
    texts: dict[str, str] = {part: str(content[part]).strip("\r\n") for part in _PARTS if part in content}
    if not texts:
        raise UsageError(f"{what}: it has no template: give at least one of {', '.join(_PARTS)}")
    return Template(content_name(stem, {_BASE: base, **texts}), base, **texts)


def without_template(options: Mapping[str, Json]) -> dict[str, Json]:
    """Return options of play as they would be with the environment's own wording: no template, and no tools."""
    values = without_tools(options)
    template: Any = values.pop(TEMPLATE, None)
    return values | ({WORDING: template[_BASE]} if template else {})


def template_fields(wording: Wording[Any, Any, Any]) -> dict[str, tuple[Field[Any], ...]]:
    """Return what templates can name, for "rules" and for "observations", the general fields first."""
    return {"rules": (_RULES, *wording.rule_fields), "observations": (*_GENERAL, *wording.fields)}


class _Text:
    """A template as pieces: line by line, texts and fields in turn."""

    def __init__(self, text: str) -> None:
        self.names: dict[str, None] = {}
        self._lines: list[list[str]] = []  # texts at even positions, names of fields at odd ones
        for line in text.split("\n"):
            pieces, end = [""], 0
            for match in _FIELD.finditer(line):
                pieces[-1] += line[end : match.start()]
                end = match.end()
                if match[1]:
                    pieces[-1] += match[0][1:-1]
                else:
                    pieces += (match[2], "")
                    self.names[match[2]] = None
            pieces[-1] += line[end:]
            self._lines.append(pieces)

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with values in place of its fields.

        A line of fields only, all of them empty, is left out, and with it one of two empty lines around it.
        """
        lines: list[str] = []
        after_empty = has_empty = False
        for pieces in self._lines:
            line = "".join(values[piece] if number % 2 else piece for number, piece in enumerate(pieces))
            if len(pieces) > 1 and not line.strip():
                after_empty = has_empty = True
                continue
            if not (after_empty and not line.strip() and (not lines or not lines[-1].strip())):
                lines.append(line)
            after_empty = False
        text = "\n".join(lines)
        return text.strip("\n") if has_empty else text


class TemplateWording(DerivedWording[I, S, A], Generic[I, S, A]):
    """A wording of an environment with some of its texts from a template.

    Args:
        template: The template.
        base: The environment's own wording, which does everything else: it parses, remembers and renders.

    Raises:
        UsageError: If a template names a field that the wording does not have, or the problem would be in no message.
    """

    def __init__(self, template: Template, base: Wording[I, S, A]) -> None:
        super().__init__(base, template.name)
        self.rule_fields, self.fields = template_fields(base).values()
        self._rules = self._text("rules", template.rules, self.rule_fields, bool(base.rule_fields))
        self._later = self._text("observation", template.observation, self.fields, bool(base.fields))
        self._first = self._text("first", template.first, self.fields, needs_field=False)
        self._has_first = template.first is not None

    def _text(self, part: str, text: str | None, fields: Iterable[Field[Any]], needs_field: bool) -> _Text | None:
        if text is None:
            return None
        template, names = _Text(text), [field.name for field in fields]
        choices = f"choose from {', '.join(sorted(names))}"
        for name in template.names:
            if name not in names:
                raise UsageError(
                    f"{self.name}: {part}: unknown field {{{name}}}: {choices}; write {{{{{name}}}}} for the text "
                    f"{{{name}}}"
                )
        if needs_field and not template.names.keys() - {"turn"}:
            raise UsageError(f"{self.name}: {part}: no field in it says what the problem is: {choices}")
        return template

    def rules(self, instance: I) -> str:
        """Return the template's rules, filled, or the base wording's."""
        if self._rules is None:
            return self._base.rules(instance)
        of = {field.name: field.of for field in self.rule_fields} | {"rules": self._base.rules}
        return self._rules.fill({name: of[name](instance) for name in self._rules.names})

    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return the template of this turn, filled; the base wording's text where that has no text in it."""
        base_text = self._base.observe(state, last, turn)
        chosen = self._first if last is None and self._has_first else self._later
        if chosen is None or not (base_text or (last is None and self._has_first)):
            return base_text
        view = View(state, last, turn)
        of = {field.name: field.of for field in self.fields}
        filled = chosen.fill({name: base_text if name == "observation" else of[name](view) for name in chosen.names})
        return filled if filled.strip() else base_text


def _resolve(environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]) -> dict[str, Json]:
    stored, name = values.pop(TEMPLATE, None), values.get(WORDING)
    if not is_template_name(name):
        options = resolve_others(values)
        if stored is not None:
            raise UsageError(f"option {TEMPLATE}: for {WORDING}={TEMPLATE_PREFIX}... only; leave it out")
        return options
    option = _wording_option(environment)
    template = read_template(str(name), option) if stored is None else stored_template(stored, str(name), option)
    options = resolve_others(values | {WORDING: template.base})
    options |= {WORDING: template.name, TEMPLATE: template.to_json()}
    environment.play_with(options)  # so that a template that does not fit is refused
    return options


def _wrap(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    if TEMPLATE not in options:
        return None
    template = stored_template(options[TEMPLATE], str(options[WORDING]), _wording_option(environment))
    play = environment.play_with(without_template(options))
    return replace(play, wording=TemplateWording(template, play.wording), takes_probes=False)


def _wording_option(environment: AnyEnvironment) -> Option:
    return next(option for option in environment.playing.options if option.name == WORDING)


def _names_file(options: Mapping[str, Json]) -> str:
    named = is_template_name(str(options.get(WORDING)).removeprefix(TOOLS_PREFIX))
    return WORDING if named and TEMPLATE not in options else ""


def _replace_path(environment: AnyEnvironment, parameters: Mapping[str, Json]) -> dict[str, Json]:
    """Return the name of a template in place of its path; it has a digest: another content is another task."""
    wording = parameters.get(WORDING)
    return {WORDING: environment.resolve_options({WORDING: wording})[WORDING]} if is_template_name(wording) else {}


TEMPLATE_EXTENSION = PlayExtension(
    name="template", resolve=_resolve, wrap=_wrap, content=(TEMPLATE,), names_file=_names_file, for_log=_replace_path
)
