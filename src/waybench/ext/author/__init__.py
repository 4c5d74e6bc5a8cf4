"""Programs that make items for one family of environments, and need more than environments do.

Unlike the other packages they know the family that they are for. What they add to the command line is declared here,
and their code is imported when a command needs it.
"""

__all__ = ["AUTHORED"]

COMMANDS = {
    "textmap": ("waybench.ext.author.game_maps:textmap", "Make maps from text games."),
}
"""Name of a command -> what it is, as "module:command", and its help."""

AUTHORED = ("tilemap/gtb", "tilemap/state", "tilemap/stepwise")
"""The environments whose instances a language model can write (`waybench.ext.author.authored_maps`)."""
