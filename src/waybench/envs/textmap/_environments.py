"""The four environments of text maps with their common presentation.

Drawings import all kinds of questions, so a kind of question cannot import them.
"""

from dataclasses import replace

from waybench.envs.textmap import _people as people
from waybench.envs.textmap import extract, minigame, questions
from waybench.envs.textmap._presentation import IMAGES, PRESENTATION

ROUTE, DESTINATION = (
    replace(environment, presentation=PRESENTATION, typed_actions=people.route_actions, images=IMAGES)
    for environment in (questions.ROUTE, questions.DESTINATION)
)
MINIGAME = replace(
    minigame.MINIGAME,
    presentation=PRESENTATION,
    parse_typed=people.parse_minigame,
    typed_actions=people.minigame_actions,
    typed_help=people.MINIGAME_HELP,
)
EXTRACT = replace(
    extract.EXTRACT,
    presentation=PRESENTATION,
    parse_typed=people.parse_extract,
    typed_actions=people.extract_actions,
    typed_help=people.EXTRACT_HELP,
)
