"""The agent protocol that games of single steps share: manual, history, questions, and the action that a reply names.

After SmartPlay (arXiv:2310.01557), sections 4 and 5.
"""

from waybench.agent._capabilities import CAPABILITIES, FORMULAS, RECORDED, Capability, capability_scores, degrees
from waybench.agent._environment import agent_metrics, agent_options, agent_play, final_score, steps_of
from waybench.agent._game import THOUGHT, AgentGame, Choice, Scene, thinking_players
from waybench.agent._history import history_text, manual_text
from waybench.agent._match import published_match, sound_match
from waybench.agent._rules import Rules, Step
from waybench.agent._wording import MANNERS, AgentWording, Manner

__all__ = [
    "CAPABILITIES",
    "FORMULAS",
    "MANNERS",
    "RECORDED",
    "THOUGHT",
    "AgentGame",
    "AgentWording",
    "Capability",
    "Choice",
    "Manner",
    "Rules",
    "Scene",
    "Step",
    "agent_metrics",
    "agent_options",
    "agent_play",
    "capability_scores",
    "degrees",
    "final_score",
    "history_text",
    "manual_text",
    "published_match",
    "sound_match",
    "steps_of",
    "thinking_players",
]
