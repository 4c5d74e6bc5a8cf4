"""The four environments of text maps with their common presentation.

Drawings import all kinds of questions, so a kind of question cannot import them.
"""

from dataclasses import replace

from waybench.envs.textmap import _presentation as people
from waybench.envs.textmap import extract, minigame, questions
from waybench.envs.textmap._presentation import IMAGES, PRESENTATION

ROUTE, DESTINATION = (
    replace(
        environment,
        presentation=PRESENTATION,
        typing=replace(environment.typing, actions=people.route_actions),
        playing=replace(environment.playing, images=IMAGES),
    )
    for environment in (questions.ROUTE, questions.DESTINATION)
)
MINIGAME = replace(
    minigame.MINIGAME,
    presentation=PRESENTATION,
    typing=replace(
        minigame.MINIGAME.typing,
        parse=people.parse_minigame,
        actions=people.minigame_actions,
        help=people.MINIGAME_HELP,
    ),
)
EXTRACT = replace(
    extract.EXTRACT,
    presentation=PRESENTATION,
    typing=replace(
        extract.EXTRACT.typing, parse=people.parse_extract, actions=people.extract_actions, help=people.EXTRACT_HELP
    ),
)
