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
_FIELD = re.compile(r"\{\{(?P<escaped>[a-z][a-z_]*)\}\}|\{(?P<name>[a-z][a-z_]*)\}")
_BASE = "base"
_RULES = Field[Any]("rules", "The rules as the base wording has them.", lambda instance: "")
_GENERAL = (
    Field[Any]("observation", "The message of this turn as the base wording has it.", lambda view: ""),
    Field[Any]("turn", "Number of turns that have counted so far.", lambda view: str(view.turn)),
)


@dataclass(frozen=True, slots=True)
class Template:
    """The texts of a file, which replace the texts of one of an environment's own wordings, its base.

    Attributes:
        name: Its name as a wording: "file:", the file's name, and the beginning of a SHA-256 of its content.
        base: The name of the base wording, whose parser, memory and roles it has.
        rules: The template of the rules; None for the rules of the base.
        first: The template of the first observation, also where the base has none; None if the first observation has
            the template `observation`.
        observation: The template of each observation; None for the observations of the base.
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
    """Return whether an option's value is the path of a file, or the name of a file's content ("file:...")."""
    return isinstance(value, str) and value.startswith(TEMPLATE_PREFIX)


def read_template_file(reference: str, option: Option) -> Template:
    """Return the template in a user's file.

    Args:
        reference: "file:" and the path of a text file, the template of the rules, or of a TOML file with "rules",
            "first", "observation" and "base".
        option: The option `wording` of the environment, which lists the wordings that it can be based on.

    Raises:
        UsageError: If the file cannot be read, or does not contain a template for the option.
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
        UsageError: If the file cannot be read, or is no TOML.
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
        # A basic string of TOML is a string of JSON, except that TOML wants the delete character escaped.
        text = json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f"{json.dumps(str(name))} = {text}")
    return "\n".join(lines) + "\n"


def name_with_digest(stem: str, content: Mapping[str, Json]) -> str:
    """Return the name of a file's content in records: "file:", a stem and a digest of the content."""
    text = json.dumps(content, sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{TEMPLATE_PREFIX}{stem}-{digest}"


def template_of_record(content: Json, name: str, option: Option) -> Template:
    """Return the template whose texts a record contains.

    `content` comes from `Template.to_json`, and `name` is the template's name as a wording.

    Raises:
        UsageError: If the content is no template, or its digest is not that of the name.
    """
    if not is_object(content):
        raise UsageError(f"option {TEMPLATE}: give an object with the texts of a template")
    stem = name.removeprefix(TEMPLATE_PREFIX).rpartition("-")[0]
    template = _checked_template(content, stem, option, f"option {TEMPLATE}")
    if template.name != name:
        raise UsageError(f"option {TEMPLATE}: its text is not that of {WORDING}={name[:80]}: one of them was changed")
    return template


def _checked_template(content: Mapping[str, Json], stem: str, option: Option, what: str) -> Template:
    """Return the template with a file's texts; raise a UsageError for unknown texts or an unknown base.

    `option` is the option `wording` of the environment. Errors begin with `what`.
    """
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
    """A template, divided into texts and fields; `names` are the names of its fields, in order."""

    def __init__(self, text: str) -> None:
        self.names: dict[str, None] = {}
        self._lines: list[list[str]] = []  # lines as pieces: texts at even positions, names of fields at odd positions
        for line in text.split("\n"):
            pieces, end = [""], 0
            for match in _FIELD.finditer(line):
                pieces[-1] += line[end : match.start()]
                end = match.end()
                if match["escaped"]:
                    pieces[-1] += match[0][1:-1]  # {{name}} stands for the text {name}
                else:
                    pieces += (match["name"], "")
                    self.names[match["name"]] = None
            pieces[-1] += line[end:]
            self._lines.append(pieces)

    def fill_fields(self, values: Mapping[str, str]) -> str:
        """Return the text with a value in place of each field.

        A line whose only content is empty fields is left out, and with it the blank line below if the line above is
        blank, too.
        """
        lines: list[str] = []
        follows_omitted = has_omitted = False
        for pieces in self._lines:
            line = "".join(values[piece] if number % 2 else piece for number, piece in enumerate(pieces))
            is_blank = not line.strip()
            if is_blank and len(pieces) > 1:  # it has fields
                follows_omitted = has_omitted = True
                continue
            is_above_blank = not lines or not lines[-1].strip()
            if not (is_blank and follows_omitted and is_above_blank):
                lines.append(line)
            follows_omitted = False
        text = "\n".join(lines)
        return text.strip("\n") if has_omitted else text


class TemplateWording(DerivedWording[I, S, A], Generic[I, S, A]):
    """A wording of an environment with some of its texts from a template.

    Args:
        base: The environment's own wording, which parses, remembers and renders, and has all other texts.

    Raises:
        UsageError: If a template names a field that the wording does not have, or no field that describes the problem.
    """

    def __init__(self, template: Template, base: Wording[I, S, A]) -> None:
        super().__init__(base, template.name)
        self.rule_fields, self.fields = template_fields(base).values()
        self._rules = self._checked_template_text("rules", template.rules, self.rule_fields, bool(base.rule_fields))
        self._observation = self._checked_template_text(
            "observation", template.observation, self.fields, bool(base.fields)
        )
        self._first = self._checked_template_text("first", template.first, self.fields, needs_field=False)

    def _checked_template_text(
        self, part: str, text: str | None, fields: Iterable[Field[Any]], needs_field: bool
    ) -> _TemplateText | None:
        """Return a text of the template, divided at its fields; None if there is no text.

        Raises:
            UsageError: For unknown fields, and with `needs_field` if no field but {turn} is in it.
        """
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
        functions = {field.name: field.of for field in self.rule_fields} | {"rules": self._base.rules}
        return self._rules.fill_fields({name: functions[name](instance) for name in self._rules.names})

    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return the filled template of this turn; the base wording's text if there is no template, or it is blank."""
        base_text = self._base.observe(state, last, turn)
        is_first = last is None and self._first is not None
        template = self._first if is_first else self._observation
        if template is None or not (base_text or is_first):  # where the base says nothing, only `first` adds a text
            return base_text
        view = View(state, last, turn)
        functions = {field.name: field.of for field in self.fields}
        text = template.fill_fields(
            {name: base_text if name == "observation" else functions[name](view) for name in template.names}
        )
        return text if text.strip() else base_text


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
    environment.play_with(options)  # it raises an error for a template that does not fit
    return options


def _play_with_template(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with the texts of a template; None without a template."""
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
    names_file = is_file_name(str(options.get(WORDING)).removeprefix(TOOLS_PREFIX))
    return WORDING if names_file and TEMPLATE not in options else ""


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
