"""`language=...`: the language of an episode's texts, for environments that have texts by language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from waybench.core._environment import AnyEnvironment, AnyPlay, PlayExtension, Resolve
from waybench.core._errors import UsageError
from waybench.core._game import Json
from waybench.core._json import is_object
from waybench.core._play import TEMPLATE_PREFIX, Option
from waybench.core._template import is_file_name, name_with_digest, read_toml_file, texts_as_toml
from waybench.core._texts import ENGLISH_NAME, Texts, check_text_table, texts_in

LANGUAGE = "language"  # an option of play of every environment, in addition to its own
LANGUAGE_TEXTS = "language_texts"  # the option of play that has the content of a file, in records
LANGUAGE_OPTION = Option(
    name=LANGUAGE,
    default=ENGLISH_NAME,
    doc="The language of rules, messages, tools and replies, beside the wording: a language that the environment has, "
    'such as "es", or file:PATH, a TOML file of yours with all texts (see docs/howto/languages.md).',
)
_BASE = "base"  # the entry of a file that names the language whose texts stand where the file has none
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


@dataclass(frozen=True, slots=True)
class UserLanguage:
    """A language from a file of the user's.

    Attributes:
        name: "file:", the language's code, and the beginning of a SHA-256 of the content.
        content: The entries of the file: "language", "base" if it has one, and texts by name.
        texts: All texts: those of the file, and those of the base where the file has none.
    """

    name: str
    content: Mapping[str, Json]
    texts: Texts


def languages_of(environment: AnyEnvironment) -> tuple[str, ...]:
    """Return the languages in which an environment has its texts, the default first."""
    return (ENGLISH_NAME, *(language for language in environment.playing.texts if language != ENGLISH_NAME))


def read_language_file(reference: str, environment: AnyEnvironment) -> UserLanguage:
    """Return the language that a user's TOML file describes.

    Args:
        reference: "file:" and the path of a TOML file with "language", texts by name, and "base", the language whose
            texts stand where the file has none; a file without a base has to have all texts.
        environment: The environment whose texts the file has, in addition to those that all environments share.

    Raises:
        UsageError: If the file cannot be read, or its texts are not those of the environment.
    """
    what, _, content = read_toml_file(reference, LANGUAGE, "a language")
    return _user_language(_texts_by_dotted_name(content, what), environment, what)


def _texts_by_dotted_name(content: Mapping[str, Json], what: str) -> dict[str, str]:
    """Return the texts of nested tables by their path, such as "action.left", in alphabetical order.

    Errors begin with `what`.
    """
    texts: dict[str, str] = {}
    tables = [("", content)]
    while tables:
        path, table = tables.pop()
        for name, value in table.items():
            if is_object(value):
                tables.append((f"{path}{name}.", value))
            elif isinstance(value, str):
                texts[f"{path}{name}"] = value
            else:
                raise UsageError(f"{what}: {path[:60]}{name[:60]} must be a text")
    return dict(sorted(texts.items()))


def _user_language(content: Mapping[str, str], environment: AnyEnvironment, what: str) -> UserLanguage:
    """Return the language that a user's file describes.

    Args:
        content: The entries of the file: "language", perhaps "base", and texts by dotted name.
        environment: The environment, which says what texts there must be, and with what placeholders.
        what: The file, as the beginning of errors.

    Raises:
        UsageError: If the code or the base is none, or if texts are missing, unknown or have other placeholders.
    """
    tables, texts = environment.playing.texts, dict(content)
    language, base = texts.pop(LANGUAGE, ""), texts.pop(_BASE, None)
    if _LANGUAGE_CODE.fullmatch(language) is None:
        raise UsageError(f'{what}: give {LANGUAGE} = "...", the code of the language, such as "fr" or "pt-BR"')
    if base is not None and base not in languages_of(environment):
        raise UsageError(f"{what}: unknown base {base[:40]!r}: choose from {', '.join(languages_of(environment))}")
    all_texts = {**(texts_in(base, tables).table if base is not None else {}), **texts}
    check_text_table(all_texts, texts_in(ENGLISH_NAME, tables).table, what)
    name = name_with_digest(language, content)
    return UserLanguage(name, content, Texts(name, all_texts))


def _language_of_record(stored: Json, name: str, environment: AnyEnvironment) -> UserLanguage:
    """Return the language whose texts are stored in a record's options under `LANGUAGE_TEXTS`.

    Raises:
        UsageError: If the digest in `name` is not that of the texts, so that they were changed.
    """
    what = f"option {LANGUAGE_TEXTS}"
    if not is_object(stored):
        raise UsageError(f"{what}: give an object with the texts of a language")
    user_language = _user_language(_texts_by_dotted_name(stored, what), environment, what)
    if user_language.name != name:
        raise UsageError(f"{what}: its texts are not those of {LANGUAGE}={name[:80]}: one of them was changed")
    return user_language


def _resolve_language_option(
    environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]
) -> dict[str, Json]:
    """Resolve the options of languages and those of the environment; see `PlayExtension.resolve`."""
    stored = values.pop(LANGUAGE_TEXTS, None)
    language = LANGUAGE_OPTION.check(values.pop(LANGUAGE, ENGLISH_NAME))
    options = resolve_others(values)
    if not environment.playing.texts and language != ENGLISH_NAME:
        raise UsageError(f"{LANGUAGE}={language[:80]}: {environment.id} has its texts in one language only: en")
    if is_file_name(language):
        user_language = (
            read_language_file(language, environment)
            if stored is None
            else _language_of_record(stored, language, environment)
        )
        return options | {LANGUAGE: user_language.name, LANGUAGE_TEXTS: dict(user_language.content)}
    if stored is not None:
        raise UsageError(f"option {LANGUAGE_TEXTS}: for {LANGUAGE}={TEMPLATE_PREFIX}... only; leave it out")
    if language not in languages_of(environment):
        names = ", ".join(languages_of(environment))
        raise UsageError(
            f"{LANGUAGE}={language[:80]}: the languages of {environment.id} are {names}; for another one give "
            f"{LANGUAGE}={TEMPLATE_PREFIX}PATH"
        )
    return options if language == ENGLISH_NAME else options | {LANGUAGE: language}


def _play_in_language(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with a wording in the language of the options; None for English."""
    if LANGUAGE not in options:
        return None
    language = str(options[LANGUAGE])
    if LANGUAGE_TEXTS in options:
        texts = _language_of_record(options[LANGUAGE_TEXTS], language, environment).texts
    else:
        texts = texts_in(language, environment.playing.texts)
    other_options = {name: value for name, value in options.items() if name not in (LANGUAGE, LANGUAGE_TEXTS)}
    play = environment.play_with(other_options)
    return replace(play, wording=play.wording.in_language(texts), takes_probes=False)  # probes are in English


def _option_naming_file(options: Mapping[str, Json]) -> str:
    """Return the option whose value names a file of this machine; "" if none does."""
    return LANGUAGE if is_file_name(options.get(LANGUAGE)) and LANGUAGE_TEXTS not in options else ""


def _language_without_path(environment: AnyEnvironment, parameters: Mapping[str, Json]) -> dict[str, Json]:
    """Return the option `language` with a digest of its file in place of the path; {} without a file."""
    language = parameters.get(LANGUAGE)
    return {LANGUAGE: read_language_file(str(language), environment).name} if is_file_name(language) else {}


def language_toml(environment: AnyEnvironment, language: str) -> str:
    """Return all texts of an environment in a language as a TOML file, for `language=file:PATH`.

    Raises:
        UsageError: If the environment does not have the language, or no texts by language.
    """
    if language not in environment.playing.texts:
        names = ", ".join(environment.playing.texts) or "none"
        raise UsageError(f"{environment.id} has no texts in {language[:80]!r}; it has tables of texts in: {names}")
    return texts_as_toml({LANGUAGE: language, **texts_in(language, environment.playing.texts).table})


LANGUAGE_EXTENSION = PlayExtension(
    name=LANGUAGE,
    options=(LANGUAGE_OPTION,),
    resolve=_resolve_language_option,
    wrap=_play_in_language,
    content=(LANGUAGE_TEXTS,),
    names_file=_option_naming_file,
    for_log=_language_without_path,
)
