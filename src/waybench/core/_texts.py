"""Texts by language: the sentences of wordings, the reasons of refusals, and the descriptions of tools.

A text has a name, the same in all languages, and fields in braces. The tables here are those of `waybench.core`, which
all environments have; an environment declares its own beside them (`Playing.texts`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from waybench.core._errors import UsageError

ENGLISH_NAME, SPANISH_NAME = "en", "es"
_WORD_KINDS = ("direction", "action", "choice")  # beginnings of the names of texts that replies consist of
_FIELD = re.compile(r"\{([a-z][a-z_]*)\}")

TextTables = Mapping[str, Mapping[str, str]]
"""Language -> name -> text."""

CORE_TEXTS: TextTables = MappingProxyType(
    {
        ENGLISH_NAME: {
            "stop.truncated": "The reply was cut off at the output limit before it was complete, so nothing of it was "
            "carried out.",
            "stop.overflow": "The conversation was longer than the player can read, so nothing was carried out.",
            "stop.refused": "The reply was a refusal, so nothing of it was carried out.",
            "answer.right": "Right.",
            "answer.wrong": "Wrong.",
            "picture.place": "(see the picture)",
            "context.task": "# Task {number}",
            "context.opening": "Below are {count} tasks, numbered from 1. Do task {number} only, and reply as it says; "
            "the other tasks are not for you.",
            "context.closing": "Now do task {number} only.",
            "prose.opening": "The text below has a task in it, between the lines {begin} and {end}. Do the task, and "
            "reply as it says; the other sentences have nothing to do with it.",
            "prose.begin": "=== TASK ===",
            "prose.end": "=== END OF THE TASK ===",
            "prose.closing": "Here the text ends. Do the task; whatever follows belongs to it.",
            "prose.sentences": "In {year} {person} sold {number} {ware} at the market of {town}.\n"
            "The museum of {town} keeps {number} letters that {person} wrote about {ware}.\n"
            "{person} of {town} counted {number} {ware} and wrote the sum into a book in {year}.\n"
            "Nobody in {town} remembered why {person} had asked for {number} {ware}.\n"
            "A song of {year} tells of {person}, who gave {number} {ware} to the school of {town}.\n"
            "The price of {ware} in {town} fell by {number} pence in the summer of {year}, as {person} had said.\n"
            "When {person} was young, the people of {town} made {number} {ware} in a year.\n"
            "According to a newspaper of {year}, {person} paid {number} crowns for {ware} from {town}.",
            "prose.wares": "barrels of cider\nwool blankets\nbrass buttons\nclay jugs\ncandles\nwicker baskets\nsilver "
            "spoons\nboxes of tea\nsacks of barley\nlinen shirts",
            "reply.long": "The reply has {count} characters; at most {most} are read.",
            "json.missing": "The reply has no JSON object with the key {key}.",
            "json.malformed": "The last JSON object with {key} is malformed.",
            "json.twice": "The JSON object has the key {key} twice.",
            "json.list": "The last list of objects in the reply is malformed.",
            "json.objects": "The reply has more than {most} JSON objects.",
            "json.bad_objects": "The reply has more than {most} malformed JSON objects.",
            "json.depth": "The reply has more than {most} brackets within each other.",
            "json.tokens": "The reply has more than {most} brackets, texts and commas that are no strict JSON.",
            "value.digits": "a number of more than {most} digits",
            "value.object": "an object",
            "value.list": "a list",
            "call.rules": "Act by calling a tool, with one call in each turn: what you are asked to write goes into "
            "the arguments of the call. Text beside the call is not read.",
            "call.none": "The reply has no call of a tool.",
            "call.several": "The reply has {count} calls of tools; make one call in each turn.",
            "call.unknown": "There is no tool {name}; the tools are: {names}.",
            "call.malformed": "The arguments of the call of {name} are no valid JSON object.",
            "call.unfit": "Wrong arguments in the call of {name}: {problem}.",
            "unfit.all": "the arguments",
            "unfit.depth": "{what} has more than {most} brackets within each other",
            "unfit.list": "{what} must be a list, not {value}",
            "unfit.length": "{what} has {count} elements; at most {most} are read",
            "unfit.integer": "{what} must be a whole number, not {value}",
            "unfit.least": "{what} must be at least {least}, not {value}",
            "unfit.text": "{what} must be a text, not {value}",
            "unfit.choice": "{what} must be one of the listed values, not {value}",
            "unfit.object": "{what} must be an object, not {value}",
            "unfit.twice": "{what} has {name} twice",
            "unfit.unknown": "{what} has the unknown name {name}",
            "unfit.missing": "{name} is missing in {what}",
        },
        SPANISH_NAME: {
            "stop.truncated": "La respuesta se cortó en el límite de salida antes de estar completa, así que no se ha "
            "ejecutado nada de ella.",
            "stop.overflow": "La conversación era más larga de lo que el jugador puede leer, así que no se ha "
            "ejecutado nada.",
            "stop.refused": "La respuesta fue una negativa, así que no se ha ejecutado nada de ella.",
            "answer.right": "Correcto.",
            "answer.wrong": "Incorrecto.",
            "picture.place": "(véase la imagen)",
            "context.task": "# Tarea {number}",
            "context.opening": "A continuación hay {count} tareas, numeradas desde 1. Haz solo la tarea {number} y "
            "responde como ella indica; las demás tareas no son para ti.",
            "context.closing": "Haz ahora solo la tarea {number}.",
            "prose.opening": "El texto de abajo contiene una tarea, entre las líneas {begin} y {end}. Haz la tarea y "
            "responde como ella indica; las demás frases no tienen nada que ver con ella.",
            "prose.begin": "=== TAREA ===",
            "prose.end": "=== FIN DE LA TAREA ===",
            "prose.closing": "Aquí termina el texto. Haz la tarea; lo que siga forma parte de ella.",
            "prose.sentences": "En {year} {person} vendió {number} {ware} en el mercado de {town}.\n"
            "El museo de {town} guarda {number} cartas que {person} escribió sobre {ware}.\n"
            "{person}, de {town}, contó {number} {ware} y anotó la suma en un libro en {year}.\n"
            "Nadie en {town} recordaba por qué {person} había pedido {number} {ware}.\n"
            "Una canción de {year} habla de {person}, que regaló {number} {ware} a la escuela de {town}.\n"
            "El precio de {ware} en {town} bajó {number} céntimos en el verano de {year}, como había dicho {person}.\n"
            "Cuando {person} era joven, la gente de {town} hacía {number} {ware} al año.\n"
            "Según un periódico de {year}, {person} pagó {number} coronas por {ware} de {town}.",
            "prose.wares": "barriles de sidra\nmantas de lana\nbotones de latón\njarras de barro\nvelas\ncestas de "
            "mimbre\ncucharas de plata\ncajas de té\nsacos de cebada\ncamisas de lino",
            "reply.long": "La respuesta tiene {count} caracteres; se leen {most} como máximo.",
            "json.missing": "La respuesta no tiene ningún objeto JSON con la clave {key}.",
            "json.malformed": "El último objeto JSON con {key} está mal formado.",
            "json.twice": "El objeto JSON tiene la clave {key} dos veces.",
            "json.list": "La última lista de objetos de la respuesta está mal formada.",
            "json.objects": "La respuesta tiene más de {most} objetos JSON.",
            "json.bad_objects": "La respuesta tiene más de {most} objetos JSON mal formados.",
            "json.depth": "La respuesta tiene más de {most} paréntesis unos dentro de otros.",
            "json.tokens": "La respuesta tiene más de {most} paréntesis, textos y comas que no son JSON estricto.",
            "value.digits": "un número de más de {most} cifras",
            "value.object": "un objeto",
            "value.list": "una lista",
            "call.rules": "Actúa llamando a una herramienta, con una llamada en cada turno: lo que se te pide que "
            "escribas va en los argumentos de la llamada. El texto junto a la llamada no se lee.",
            "call.none": "La respuesta no tiene ninguna llamada a una herramienta.",
            "call.several": "La respuesta tiene {count} llamadas a herramientas; haz una llamada en cada turno.",
            "call.unknown": "No hay ninguna herramienta {name}; las herramientas son: {names}.",
            "call.malformed": "Los argumentos de la llamada a {name} no son un objeto JSON válido.",
            "call.unfit": "Argumentos incorrectos en la llamada a {name}: {problem}.",
            "unfit.all": "el conjunto de argumentos",
            "unfit.depth": "{what} tiene más de {most} paréntesis unos dentro de otros",
            "unfit.list": "{what} debe ser una lista, no {value}",
            "unfit.length": "{what} tiene {count} elementos; se leen {most} como máximo",
            "unfit.integer": "{what} debe ser un número entero, no {value}",
            "unfit.least": "{what} debe ser al menos {least}, no {value}",
            "unfit.text": "{what} debe ser un texto, no {value}",
            "unfit.choice": "{what} debe ser uno de los valores indicados, no {value}",
            "unfit.object": "{what} debe ser un objeto, no {value}",
            "unfit.twice": "{what} tiene {name} dos veces",
            "unfit.unknown": "{what} tiene el nombre desconocido {name}",
            "unfit.missing": "falta {name} en {what}",
        },
    }
)
CHOICE_TEXTS: TextTables = MappingProxyType(
    {
        ENGLISH_NAME: {
            "impossible": "That is not possible.",
            "actions.list": "In each turn, answer with one of these actions: {actions}.",
            "actions.none": "The reply names no action of the list.",
            "actions.several": "The reply names more than one action: name exactly one.",
            "tool.description": "Take one of the actions.",
            "tool.argument": "The action.",
        },
        SPANISH_NAME: {
            "impossible": "Eso no es posible.",
            "actions.list": "En cada turno, responde con una de estas acciones: {actions}.",
            "actions.none": "La respuesta no nombra ninguna acción de la lista.",
            "actions.several": "La respuesta nombra más de una acción: nombra exactamente una.",
            "tool.description": "Realiza una de las acciones.",
            "tool.argument": "La acción.",
        },
    }
)
"""The texts of `ChoiceWording`, in addition to those of the environment."""
QUESTION_TEXTS: TextTables = MappingProxyType(
    {
        ENGLISH_NAME: {
            "form.number": "The last line of your reply has to be a whole number in digits, and nothing else.",
            "form.open": "The last line of your reply has to be your answer, and nothing else.",
            "form.choices": "The last line of your reply has to be one of these answers, and nothing else: {choices}.",
            "form.label": "answer",
            "tool.description": "Answer the question.",
            "tool.argument": "The answer.",
        },
        SPANISH_NAME: {
            "form.number": "La última línea de tu respuesta tiene que ser un número entero en cifras, y nada más.",
            "form.open": "La última línea de tu respuesta tiene que ser lo que contestas, y nada más.",
            "form.choices": "La última línea de tu respuesta tiene que ser una de estas opciones, y nada más: "
            "{choices}.",
            "form.label": "respuesta",
            "tool.description": "Responde a la pregunta.",
            "tool.argument": "La respuesta.",
        },
    }
)
"""The texts of `Question`, in addition to those of the environment."""


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of one language.

    Attributes:
        language: Its name, such as "en".
        table: Name -> text.
    """

    language: str
    table: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.table[name]

    def fill(self, name: str, /, **fields: object) -> str:
        """Return a text with values in place of its fields; unknown braces stay."""
        return fill_fields(self.table[name], **fields)


def fill_fields(text: str, /, **fields: object) -> str:
    """Return a text with values in place of fields in braces; unknown braces stay."""
    return _FIELD.sub(lambda match: str(fields[match[1]]) if match[1] in fields else match[0], text)


def texts_in(language: str, tables: TextTables) -> Texts:
    """Return the texts of core and of an environment in a language."""
    return Texts(language, {**CORE_TEXTS[language], **tables[language]})


def kit_tables(kit: TextTables, english: Mapping[str, str], tables: TextTables) -> TextTables:
    """Return the texts of the kit and of an environment by language, English first (`Playing.texts`).

    `english` has English texts of the environment, and `tables` its texts in any language, which go before `english`.
    Both go before texts of the kit with the same name.
    """
    all_texts = {ENGLISH_NAME: {**kit.get(ENGLISH_NAME, {}), **english, **tables.get(ENGLISH_NAME, {})}}
    for language, texts in tables.items():
        if language != ENGLISH_NAME:
            all_texts[language] = {**kit.get(language, {}), **texts}
    return all_texts


ENGLISH = Texts(ENGLISH_NAME, CORE_TEXTS[ENGLISH_NAME])
"""The texts of core in the default language."""


def check_text_table(table: Mapping[str, str], english: Mapping[str, str], what: str) -> None:
    """Raise a UsageError for texts that do not have the names and fields of the English texts.

    Empty texts are refused, too, and so are two directions, actions or choices with the same text, since replies could
    not tell them apart. Errors begin with `what`.
    """
    if missing := [name for name in english if name not in table]:
        raise UsageError(f"{what}: {len(missing)} texts are missing, such as {missing[0]}; give them, or a base")
    for name, text in table.items():
        if name not in english:
            raise UsageError(f"{what}: there is no text of the name {name[:60]!r}")
        if not text.strip():
            raise UsageError(f"{what}: {name} is empty")
        english_fields = set(_FIELD.findall(english[name]))
        if set(_FIELD.findall(text)) != english_fields:
            names = ", ".join(f"{{{field}}}" for field in sorted(english_fields)) or "none"
            raise UsageError(f"{what}: {name}: its fields are not those of the English text: {names}")
    word_by_text: dict[tuple[str, str], str] = {}
    for name, text in table.items():
        kind, _, word = name.partition(".")
        if kind in _WORD_KINDS and word_by_text.setdefault((kind, text.strip().casefold()), word) != word:
            raise UsageError(f"{what}: {name}: two {kind}s have the same word")
