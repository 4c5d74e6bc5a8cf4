"""The published and the corrected rules, and the protocol text of AQA-Bench, exactly."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Protocol:
    """One reading of the rules.

    Attributes:
        first_number: A reply stands for the first number in it, whatever else it says; otherwise it must hold exactly
            one number.
        reads_truncated: A reply that was cut off at the output limit is still read.
        normalised_history: The chat shows the number that was read in place of the player's own words.
        closing_answer: An in-context example ends with an empty answer to its last message; otherwise that message
            and the first one of what follows are one.
        whole_range: Errors are divided by the number of possible targets; otherwise by one less.
        any_bisection: ACC takes both middles of an even number of candidates; otherwise the teacher's alone.
        charges_quitting: What was left undone of the interactions costs 1 each in both sums; otherwise the invalid
            reply that ends an episode costs 1 in Err_sum and nothing in G_sum.
    """

    first_number: bool
    reads_truncated: bool
    normalised_history: bool
    closing_answer: bool
    whole_range: bool
    any_bisection: bool
    charges_quitting: bool


PROTOCOLS = {
    "paper": Protocol(
        first_number=True,
        reads_truncated=True,
        normalised_history=True,
        closing_answer=True,
        whole_range=False,
        any_bisection=False,
        charges_quitting=False,
    ),
    "sound": Protocol(
        first_number=False,
        reads_truncated=False,
        normalised_history=False,
        closing_answer=False,
        whole_range=True,
        any_bisection=True,
        charges_quitting=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Story:
    """The words of one environment.

    Attributes:
        name: The part of its id after the slash.
        title: Its title.
        prompts: Edition -> system prompt.
        thing: What a number is of, or what a node is called.
        places: A node's name in the plural.
        end: The last message before the number of steps.
        beside: Which node a visit has to be adjacent to.
    """

    name: str
    title: str
    prompts: dict[str, str]
    thing: str
    places: str = ""
    end: str = ""
    beside: str = ""


START = "START"
BIGGER = "The true {thing} is bigger than {guess}."
SMALLER = "The true {thing} is smaller than {guess}."
RIGHT = "Right answer. The true {thing} is equal to {guess}."
INVALID_NUMBER = "Invalid reply. You can only reply with a integer number between {min} and {max}. Try again."
COACH_NUMBER = (
    "Your output is not optimal. You should follow binary-search algorithm. You can only reply with a integer number "
    "between {min} and {max}. Try again."
)

ADJACENT = "Adjacent {places}: {listed}."
DONE = "{end} Total number of steps: {steps}"
_ONLY_ADJACENT = "You can only reply with a integer number indicting the {thing} adjacent to the {beside} {thing}."
INVALID_NODE = "Invalid reply. Try again. " + _ONLY_ADJACENT
COACH_NODE = (
    "Your output is not optimal. You should follow {algorithm}-first-search algorithm. Try again. " + _ONLY_ADJACENT
)

_QUEUE = """\
1. Initialize a queue data structure and add the starting node to the queue.
2. While the queue is not empty, visit the first node and remove it from the queue.
3. For nodes adjacent to the removed vertex, add the unvisited ones to the queue.
4. Repeat steps 2-3 until the queue is empty."""

GUESSNUM = Story(
    name="guessnum",
    title="Number guessing (AQA-Bench)",
    prompts={
        "appendix": """\
You are required to guess the random number which I have just picked between {min} and {max}.
I will only tell you whether the true number is bigger or lower than your guess.
Adjust your guess according to my response.
Try as few times as you can. You can only reply with an integer number between {min} and {max}.""",
        "code": (
            "You are required to guess the random number which I have just picked between {min} and {max}. "
            "I will only tell you whether the true number is bigger or lower than your guess. "
            "Adjust your guess according to my response. "
            "Try as few times as you can. You can only reply with a integer number between {min} and {max}."
        ),
    },
    thing="number",
)

COIN = Story(
    name="coin",
    title="Coins in a chest (AQA-Bench)",
    prompts={
        "appendix": """\
You are in a hidden temple where an old witch sits with a chest of gold.
The witch promises to reward you with gold coins, the amount hidden within the chest ranging from {min} and {max}.
To claim your prize, you must correctly guess the exact number of gold coins in the chest.
After each guess, the witch will hint if the actual amount is higher or lower than your guess.
Use these clues to adjust your guess accordingly. Try as few times as you can. You can only reply with an integer \
number between {min} and {max}.""",
        "code": (
            "You're in a hidden temple where an old witch sits with a chest of gold. "
            "The witch promises to reward you with gold coins, the amount hidden within the chest ranging from {min} "
            "to {max}. To claim your prize, you must correctly guess the exact number of gold coins in the chest. "
            "After each guess, the witch will hint if the actual amount is higher or lower than your guess. "
            "Use these clues to adjust your guess accordingly. Try as few times as you can. "
            "You can only reply with a integer number between {min} and {max}."
        ),
    },
    thing="number of gold coins",
)

DFS = Story(
    name="dfs",
    title="Depth-first search (AQA-Bench)",
    prompts={
        "appendix": """\
You are required to visit all the nodes in an undirected non-cyclic graph.
An undirected non-cyclic graph contains a set of nodes and a set of edges that each connect a pair of nodes.
All edges are undirected so that you can move from one node to the other connected by the edge in either direction.
Every time you visit a node, you will be given the adjacent nodes connected to this node.
You can only reply with an integer number indicating which node to be visited next. Do not explain your answer.
Try to traverse the entire graph in as few rounds as possible.
You are currently on the node 0.
You should use depth-first-search algorithm, each time you should select a node you have not moved to.
If all nodes adjacent to the current node have been visited, you should backtrack to the node through which you \
entered this node for the first time.""",
        "code": (
            "You are required to visit all the nodes in an undirected non-cyclic graph."
            "An undirected non-cyclic garph contains a set of node, and a set of edges that each connects a pair of "
            "nodes. All edges are undirected, so that you can move from one node to the other connected by the edge in "
            "either direction. Every time you visit a node, you will be given the adjacent nodes connected to this "
            "node. You can only reply with a integer number indicating which node to be visited next. Don't explain "
            "your answer. Try traverse the entire graph in as few rounds as possible."
            "You are currently on the node 0.\n"
            "You should use depth first search algorithm, each time you should select a node you have not moved to. If "
            "all nodes adjacent to the current node have been visited, you should back track to the node through which "
            "you entered this node for the first time. "
        ),
    },
    thing="node",
    places="nodes",
    end="Well Done. You have visited all the nodes in the graph.",
    beside="current",
)

BFS = Story(
    name="bfs",
    title="Breadth-first search (AQA-Bench)",
    prompts={
        "appendix": f"""\
You are required to visit all the nodes in an undirected non-cyclic graph.
An undirected non-cyclic graph contains a set of nodes, and a set of edges that each connects a pair of nodes.
Every time you visit a node, you will be given the adjacent nodes connected to this node.
You can only visit nodes that are adjacent to the already visited nodes.
You can only reply with an integer number indicating which node to be visited next. Do not explain your answer.
Try to traverse the entire graph in as few rounds as possible. You are currently on the node 0.
You should use breadth-first-search algorithm. The algorithm works as follows:
{_QUEUE}""",
        "code": (
            "You are required to visit all the nodes in an undirected non-cyclic graph."
            "An undirected non-cyclic garph contains a set of node, and a set of edges that each connects a pair of "
            "nodes. Every time you visit a node, you will be given the adjacent nodes connected to this node. You can "
            "only visit nodes that are adjacent to the already visited nodes. You can only reply with a integer number "
            "indicating which node to be visited next. Don't explain your answer. Try traverse the entire graph in as "
            "few rounds as possible.You are currently on the node 0.\n"
            "You should use breadth first search algorithm. The algorithm works as follows:\n" + _QUEUE
        ),
    },
    thing="node",
    places="nodes",
    end="Well Done. You have visited all the nodes in the graph.",
    beside="visited",
)

CAVEDFS = Story(
    name="cavedfs",
    title="A walk through caves (AQA-Bench)",
    prompts={
        "appendix": """\
There is an expansive underground cave system in which each cave is uniquely numbered and interconnected by tunnels.
Every time you visit a cave, you will know the adjacent caves directly connected to this one.
You can only reply with an integer number indicating which cave to be visited next. Do not explain your answer.
Your objective is to explore every cave, starting from cave 0.
Try to visit all the caves in as few rounds as possible. You are currently in the cave 0.""",
        "code": (
            "There is an expansive underground cave system in which each cave is uniquely numbered and interconnected "
            "by tunnels. Every time you visit a cave, you will know the adjacent caves directly connected to this one. "
            "You can only reply with a integer number indicating which cave to be visited next. Don't explain your "
            "answer. Your objective is to explore every cave, starting from cave 0. Try to visit all the caves in as "
            "few rounds as possible.You are currently in the cave 0."
        ),
    },
    thing="cave",
    places="caves",
    end="Well Done. You have visited all the caves.",
    beside="current",
)

CAVEBFS = Story(
    name="cavebfs",
    title="A team in caves (AQA-Bench)",
    prompts={
        "appendix": """\
There is an expansive underground cave system in which each cave is uniquely numbered and interconnected by tunnels.
Every time you and your team visit a cave, you will know the adjacent caves directly connected tno this one.
Your team will then split into smaller groups to explore different caves, but groups can only move to caves adjacent \
to the visited cave.
You can only reply with an integer number indicating which cave to be visited next. Do not explain your answer.
Your objective is to explore every cave, starting from cave 0.
Try to visit all the caves in as few rounds as possible. You and your team are currently in the cave 0.""",
        "code": (
            "There is an expansive underground cave system in which each cave is uniquely numbered and interconnected "
            "by tunnels. Every time you and your team visit a cave, you will know the adjacent caves directly "
            "connected to this one. Your team will then split into smaller groups to explore different caves, but "
            "groups can only move to caves adjacent to the visited cave.You can only reply with a integer number "
            "indicating which cave to be visited next. Don't explain your answer. Your objective is to explore every "
            "cave, starting from cave 0. Try to visit all the caves in as few rounds as possible.You and your team are "
            "currently in the cave 0."
        ),
    },
    thing="cave",
    places="caves",
    end="Well Done. You have visited all the caves.",
    beside="visited",
)
