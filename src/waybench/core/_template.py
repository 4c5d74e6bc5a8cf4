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
from waybench.core._user_files import read_text_file, user_path
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
        """Return the template's texts and base by name, for records."""
        texts = {part: getattr(self, part) for part in _PARTS}
        return {_BASE: self.base, **{part: text for part, text in texts.items() if text is not None}}


def is_file_name(value: object) -> bool:
    """Return whether an option's value names a file, or content that was read from one ("file:...")."""
    return isinstance(value, str) and value.startswith(TEMPLATE_PREFIX)


def read_template_file(reference: str, option: Option) -> Template:
    """Return the template in a user's file.

    Args:
        reference: "file:" and the path of a text file, the template of the rules, or of a TOML file with "rules",
            "first", "observation" and "base".
        option: The option `wording` of the environment, which lists the wordings that it can be based on.

    Raises:
        UsageError: If the file cannot be read, or has something else in it.
    """
    what, path, content = read_toml_file(reference, WORDING, "a template", text_key="rules")
    return _checked_template({_BASE: option.default, **content}, f"{path.stem[:60]}", option, what)


def read_toml_file(
    reference: str, option: str, kind: str, text_key: str | None = None
) -> tuple[str, Path, Mapping[str, Json]]:
    """Return the content of a TOML file that an option of play names.

    `reference` is "file:" and the path; `kind` says what the file should be, for messages: "a template". `text_key` is
    the key of the text of a file whose name does not end in ".toml"; None if all files are TOML.

    Returns:
        The beginning of messages about the file, its path, and its content.

    Raises:
        UsageError: If it cannot be read.
    """
    path = user_path(reference.removeprefix(TEMPLATE_PREFIX))
    what = f"{option}={TEMPLATE_PREFIX}{shorten_long_words(str(path))}"
    try:
        text = read_text_file(path, LARGEST_TEMPLATE, kind)
    except WaybenchError as error:
        raise UsageError(f"{what}: {shorten_long_words(str(error))}") from None
    if text_key is not None and path.suffix.lower() != ".toml":
        return what, path, {text_key: text}
    try:
        return what, path, tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{what}: it is not valid TOML: {error}") from None


def texts_as_toml(texts: Mapping[str, Json]) -> str:
    """Return texts by name as a TOML file."""
    lines: list[str] = []
    for name, value in texts.items():
        # A basic string of TOML has the escapes of JSON; the delete character has to be one.
        text = json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f"{json.dumps(str(name))} = {text}")
    return "\n".join(lines) + "\n"


def name_with_digest(stem: str, content: Mapping[str, Json]) -> str:
    """Return the name of a file's content in records: "file:", a stem and a digest of the content."""
    text = json.dumps(content, sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{TEMPLATE_PREFIX}{stem}-{digest}"


def template_of_record(content: Json, name: str, option: Option) -> Template:
    """Return the template whose texts a record has.

    `content` is what `Template.to_json` returned, and `name` the template's name as a wording.

    Raises:
        UsageError: If it is no template, or not the one of this name.
    """
    if not is_object(content):
        raise UsageError(f"option {TEMPLATE}: give an object with the texts of a template")
    stem = name.removeprefix(TEMPLATE_PREFIX).rpartition("-")[0]
    template = _checked_template(content, stem, option, f"option {TEMPLATE}")
    if template.name != name:
        raise UsageError(f"option {TEMPLATE}: its text is not that of {WORDING}={name[:80]}: one of them was changed")
    return template


def _checked_template(content: Mapping[str, Json], stem: str, option: Option, what: str) -> Template:
    """Return the template of texts by name; raise a UsageError if it does not fit the option `wording`."""
    for name, value in content.items():
        if name != _BASE and name not in _PARTS:
            raise UsageError(f"{what}: unknown key {name[:40]!r}: choose from {', '.join((_BASE, *_PARTS))}")
        if not isinstance(value, str):
            raise UsageError(f"{what}: {name} must be a text")
    base = str(content[_BASE]) if _BASE in content else ""
    if is_file_name(base) or (option.choices and base not in option.all_choices):
        raise UsageError(f"{what}: unknown base {base[:40]!r}: choose from {', '.join(option.all_choices)}")
    texts: dict[str, str] = {part: str(content[part]).strip("\r\n") for part in _PARTS if part in content}
    if not texts:
        raise UsageError(f"{what}: it has no template: give at least one of {', '.join(_PARTS)}")
    return Template(name_with_digest(stem, {_BASE: base, **texts}), base, **texts)


def without_template(options: Mapping[str, Json]) -> dict[str, Json]:
    """Return options of play with the environment's own wording in place of a template or tools."""
    values = without_tools(options)
    template: Any = values.pop(TEMPLATE, None)
    return values | ({WORDING: template[_BASE]} if template else {})


def template_fields(wording: Wording[Any, Any, Any]) -> dict[str, tuple[Field[Any], ...]]:
    """Return the fields that templates of rules and of observations can use, the general fields first."""
    return {"rules": (_RULES, *wording.rule_fields), "observations": (*_GENERAL, *wording.fields)}


class _TemplateText:
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

    def fill_fields(self, values: Mapping[str, str]) -> str:
        """Return the text with a value in place of each field.

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
        base: The environment's own wording, which does everything else: it parses, remembers and renders.

    Raises:
        UsageError: If a template names a field that the wording does not have, or the problem would be in no message.
    """

    def __init__(self, template: Template, base: Wording[I, S, A]) -> None:
        super().__init__(base, template.name)
        self.rule_fields, self.fields = template_fields(base).values()
        self._rules = self._checked_template_text("rules", template.rules, self.rule_fields, bool(base.rule_fields))
        self._later = self._checked_template_text("observation", template.observation, self.fields, bool(base.fields))
        self._first = self._checked_template_text("first", template.first, self.fields, needs_field=False)
        self._has_first = template.first is not None

    def _checked_template_text(
        self, part: str, text: str | None, fields: Iterable[Field[Any]], needs_field: bool
    ) -> _TemplateText | None:
        """Return a template's text after a check of its fields; None if there is no text."""
        if text is None:
            return None
        template, names = _TemplateText(text), [field.name for field in fields]
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
        """Return the filled template of the rules, or the base wording's rules."""
        if self._rules is None:
            return self._base.rules(instance)
        of = {field.name: field.of for field in self.rule_fields} | {"rules": self._base.rules}
        return self._rules.fill_fields({name: of[name](instance) for name in self._rules.names})

    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return the filled template of this turn; the base wording's text if the template has none for it."""
        base_text = self._base.observe(state, last, turn)
        chosen = self._first if last is None and self._has_first else self._later
        if chosen is None or not (base_text or (last is None and self._has_first)):
            return base_text
        view = View(state, last, turn)
        of = {field.name: field.of for field in self.fields}
        filled = chosen.fill_fields(
            {name: base_text if name == "observation" else of[name](view) for name in chosen.names}
        )
        return filled if filled.strip() else base_text


def _resolve_template_option(
    environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]
) -> dict[str, Json]:
    """Resolve `wording` where it names a template, and all other options; see `PlayExtension.resolve`."""
    stored, name = values.pop(TEMPLATE, None), values.get(WORDING)
    if not is_file_name(name):
        options = resolve_others(values)
        if stored is not None:
            raise UsageError(f"option {TEMPLATE}: for {WORDING}={TEMPLATE_PREFIX}... only; leave it out")
        return options
    option = _option_wording(environment)
    template = (
        read_template_file(str(name), option) if stored is None else template_of_record(stored, str(name), option)
    )
    options = resolve_others(values | {WORDING: template.base})
    options |= {WORDING: template.name, TEMPLATE: template.to_json()}
    environment.play_with(options)  # so that a template that does not fit is refused
    return options


def _play_with_template(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with the words of a template; None without a template."""
    if TEMPLATE not in options:
        return None
    template = template_of_record(options[TEMPLATE], str(options[WORDING]), _option_wording(environment))
    play = environment.play_with(without_template(options))
    return replace(play, wording=TemplateWording(template, play.wording), takes_probes=False)


def _option_wording(environment: AnyEnvironment) -> Option:
    """Return the option `wording` of an environment."""
    return next(option for option in environment.playing.options if option.name == WORDING)


def _option_naming_file(options: Mapping[str, Json]) -> str:
    """Return the option whose value names a file of this machine; "" if none does."""
    named = is_file_name(str(options.get(WORDING)).removeprefix(TOOLS_PREFIX))
    return WORDING if named and TEMPLATE not in options else ""


def _wording_without_path(environment: AnyEnvironment, parameters: Mapping[str, Json]) -> dict[str, Json]:
    """Return the option `wording` with a digest of its file in place of the path; {} without a file."""
    wording = parameters.get(WORDING)
    return {WORDING: environment.resolve_options({WORDING: wording})[WORDING]} if is_file_name(wording) else {}


TEMPLATE_EXTENSION = PlayExtension(
    name="template",
    resolve=_resolve_template_option,
    wrap=_play_with_template,
    content=(TEMPLATE,),
    names_file=_option_naming_file,
    for_log=_wording_without_path,
)
