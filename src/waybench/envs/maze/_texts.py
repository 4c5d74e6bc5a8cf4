"""The texts of the maze by language."""

from types import MappingProxyType

from waybench.core import TextTables

# Protocol text: the prompt as AliciaBench's description prints it (shared/papers/aliciabench.txt, "What do I ask the
# LLM in each request?"). {map} and {x},{y} stand where the description has maze 501's; {legend} stands for the two
# lines on the matrix, which the other representations replace, and {hint} for the exit's position, an option of ours.
_PROMPT = """\
I need to navigate through a maze, give me directions to help me find the exit.
<Maze map>
{map}
</Maze map>
{legend}
The maze has only one entrance and one exit. The entrance is located at position [{x},{y}] using a coordinate system \
[x,y], where the cell located in the upper left corner is [0,0].{hint}
Help me move towards the exit, considering that:
- I can only move in one direction: horizontal or vertical, but not diagonally
- I can move multiple cells in a single movement
Return a JSON containing information about the movements I should make to reach the exit. The JSON must have the \
following format: {"movements": [{"direction": <direction>, "cells": <cells>}, {"direction": <direction>, "cells": \
<cells>}]}, where
- direction: up, down, right, or left
- cells: number of cells I should move in each movement
Return only the JSON."""

_MATRIX_LEGEND = """\
The maze is a matrix, where cells represented by "1" are paths and cells represented by "0" are walls. I am the "X" \
symbol.
Each element of the matrix is a row of the maze, ordered from top to bottom."""
# End of the protocol text; all other words are ours.

_SPANISH_PROMPT = """\
Necesito atravesar un laberinto; dame indicaciones que me ayuden a encontrar la salida.
<Mapa del laberinto>
{map}
</Mapa del laberinto>
{legend}
El laberinto tiene una sola entrada y una sola salida. La entrada está en la posición [{x},{y}] de un sistema de \
coordenadas [x,y] en el que la celda de la esquina superior izquierda es [0,0].{hint}
Ayúdame a avanzar hacia la salida, teniendo en cuenta que:
- Solo puedo moverme en una dirección: horizontal o vertical, pero no en diagonal
- Puedo avanzar varias celdas en un solo movimiento
Devuelve un JSON con los movimientos que debo hacer para llegar a la salida. El JSON debe tener el siguiente formato: \
{"movements": [{"direction": <dirección>, "cells": <celdas>}, {"direction": <dirección>, "cells": <celdas>}]}, donde
- direction: arriba, abajo, derecha o izquierda
- cells: número de celdas que debo avanzar en cada movimiento
Devuelve solo el JSON."""


_BODY_PROMPT = (
    _PROMPT.replace("{hint}", "{hint} {facing}")
    .replace(
        "I can only move in one direction: horizontal or vertical, but not diagonally",
        "I turn where I stand, and then walk straight on in the direction that I face",
    )
    .replace('"direction": <direction>', '"turn": <turn>')
    .replace(
        "direction: up, down, right, or left", "turn: left, right, around, or none, as I see it before the movement"
    )
)
_SPANISH_BODY_PROMPT = (
    _SPANISH_PROMPT.replace("{hint}", "{hint} {facing}")
    .replace(
        "Solo puedo moverme en una dirección: horizontal o vertical, pero no en diagonal",
        "Giro donde estoy y después camino recto en la dirección a la que miro",
    )
    .replace('"direction": <dirección>', '"turn": <giro>')
    .replace("direction: arriba, abajo, derecha o izquierda", "turn: izquierda, derecha, atrás o ninguno, visto por mí")
)

TEXTS: TextTables = MappingProxyType(
    {
        "en": {
            "prompt": _PROMPT,
            "body.prompt": _BODY_PROMPT,
            "hint": " The exit is located at position {exit}.",
            "later": "{feedback}\n<Maze map>\n{map}\n</Maze map>\nGive me directions from where I am now to the exit. "
            "Return only the JSON, in the same format as before.",
            "facing": "I face {direction}, as the map is written.",
            "turn.none": "none",
            "turn.right": "right",
            "turn.around": "around",
            "turn.left": "left",
            "direction.up": "up",
            "direction.down": "down",
            "direction.left": "left",
            "direction.right": "right",
            "legend.matrix": _MATRIX_LEGEND,
            "legend.ascii": 'The maze is a drawing, where "." marks a path and "#" marks a wall. I am the "X" symbol.\n'
            "Each line is a row of the maze, ordered from top to bottom.",
            "legend.coordinates": "The maze is a list of the positions of all cells that are paths, row by row from "
            "top to bottom; every other cell is a wall. I am at the position after X.",
            "legend.prose": "The text tells of each cell that is a path, to which neighbouring cells one can go from "
            "it; every cell it does not tell of is a wall.",
            "picture.legend": "In the picture below, white cells are paths and dark cells are walls. I am the orange "
            "dot.",
            "coordinates": "Size: {width} x {height}\nPaths: {paths}\nX: {place}",
            "prose.opening": "The maze is {width} cells wide and {height} cells high. I stand at {place}.",
            "prose.cell": "From {place} a path leads {ways}.",
            "prose.way": "{direction} to {place}",
            "prose.last_way": "{ways} and {way}",
            "prose.nowhere": "nowhere",
            "feedback.invalid": "I could not follow your directions, so I have not moved. {reason}",
            "feedback.solved": "I have reached the exit at {place}.",
            "feedback.illegal": "Movement {number} (direction: {direction}, cells: {cells}) is not viable: {obstacle}. "
            "{before}, and I am now at position {place}.",
            "body.feedback.illegal": "Movement {number} (turn: {turn}, cells: {cells}) is not viable: {obstacle}. "
            "{before}, and I am now at position {place}.",
            "feedback.wall": "it goes through a wall",
            "feedback.outside": "it leaves the maze",
            "feedback.first": "I have not moved",
            "feedback.later": "I have made only the movements before it",
            "feedback.short": "I have made all the movements, but I have not reached the exit yet. I am now at "
            "position {place}.",
            "reason.list": '"movements" must be a list of objects, not {value}.',
            "reason.movement": "Movement {number}: {problem}.",
            "reason.object": 'it must be an object with "direction" and "cells"',
            "body.reason.object": 'it must be an object with "turn" and "cells"',
            "body.reason.direction": "the turn must be left, right, around or none, not {value}",
            "reason.twice": "it has the key {key} twice",
            "reason.direction": "the direction must be up, down, right or left, not {value}",
            "reason.cells": "cells must be a whole number of at least 1, not {value}",
            "tool.doc": "Make movements through the maze, in their order.",
            "tool.movements": "The movements.",
            "tool.direction": "Direction of the movement.",
            "body.tool.direction": "Turn before the movement, as seen by the player.",
            "tool.cells": "Number of cells to move.",
        },
        "es": {
            "prompt": _SPANISH_PROMPT,
            "body.prompt": _SPANISH_BODY_PROMPT,
            "hint": " La salida está en la posición {exit}.",
            "later": "{feedback}\n<Mapa del laberinto>\n{map}\n</Mapa del laberinto>\nDame indicaciones para ir desde "
            "donde estoy ahora hasta la salida. Devuelve solo el JSON, en el mismo formato que antes.",
            "facing": "Miro hacia {direction} según está escrito el mapa.",
            "turn.none": "ninguno",
            "turn.right": "derecha",
            "turn.around": "atrás",
            "turn.left": "izquierda",
            "direction.up": "arriba",
            "direction.down": "abajo",
            "direction.left": "izquierda",
            "direction.right": "derecha",
            "legend.matrix": 'El laberinto es una matriz en la que las celdas con un "1" son caminos y las celdas con '
            'un "0" son paredes. Yo soy el símbolo "X".\n'
            "Cada elemento de la matriz es una fila del laberinto, ordenadas de arriba abajo.",
            "legend.ascii": 'El laberinto es un dibujo en el que "." es un camino y "#" es una pared. Yo soy el '
            'símbolo "X".\nCada línea es una fila del laberinto, ordenadas de arriba abajo.',
            "legend.coordinates": "El laberinto es una lista de las posiciones de todas las celdas que son caminos, "
            "fila por fila y de arriba abajo; todas las demás celdas son paredes. Yo estoy en la posición que sigue a "
            "X.",
            "legend.prose": "El texto dice, de cada celda que es un camino, a qué celdas vecinas se puede ir desde "
            "ella; toda celda de la que no dice nada es una pared.",
            "picture.legend": "En la imagen de abajo, las celdas blancas son caminos y las celdas oscuras son paredes. "
            "Yo soy el punto naranja.",
            "coordinates": "Tamaño: {width} x {height}\nCaminos: {paths}\nX: {place}",
            "prose.opening": "El laberinto tiene {width} celdas de ancho y {height} celdas de alto. Estoy en {place}.",
            "prose.cell": "Desde {place} un camino lleva {ways}.",
            "prose.way": "hacia {direction} a {place}",
            "prose.last_way": "{ways} y {way}",
            "prose.nowhere": "a ninguna parte",
            "feedback.invalid": "No he podido seguir tus indicaciones, así que no me he movido. {reason}",
            "feedback.solved": "He llegado a la salida, en {place}.",
            "feedback.illegal": "El movimiento {number} (direction: {direction}, cells: {cells}) no es posible: "
            "{obstacle}. {before} y ahora estoy en la posición {place}.",
            "body.feedback.illegal": "El movimiento {number} (turn: {turn}, cells: {cells}) no es posible: {obstacle}. "
            "{before} y ahora estoy en la posición {place}.",
            "feedback.wall": "atraviesa una pared",
            "feedback.outside": "se sale del laberinto",
            "feedback.first": "No me he movido",
            "feedback.later": "Solo he hecho los movimientos anteriores",
            "feedback.short": "He hecho todos los movimientos, pero todavía no he llegado a la salida. Ahora estoy en "
            "la posición {place}.",
            "reason.list": '"movements" debe ser una lista de objetos, no {value}.',
            "reason.movement": "Movimiento {number}: {problem}.",
            "reason.object": 'debe ser un objeto con "direction" y "cells"',
            "body.reason.object": 'debe ser un objeto con "turn" y "cells"',
            "body.reason.direction": "el giro debe ser izquierda, derecha, atrás o ninguno, no {value}",
            "reason.twice": "tiene la clave {key} dos veces",
            "reason.direction": "la dirección debe ser arriba, abajo, derecha o izquierda, no {value}",
            "reason.cells": "cells debe ser un número entero de al menos 1, no {value}",
            "tool.doc": "Haz movimientos por el laberinto, en su orden.",
            "tool.movements": "Los movimientos.",
            "tool.direction": "Dirección del movimiento.",
            "body.tool.direction": "Giro antes del movimiento, visto por el jugador.",
            "tool.cells": "Número de celdas que se avanzan.",
        },
    }
)
