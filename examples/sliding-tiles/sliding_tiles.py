"""Sliding tiles: bring the numbers of a square board into their order by sliding tiles into its gap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import waybench.core as wb

TURNS = 100
SIZES = (2, 3)  # all positions of these boards are known; a 4 x 4 board has 10^13
GAP = {"up": (1, 0), "down": (-1, 0), "left": (0, 1), "right": (0, -1)}  # where the gap goes if a tile moves so


@dataclass(frozen=True, slots=True)
class Board(wb.Instance):
    """Tiles row by row, 0 for the gap. A board is its own state: the rules need to remember nothing else."""

    size: int
    tiles: tuple[int, ...]

    def canonical(self) -> str:
        return f"{self.size}: {self.tiles}"

    def to_json(self) -> wb.Json:
        return [list(row) for row in self.rows]

    @property
    def rows(self) -> list[tuple[int, ...]]:
        return [self.tiles[at : at + self.size] for at in range(0, self.size**2, self.size)]

    def moved(self, move: str) -> "Board | None":
        gap = self.tiles.index(0)
        row, column = gap // self.size + GAP[move][0], gap % self.size + GAP[move][1]
        if not (0 <= row < self.size and 0 <= column < self.size):
            return None
        tiles, tile = list(self.tiles), row * self.size + column
        tiles[gap], tiles[tile] = tiles[tile], 0
        return Board(self.size, tuple(tiles))


def solved(size: int) -> Board:
    return Board(size, (*range(1, size**2), 0))


class TilesGame(wb.ChoiceGame[Board, Board]):
    """An action is the direction in which a tile moves into the gap."""

    properties = wb.GameProperties(deterministic=True, turns=TURNS, reward=(0.0, 1.0))
    actions = tuple(GAP)

    def start(self, instance: Board) -> Board:
        return instance

    def step(self, state: Board, action: str) -> Board | None:
        return state.moved(action)

    def is_solved(self, state: Board) -> bool:
        return state == solved(state.size)


class TilesWording(wb.Wording[Board, Board, str]):
    def rules(self, instance: Board) -> str:
        return (
            "Tiles slide on a square board into its gap, shown as a dot. Bring them into the order of their numbers, "
            f"row by row, the gap last, in few moves. Answer with where a tile is to move: {', '.join(GAP)}."
        )

    def observe(self, state: Board, last: wb.Transition[Board] | wb.Invalid | None, turn: int) -> str:
        board = "\n".join(" ".join(str(tile or ".") for tile in row) for row in state.rows)
        if isinstance(last, wb.Invalid):
            return f"{last.reason} The board:\n{board}"
        illegal = last is not None and last.outcome is wb.Outcome.ILLEGAL
        return f"{'No tile can move so. ' * illegal}The board:\n{board}"

    def parse(self, reply: str, state: Board) -> str | wb.Invalid:
        word = reply.strip().lower()
        return word if word in GAP else wb.Invalid(f"Answer with one of {', '.join(GAP)}.")

    def render(self, action: str, state: Board) -> str:
        return action


@cache
def distances(size: int) -> dict[Board, int]:
    """Return every position from which the board can be solved, with the moves of a shortest solution."""
    return SOLUTIONS.cost_by_reachable_state(solved(size))


@cache
def positions(size: int, distance: int) -> list[Board]:
    return [board for board, moves in distances(size).items() if moves == distance]


class TilesSource(wb.KeyedSource[Board]):
    """Positions that a shortest solution of as many moves as the level solves."""

    def __init__(self, key: str, level: int, options: Mapping[str, wb.Json]) -> None:
        super().__init__(key, level, prove)
        self._size = int(options["size"])
        if level < 4 or not positions(self._size, level):
            raise wb.UsageError(
                f"level {level}: give 4 to {max(distances(self._size).values())}, the moves of a solution"
            )

    @property
    def space(self) -> int:
        return len(positions(self._size, self.level))

    def instance(self, index: int) -> Board:
        rng = wb.Stream("sliding/tiles", self.key, self._size, self.level, index)
        return rng.choice(positions(self._size, self.level))


def decode(data: wb.Json) -> Board:
    rows = data if isinstance(data, list) and all(isinstance(row, list) for row in data) else []
    tiles = [tile for row in rows for tile in row]
    if (
        len(rows) not in SIZES
        or {len(row) for row in rows} != {len(rows)}
        or any(type(tile) is not int for tile in tiles)
    ):
        raise wb.DataError("board: give 2 or 3 rows of as many numbers")
    board = Board(len(rows), tuple(tiles))
    if not distances(board.size).get(board):
        raise wb.DataError("board: give each number once, 0 for the gap, in a position that can be solved and is not")
    return board


def prove(board: Board) -> dict[str, wb.Json]:
    return {"minimum": distances(board.size)[board]}


SOLUTIONS = wb.Searched(TilesGame(), decode, most=200_000)


def heuristic(state: Board, rng: wb.Stream) -> str:
    """Return the move after which the tiles are nearest to their places, with an error now and then to get unstuck."""

    def distance(move: str) -> int:
        places = ((at, tile - 1) for at, tile in enumerate(state.moved(move).tiles) if tile)
        return sum(
            abs(at // state.size - to // state.size) + abs(at % state.size - to % state.size) for at, to in places
        )

    legal = TilesGame().legal(state)
    return rng.choice(legal) if rng.below(4) == 0 else min(legal, key=distance)


def score(record: wb.EpisodeRecord) -> float:
    return record.proof["minimum"] / len(record.turns) if record.end == wb.End.SOLVED else 0.0


def draw(board: Board, turns: Sequence[wb.TurnRecord], **_: object) -> str:
    """Return the board after some turns as an SVG."""
    for turn in turns:
        board = (turn.outcome == "ok" and board.moved(turn.action)) or board
    cells = [(at % board.size * 40, at // board.size * 40, tile) for at, tile in enumerate(board.tiles) if tile]
    tiles = (f'<text x="{x + 14}" y="{y + 27}" fill="currentColor">{tile}</text>' for x, y, tile in cells)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120">{"".join(tiles)}</svg>'


def entry() -> wb.Entry:
    summary, horizon = "sliding tiles, in as few moves as possible", "sliding tiles, by moves of a shortest solution"
    return wb.Entry("sliding/tiles", 1, "sliding_tiles:TILES", summary, task="tiles", horizon=horizon)


TILES: wb.Environment[Board, Board, str] = wb.Environment(
    id="sliding/tiles",
    version=1,
    title="Sliding tiles",
    about="The tiles of a square board are brought into their order by sliding them into its gap, one in each turn. "
    "It measures planning: greedy moves soon lead to positions from which every move seems to make it worse.",
    items=wb.Items(
        options=(wb.Option(name="size", default=3, low=2, high=3, doc="Tiles along each side."),),
        sample_levels=(4, 10, 20),
        public_key="tiles-v1",
        make_source=TilesSource,
        decode=decode,
        level_of=lambda board: distances(board.size)[board],
        prove=prove,
    ),
    playing=wb.Playing(play=lambda options: wb.Play(TilesGame(), TilesWording(), wb.Limits(turns=TURNS))),
    scoring=wb.Scoring(
        metrics=(wb.Metric(name="score", of=score, title="Score", doc="Minimum moves by turns.", low=0, high=1),)
    ),
    difficulty=wb.Difficulty(
        axes=(wb.proof_axis("minimum", "Shortest solution", "Moves of a shortest solution."),),
        success="the tiles are in their order, after any number of moves",
        horizon=wb.HorizonSpec(levels=tuple(range(4, 30, 2))),
    ),
    players=wb.Players(
        policies={"oracle": SOLUTIONS.oracle, "heuristic": heuristic}, oracle_is_ceiling=lambda record: True
    ),
    presentation=wb.Presentation(level="distance", item="board", metrics=("score",), draw=draw),
)
