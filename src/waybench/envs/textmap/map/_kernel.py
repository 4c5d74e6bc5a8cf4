"""The loop that walks all simple paths of a map; `_paths` compiles it.

It is plain Python over arrays, and does the same when it is not compiled.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bits = NDArray[np.uint8]

OVER = -1  # what `walk` returns once it has been at more paths than the budget allows
SOURCE, DEPTH, VISITED, MATCHED, PICKED = range(5)  # where the numbers of `state` are


def walk(
    first: Ints,
    heads: Ints,
    moves: Ints,
    hard: Bits,
    last: int,
    target: int,
    kind: int,
    shortest: int,
    longest: int,
    budget: int,
    ranks: Ints,
    state: Ints,
    nodes: Ints,
    cursors: Ints,
    hard_prefix: Bits,
    on_path: Bits,
    pairs: Ints,
    lengths: Ints,
    sources: Ints,
    targets: Ints,
    starts: Ints,
    path_moves: Ints,
) -> int:
    """Go on through the simple paths from one place after another, and tell of those that are asked for.

    A path is a row of moves that comes to no place twice; two moves between the same places make two paths. Those from
    one place are walked depth first, the moves from each place in their order. What remembers the way is as deep as
    there are places, so no map can exhaust the stack.

    Args:
        first: Where the moves of each place begin in the three arrays that follow; shape (places + 1,).
        heads: Where each move leads; shape (moves,).
        moves: The number by which the caller knows each move; shape (moves,).
        hard: 1 for a move that makes each path with it hard; shape (moves,).
        last: The last place from which paths are to begin.
        target: The only place at which paths are to end; -1 for any.
        kind: 1 for hard paths only, 0 for easy ones only, -1 for both.
        shortest: Least number of moves that is asked for.
        longest: Greatest number of moves that is asked for; no longer path is walked at all.
        budget: Most paths to be at, those that nobody asked for included.
        ranks: Ranks of the paths to be written down among those that are asked for, in ascending order; empty for all.
        state: The place from which paths begin now, the depth, and the numbers of paths visited, paths matched and
            ranks picked so far; shape (5,). Changed. To begin with, the place before the first one, and a depth of -1.
        nodes: The place at each depth; shape (places + 1,). Changed, as are the next three.
        cursors: The next move to be tried at each depth; shape (places + 1,).
        hard_prefix: 1 where the path down to a depth is hard; shape (places + 1,).
        on_path: 1 for a place on the path; shape (places,).
        pairs: Paths that were asked for, by the places where they begin and end; shape (places, places), or (0, 0) if
            nobody wants to know. Increased.
        lengths: Their number by hardness and number of moves; shape (2, places + 1). Increased.
        sources: Receives the place where each path begins; its size is the most to write in one call, 0 to count only.
        targets: Receives the place where each path ends; of the same size.
        starts: Receives where in `path_moves` each path begins, and at last where the last one ends; one longer.
        path_moves: Receives the moves of the paths, one path after the other; at least as many as there are places.

    Returns:
        How many paths were written, or `OVER`. All is done when the place in `state` is beyond the last one.
    """
    source, depth, visited, matched, picked = state[0], state[1], state[2], state[3], state[4]
    room, picking, counting = sources.size, ranks.size > 0, pairs.size > 0
    path_count, move_count = 0, 0
    while True:
        if depth < 0:
            source += 1
            if source > last:
                break
            if source == target or longest < 1:
                continue
            depth = 0
            nodes[0], cursors[0], hard_prefix[0], on_path[source] = source, first[source], 0, 1
        cursor = cursors[depth]
        node = nodes[depth]
        if cursor == first[node + 1]:
            on_path[node] = 0
            depth -= 1
            continue
        cursors[depth] = cursor + 1
        head = heads[cursor]
        is_hard = hard_prefix[depth] | hard[cursor]
        if on_path[head] or (is_hard and kind == 0):
            continue
        visited += 1
        if visited > budget:
            return OVER
        length = depth + 1
        matches = (target < 0 or head == target) and (kind < 0 or is_hard == kind) and length >= shortest
        if matches:
            if counting:
                pairs[source, head] += 1
            lengths[is_hard, length] += 1
            matches = room > 0 and (not picking or ranks[picked] == matched)
            matched += 1
        if matches:
            sources[path_count] = source
            targets[path_count] = head
            starts[path_count] = move_count
            for place in range(length):
                path_moves[move_count + place] = moves[cursors[place] - 1]
            move_count += length
            path_count += 1
            picked += 1
            starts[path_count] = move_count
        if head != target and length < longest:
            depth = length
            nodes[depth], cursors[depth], hard_prefix[depth], on_path[head] = head, first[head], is_hard, 1
        if matches:
            if picking and picked == ranks.size:
                source = last + 1  # nothing else was wanted
                break
            if path_count == room or move_count + on_path.size > path_moves.size:
                break
    state[0], state[1], state[2], state[3], state[4] = source, depth, visited, matched, picked
    return path_count
