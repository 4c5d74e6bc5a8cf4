"""The catalogue's lines; an environment's code is loaded when it is asked for."""

from waybench.core import Entry

INDEX = (Entry("maze/alicia", 1, "waybench.envs.maze:ALICIA", "mazes as text, answered with a list of movements"),)
