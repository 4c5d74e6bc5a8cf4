"""The four environments of text maps with their common presentation.

Drawings import all kinds of questions, so a kind of question cannot import them.
"""

from dataclasses import replace

from waybench.envs.textmap import extract, minigame, questions
from waybench.envs.textmap._presentation import PRESENTATION

ROUTE = replace(questions.ROUTE, presentation=PRESENTATION)
DESTINATION = replace(questions.DESTINATION, presentation=PRESENTATION)
MINIGAME = replace(minigame.MINIGAME, presentation=PRESENTATION)
EXTRACT = replace(extract.EXTRACT, presentation=PRESENTATION)
