"""Questions about a graph that is given as a list of edges, of any length."""

from waybench.envs.graph._component import Component, component
from waybench.envs.graph._environment import PATHS
from waybench.envs.graph._game import GraphGame, GraphState
from waybench.envs.graph._instance import Question
from waybench.envs.graph._source import GraphSource, estimated_tokens
from waybench.envs.graph._wording import EdgeList

__all__ = [
    "PATHS",
    "Component",
    "EdgeList",
    "GraphGame",
    "GraphSource",
    "GraphState",
    "Question",
    "component",
    "estimated_tokens",
]
