"""Joining up a world: every cell that can be walked on can be reached, and there are enough of them."""

from waybench.envs.tilemap.worlds._board import Board

LEAST, MOST = 56, 89  # walkable cells, per cent: a little inside what is promised
_POCKET = 3  # a part of the map that is no larger than this is filled, not joined
# What gives way where there is too little room, one after the other.
_SOFT = (("solid",), ("water", "river"), ("cliff",), ("wall",))


def _cells_of_roles(board: Board, *roles: str) -> int:
    """Return the cells with a tile of these roles."""
    return board.bits(number for number, kind in enumerate(board.palette.kinds) if kind.role in roles)


def join(board: Board) -> None:
    """Make every walkable cell reachable from every other: break doors, build bridges, cut glades, fill pockets."""
    main, *parts = board.parts()
    kinds, roles = board.palette.kinds, board.palette.roles
    for part in parts:
        if part & main:  # a way that was made for another part has met it
            main |= part
            continue
        cells = board.numbers(part)
        if len(cells) <= _POCKET:
            for cell in cells:
                beside = [board.cells[neighbour] for neighbour in board.beside(cell)]
                board.cells[cell] = next((kind for kind in beside if not kinds[kind].walkable), roles["solid"][0])
            continue
        walkable, walls, waters = (
            board.walkable(),
            _cells_of_roles(board, "wall"),
            _cells_of_roles(board, "water", "river"),
        )
        soft = board.all & ~walkable & ~waters & ~walls
        path = board.route(cells[0], main, [(walkable, 1), (soft, 4), (waters, 6), (walls, 8)])
        for cell in path:
            kind = kinds[board.cells[cell]]
            if not kind.walkable:
                stand_in = {"wall": "door", "water": "bridge", "river": "bridge"}.get(kind.role, "ground")
                board.cells[cell] = roles[stand_in][0]
        main |= part | sum(1 << cell for cell in path)


def make_room(board: Board, least: int) -> None:
    """Clear the edges of woods and waters, and if need be walls, until enough cells can be walked on.

    Kinds of which there is one tile only are left. What is cleared is next to what can be walked on already, so that
    a world that was joined up stays so.

    Args:
        board: The board.
        least: What is enough, per cent.
    """
    size, ground = board.width * board.height, board.palette.one("ground")
    for roles in _SOFT:
        while (missing := -(-size * least // 100) - (walkable := board.walkable()).bit_count()) > 0:
            edge = board.numbers(board.spread(walkable) & _cells_of_roles(board, *roles))
            board.rng.shuffle(edge)
            before = missing
            for cell in edge[: max(1, len(edge) // 3)]:
                if missing and board.cells.count(board.cells[cell]) > 1:
                    board.cells[cell], missing = ground, missing - 1
            if missing == before:
                break


def fill_up(board: Board, most: int) -> None:
    """Plant single trees on open ground, parting nothing, until no more than enough cells can be walked on.

    Args:
        board: The board, joined up.
        most: What is enough, per cent.
    """
    rng, size, palette = board.rng, board.width * board.height, board.palette
    grounds = {palette.one("ground"), *palette.roles.get("patch", [])}
    spare = board.walkable().bit_count() - size * most // 100
    cells = [cell for cell in range(size) if board.cells[cell] in grounds] if spare > 0 else []
    rng.shuffle(cells)
    for cell in cells:
        if spare <= 0:
            return
        if board.cells.count(board.cells[cell]) > 1 and board.simple(cell):
            board.cells[cell], spare = rng.choice(palette.roles["solid"]), spare - 1
