"""The four environments of text maps with what they share for people.

Drawings know all kinds of questions, so that no kind of question can import them.
"""

from dataclasses import replace

from waybench.envs.textmap import extract, minigame, questions
from waybench.envs.textmap._presentation import PRESENTATION

ROUTE = replace(questions.ROUTE, presentation=PRESENTATION)
DESTINATION = replace(questions.DESTINATION, presentation=PRESENTATION)
MINIGAME = replace(minigame.MINIGAME, presentation=PRESENTATION)
EXTRACT = replace(extract.EXTRACT, presentation=PRESENTATION)
