"""The four environments of text maps with their common presentation.

Drawings import all kinds of questions, so a kind of question cannot import them.
"""

from dataclasses import replace

from waybench.envs.textmap import _presentation, extract, minigame, questions
from waybench.envs.textmap._presentation import IMAGES, PRESENTATION

ROUTE, DESTINATION = (
    replace(
        environment,
        presentation=PRESENTATION,
        typing=replace(environment.typing, actions=_presentation.route_actions),
        playing=replace(environment.playing, images=IMAGES),
    )
    for environment in (questions.ROUTE, questions.DESTINATION)
)
MINIGAME = replace(
    minigame.MINIGAME,
    presentation=PRESENTATION,
    typing=replace(
        minigame.MINIGAME.typing,
        parse=_presentation.parse_minigame,
        actions=_presentation.minigame_actions,
        help=_presentation.MINIGAME_HELP,
    ),
)
EXTRACT = replace(
    extract.EXTRACT,
    presentation=PRESENTATION,
    typing=replace(
        extract.EXTRACT.typing,
        parse=_presentation.parse_extract,
        actions=_presentation.extract_actions,
        help=_presentation.EXTRACT_HELP,
    ),
)
