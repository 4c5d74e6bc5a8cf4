"""What the documentation says of the six environments."""

_FIRST = {
    "guessnum": "The player guesses a number and is told whether the true one is bigger or smaller.",
    "coin": "The player guesses the number of coins in a witch's chest: number guessing told as a story.",
    "dfs": "The player visits all nodes of an unknown tree, walking from neighbour to neighbour, depth first.",
    "cavedfs": "The player explores a system of caves, told as a story that does not name the depth-first search.",
    "bfs": "The player visits all nodes of an unknown tree, from any visited node on, breadth first.",
    "cavebfs": "A team explores a system of caves, told as a story that does not name the breadth-first search.",
}

_MEASURES = {
    "number": "What counts is how near the best guess comes, how fast, and whether the guesses bisect the range.",
    "walk": "What counts is how many nodes are visited, how fast, and whether the order is the algorithm's.",
}

_LEVELS = {
    "number": "The level is the binary logarithm of the range's size: 15 (32 to 32800) is EASY mode, 25 (32 to "
    "33554464) HARD mode, and there are levels up to 60. Level + 5 valid answers are allowed.",
    "depth": "The level is the number of nodes: 8 is EASY mode, 13 HARD mode. Twice as many valid answers, and 4 more, "
    "are allowed.",
    "breadth": "The level is the number of nodes: 15 is EASY mode, 25 HARD mode. As many valid answers, and 5 more, "
    "are allowed.",
}

_DRAWN = {
    "number": "uniformly from the range",
    "walk": "a uniformly random labelled tree, or another `shape`; `cycles` adds edges, and then the prompt does not "
    "say that there are none; the neighbours of a node are shown in random order",
}

_SCORES = {
    "number": """\
| unit of an error | max - min | max - min + 1 |
| what ACC takes for a bisection | the half-open one of the teacher alone; the textbook's has about 0.5 | both middles |
| after invalid replies ended the episode, Err_sum has | 1 | 1 for every interaction that was left |
| and ACC | counts the last one | counts every interaction that was left |
""",
    "walk": """\
| after invalid replies ended the episode, G_sum has | nothing, so that giving up lowers it | 1 for every interaction \
that was left |
| and ACC | counts the last one | counts every interaction that was left |
""",
}

_TEXT = """\
{first} {measures} The level can grow far beyond the published ones, so that the benchmark cannot be saturated, and no
knowledge of the world helps.

A re-implementation of AQA-Bench (arXiv:2402.09404) after its paper and its published program:

* **Levels.** {levels}
* **Items** are drawn by key ({drawn}); the tasks can read the published cases from their files instead.
* **Invalid replies.** Three in a row are forgiven, at any step, and cost nothing; the fourth ends the episode. A number
  out of reach counts as `illegal`, a reply without a number as `unparsed`; the answer to both is the same line.
* **Teacher guiding.** The optimal policy plays the whole episode. The player replies at every step; the reply is
  recorded and judged, and in the chat the teacher's answer stands in its place. There are no retries and no limit.
* **In-context examples** (`icl` of the tasks) are whole episodes of the optimal policy as chat turns before the first
  message: in `paper` on the cases just before this one, in `sound` on cases of their own for each item.
* **The optimal policy** is {teacher}.

What `paper` and `sound` differ in; the scores of `sound` that need no other replies (`acc_sound`, `{sum}_sound`) are
reported of every run:

| | `paper` | `sound` |
|---|---|---|
| the reply's number | the first digits in it, so that -500 is 500 and 16,416 is 16 | exactly one whole number, \
reasoning left out |
| a reply cut off at the output limit | is read | is not carried out |
| the player's turn in the chat | is replaced by the number that was read | stays as it was said |
| an example ends with | an empty answer to its last message | that message, in one turn with the next first one |
{scores}"""

_TEACHERS = {
    "number": "the half-open bisection: it guesses (left + right) // 2, left being the largest guess that was too "
    "small (at first min) and right the smallest that was too large (at first max + 1)",
    "depth": "the first unvisited neighbour in the order shown, or else the node through which this one was entered",
    "breadth": "a first-in-first-out queue; of an answer that follows the algorithm only the level counts, not the "
    "order within it",
}


def about(name: str) -> str:
    """Return the description of an environment.

    Args:
        name: The part of its id after the slash.
    """
    kind = "number" if name in ("guessnum", "coin") else "depth" if name.endswith("dfs") else "breadth"
    game = "number" if kind == "number" else "walk"
    return _TEXT.format(
        first=_FIRST[name],
        measures=_MEASURES[game],
        levels=_LEVELS[kind],
        drawn=_DRAWN[game],
        teacher=_TEACHERS[kind],
        scores=_SCORES[game],
        sum="err_sum" if kind == "number" else "g_sum",
    )
