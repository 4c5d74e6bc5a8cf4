"""Whether the oracle's play of a map is known to be the best one."""

from waybench.core import End, EpisodeRecord
from waybench.envs.tilemap._board import start, style_of
from waybench.envs.tilemap._foresight import foresee
from waybench.envs.tilemap._instance import decode
from waybench.envs.tilemap._metrics import SINGLE_MOVES, tally
from waybench.envs.tilemap._shortfall import tour_pays


def oracle_is_ceiling(record: EpisodeRecord) -> bool:
    """Return whether no other play of moves has a better score than the oracle's.

    It is not known where beings are so many that the search for the best tour was given up; and it does not hold in
    "paper" where walking to an objective costs more than it is worth, where one cannot be reached, so that ending near
    it would be better than staying, and where comments in the list of walkable tiles open a shorter way.

    Args:
        record: A finished episode of the oracle.
    """
    if record.end is not End.SOLVED:
        return False
    state = start(decode(record.instance), style_of(record.options, single=record.env == SINGLE_MOVES))
    moves = tally(record).actions
    if not state.beings:
        map_board = state.board
        return moves == map_board.length and tour_pays(
            map_board, map_board.fenced, state.cell, range(len(map_board.goals)), moves
        )
    tour = foresee(state)
    return tour.is_best and moves == sum(map(len, tour.plans))
