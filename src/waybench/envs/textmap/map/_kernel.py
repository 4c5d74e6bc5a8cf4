"""The loop that enumerates all simple paths of a map; `_paths` compiles it.

It is plain Python over arrays and gives the same results without compilation.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bits = NDArray[np.uint8]

OVER = -1  # returned by `walk` when the budget is exceeded
SOURCE, DEPTH, VISITED, MATCHED, PICKED = range(5)  # indices into `state`


def walk(
    first: Ints,
    heads: Ints,
    moves: Ints,
    hard: Bits,
    last: int,
    kind: int,
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
    starts: Ints,
    path_moves: Ints,
) -> int:
    """Continue the enumeration of simple paths, and count and write those that match.

    A simple path is a sequence of moves that visits no place twice; two moves between the same places make two paths.
    Paths from one place are enumerated depth first, with the moves from each place in their order. The search keeps its
    own stack, as deep as there are places, so no map can exhaust the call stack.

    Args:
        first: Index of the first move of each place in the next three arrays; shape (places + 1,).
        heads: Target place of each move; shape (moves,).
        moves: The caller's number of each move; shape (moves,).
        hard: 1 for a move that makes every path with it hard; shape (moves,).
        last: The last start place.
        kind: 1 for hard paths only, 0 for easy ones only, -1 for both.
        longest: Greatest number of moves; longer paths are not enumerated.
        budget: Most paths to enumerate, whether they match or not.
        ranks: Ranks of the matching paths to write, in ascending order; empty for all.
        state: Start place, depth, and the numbers of paths visited, paths matched and ranks written so far; shape (5,).
            Modified. Initially the place before the first start place, and depth -1.
        nodes: The place at each depth; shape (places + 1,). Modified, as are the next three.
        cursors: The next move to try at each depth; shape (places + 1,).
        hard_prefix: 1 if the path up to a depth is hard; shape (places + 1,).
        on_path: 1 for a place on the path; shape (places,).
        pairs: Number of matching paths by start and end; shape (places, places), or (0, 0) to skip. Incremented.
        lengths: Number of matching paths by hardness and number of moves; shape (2, places + 1). Incremented.
        starts: Receives the start of each path in `path_moves`, and the end of the last one; its size is one more than
            the most paths to write in one call, 1 to count only.
        path_moves: Receives the moves of the paths, concatenated; holds at least as many as there are places.

    Returns:
        The number of paths written, or `OVER`. The enumeration is complete when the start place in `state` is beyond
        `last`.
    """
    source, depth, visited, matched, picked = state[0], state[1], state[2], state[3], state[4]
    room, picking, counting = starts.size - 1, ranks.size > 0, pairs.size > 0
    path_count, move_count = 0, 0
    while True:
        if depth < 0:
            source += 1
            if source > last:
                break
            if longest < 1:
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
        matches = kind < 0 or is_hard == kind
        if matches:
            if counting:
                pairs[source, head] += 1
            lengths[is_hard, length] += 1
            matches = room > 0 and (not picking or ranks[picked] == matched)
            matched += 1
        if matches:
            starts[path_count] = move_count
            for place in range(length):
                path_moves[move_count + place] = moves[cursors[place] - 1]
            move_count += length
            path_count += 1
            picked += 1
            starts[path_count] = move_count
        if length < longest:
            depth = length
            nodes[depth], cursors[depth], hard_prefix[depth], on_path[head] = head, first[head], is_hard, 1
        if matches:
            if picking and picked == ranks.size:
                source = last + 1  # all ranks are written
                break
            if path_count == room or move_count + on_path.size > path_moves.size:
                break
    state[0], state[1], state[2], state[3], state[4] = source, depth, visited, matched, picked
    return path_count
