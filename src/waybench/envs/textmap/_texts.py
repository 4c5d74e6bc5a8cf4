"""The texts of route and destination questions by language.

Names of places, actions and the walkthrough itself are those of the game in every language. The words for directions
are read as the game's actions of this meaning.
"""

from types import MappingProxyType

from waybench.core import TextTables, texts_in

LEAD = "[{'location_before':"  # the beginning of an answer to the released program's prompt for Llama and RWKV
_KEYS = "keys 'location_before', 'action' and 'location_after'"
_PRINTED = "keys 'prev_node', 'node' and 'action'.\nStart your response with '['."
# Protocol text: the prompts of the released program, for GPT and Claude (chat) and for Llama and RWKV (completion), and
# the paper's Examples 7 and 8, with the lists as Examples 2 and 4 write them (examples).
_RELEASED = (
    "!!! Here is a walkthrough of a text game:\n{walkthrough}\n\n"
    "The allowed actions are: {actions}.\nThe list of locations are: {places}.\n"
)
_PUBLISHED = {
    "chat.opening": _RELEASED,
    "chat.route": '!!! Can you find a path from "{source}" to "{target}", and format the output as a python list of '
    f"python dictionary with {_KEYS}? Start your response with '['.",
    "chat.destination": '!!! Starting from place "{source}", perform a list of action {actions}, where are you now? '
    f"Describe the trajectory in a python list of python dictionary with {_KEYS}. Start your response with '['.",
    "completion.opening": _RELEASED,
    "completion.route": '!!! Can you find a path from "{source}" to "{target}"?\nFormat the output as a python list of '
    f"python dictionary with {_KEYS}. \n\nAnswer: {LEAD}",
    "completion.destination": '!!! Starting from location "{source}", perform a list of action {actions}, where are '
    f"you now?\nDescribe the trajectory in a python list of python dictionary with {_KEYS}. \n\nAnswer: {LEAD}",
    "examples.opening": "{walkthrough}\n\nThe allowed actions are: {actions}\nThe list of places are: {places}\n",
    "examples.route": "How can you go from {source} to {target}?\n"
    f"Describe the trajectory in a Python list of Python dictionaries with {_PRINTED}",
    "examples.destination": "Starting from {source}, perform a list of actions [{actions}], where are you now?\n"
    f"Describe the trajectory in a Python list of Python dictionaries with {_PRINTED}",
}
# End of the protocol text; all other words are ours.
_ANSWER = (
    'Answer with a JSON array, one object for each move in order: [{"location_before": "...", "action": "...", '
    '"location_after": "..."}, ...]. Write the names of places and actions exactly as in the lists.'
)

_CLAVES = "claves 'location_before', 'action' y 'location_after'"
_CLAVES_IMPRESAS = "claves 'prev_node', 'node' y 'action'.\nEmpieza tu respuesta con '['."
_PROGRAMA = (
    "!!! Este es el recorrido de un juego de texto:\n{walkthrough}\n\n"
    "Las acciones permitidas son: {actions}.\nLa lista de lugares es: {places}.\n"
)
_RESPUESTA = (
    "Responde con una lista JSON, con un objeto por cada movimiento y en su orden: "
    '[{"location_before": "...", "action": "...", "location_after": "..."}, ...]. "location_before" es el lugar de '
    'antes del movimiento y "location_after" el de después. Escribe los nombres de lugares y acciones exactamente como '
    "en las listas."
)

TEXTS: TextTables = MappingProxyType(
    {
        "en": {
            **_PUBLISHED,
            "plain.opening": "This is the walkthrough of a text game, from its start up to some step:\n{walkthrough}\n"
            "The moves that the following is about: {actions}\nThe places: {places}\n"
            "A way back counts as a move, too, if it follows from the way there.\n\n",
            "plain.route": f"Which moves lead from {{source}} to {{target}}? {_ANSWER}",
            "plain.destination": "Where do you end if you start from {source} and make these moves one after the "
            f'other: {{actions}}? {_ANSWER} "location_after" of the last object is your answer.',
            "frame.compass": 'Moves have a direction and a distance, such as "north 12 meters". Word the actions of '
            "your answer in this way, too.",
            "frame.body": 'Moves are worded as a walker makes them, such as "turn left, 12 meters ahead": the walker '
            "faces north at the start of the walkthrough, and after a turn the way that it has turned to. Other "
            "actions, up and down among them, turn nobody. Word the actions of your answer in this way, too, as a "
            "walker who faces north at the first place of the answer.",
            "picture.legend": "(In place of the walkthrough, the picture below has its map. Each dot is a place, with "
            "its name. Each arrow is a move that the walkthrough makes, with its action near the place where the move "
            "begins.)",
            "direction.north": "north",
            "direction.northeast": "northeast",
            "direction.east": "east",
            "direction.southeast": "southeast",
            "direction.south": "south",
            "direction.southwest": "southwest",
            "direction.west": "west",
            "direction.northwest": "northwest",
            "direction.up": "up",
            "direction.down": "down",
            "reason.no_brackets": "The reply has no list in square brackets.",
            "reason.long": "The reply has more than {most} characters between two brackets.",
            "reason.no_python": "What stands from the first [ to the first ] is no Python list.",
            "reason.no_objects": "The reply has no list of objects with the key {key}.",
            "reason.no_list": "The answer must be a list.",
            "reason.empty": "The answer is an empty list.",
            "reason.moves": "The answer has {count} moves; at most {most} are read.",
            "reason.object": "Element {number} of the list is no object.",
            "reason.key": "Element {number} of the list has no {key}.",
            "reason.text": "In element {number} of the list, {key} must be a text.",
            "reason.long_text": "In element {number} of the list, {key} has more than {most} characters.",
            "reason.compass_frame": "The action of element {number} is a turn: give a direction and a distance.",
            "reason.body_frame": "The action of element {number} is a direction of the compass: give a turn and a "
            "distance.",
            "tool.doc": "Answer the question.",
            "tool.moves": "The moves, in order.",
            "tool.before": "The place before the move.",
            "tool.action": "The action.",
            "tool.after": "The place after the move.",
        },
        "es": {
            "chat.opening": _PROGRAMA,
            "chat.route": '!!! ¿Puedes encontrar un camino de "{source}" a "{target}" y dar la respuesta como una '
            f"lista de Python de diccionarios de Python con las {_CLAVES}? Empieza tu respuesta con '['.",
            "chat.destination": '!!! Si partes del lugar "{source}" y haces esta lista de acciones {actions}, ¿dónde '
            "estás ahora? Describe la trayectoria en una lista de Python de diccionarios de Python con las "
            f"{_CLAVES}. Empieza tu respuesta con '['.",
            "completion.opening": _PROGRAMA,
            "completion.route": '!!! ¿Puedes encontrar un camino de "{source}" a "{target}"?\nDa la respuesta como una '
            f"lista de Python de diccionarios de Python con las {_CLAVES}. \n\nRespuesta: {LEAD}",
            "completion.destination": '!!! Si partes del lugar "{source}" y haces esta lista de acciones {actions}, '
            "¿dónde estás ahora?\nDescribe la trayectoria en una lista de Python de diccionarios de Python con las "
            f"{_CLAVES}. \n\nRespuesta: {LEAD}",
            "examples.opening": "{walkthrough}\n\nLas acciones permitidas son: {actions}\n"
            "La lista de lugares es: {places}\n",
            "examples.route": "¿Cómo puedes ir de {source} a {target}?\nDescribe la trayectoria en una lista de Python "
            f"de diccionarios de Python con las {_CLAVES_IMPRESAS}",
            "examples.destination": "Si partes de {source} y haces la lista de acciones [{actions}], ¿dónde estás "
            "ahora?\nDescribe la trayectoria en una lista de Python de diccionarios de Python con las "
            f"{_CLAVES_IMPRESAS}",
            "plain.opening": "Este es el recorrido de un juego de texto, desde el comienzo hasta cierto paso:\n"
            "{walkthrough}\nLos movimientos de los que trata lo que sigue: {actions}\nLos lugares: {places}\n"
            "El camino de vuelta también cuenta como movimiento si se deduce del de ida.\n\n",
            "plain.route": f"¿Qué movimientos llevan de {{source}} a {{target}}? {_RESPUESTA}",
            "plain.destination": "¿Dónde terminas si partes de {source} y haces estos movimientos uno tras otro: "
            f'{{actions}}? {_RESPUESTA} El "location_after" del último objeto es tu respuesta.',
            "frame.compass": 'Los movimientos tienen una dirección y una distancia en metros, como "north 12 meters". '
            "Escribe así también las acciones de tu respuesta.",
            "frame.body": 'Los movimientos se dicen como los hace quien camina, por ejemplo "turn left, 12 meters '
            'ahead" (gira a la izquierda, 12 metros adelante): quien camina mira al norte al comienzo del recorrido '
            "y, después de un giro, hacia donde ha girado. Otras acciones, también up y down, no cambian hacia dónde "
            "mira. Escribe así también las acciones de tu respuesta, como quien mira al norte en el primer lugar de la "
            "respuesta.",
            "picture.legend": "(En lugar del recorrido, la imagen de abajo tiene su mapa. Cada punto es un lugar, con "
            "su nombre. Cada flecha es un movimiento que hace el recorrido, con su acción cerca del lugar donde "
            "empieza el movimiento.)",
            "direction.north": "norte",
            "direction.northeast": "noreste",
            "direction.east": "este",
            "direction.southeast": "sureste",
            "direction.south": "sur",
            "direction.southwest": "suroeste",
            "direction.west": "oeste",
            "direction.northwest": "noroeste",
            "direction.up": "arriba",
            "direction.down": "abajo",
            "reason.no_brackets": "La respuesta no tiene ninguna lista entre corchetes.",
            "reason.long": "La respuesta tiene más de {most} caracteres entre dos corchetes.",
            "reason.no_python": "Lo que hay desde el primer [ hasta el primer ] no es una lista de Python.",
            "reason.no_objects": "La respuesta no tiene ninguna lista de objetos con la clave {key}.",
            "reason.no_list": "La respuesta debe ser una lista.",
            "reason.empty": "La respuesta es una lista vacía.",
            "reason.moves": "La respuesta tiene {count} movimientos; se leen {most} como máximo.",
            "reason.object": "El elemento {number} de la lista no es un objeto.",
            "reason.key": "El elemento {number} de la lista no tiene {key}.",
            "reason.text": "En el elemento {number} de la lista, {key} debe ser un texto.",
            "reason.long_text": "En el elemento {number} de la lista, {key} tiene más de {most} caracteres.",
            "reason.compass_frame": "La acción del elemento {number} es un giro: da una dirección y una distancia.",
            "reason.body_frame": "La acción del elemento {number} es una dirección de la brújula: da un giro y una "
            "distancia.",
            "tool.doc": "Responde a la pregunta.",
            "tool.moves": "Los movimientos, en su orden.",
            "tool.before": "El lugar antes del movimiento.",
            "tool.action": "La acción.",
            "tool.after": "El lugar después del movimiento.",
        },
    }
)
ENGLISH = texts_in("en", TEXTS)
