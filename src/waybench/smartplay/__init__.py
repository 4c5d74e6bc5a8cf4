"""The agent protocol that games of single steps share: manual, history, questions, and the action that a reply names.

After SmartPlay (arXiv:2310.01557), sections 4 and 5.
"""

from waybench.smartplay._capabilities import (
    BENCHMARK,
    CAPABILITIES,
    DEGREE_SCALES,
    DEGREES_SOURCE,
    FORMULAS,
    RECORDED,
    Capability,
    capability_scores,
    capability_weights,
    degrees,
)
from waybench.smartplay._compass import LEGEND, SEEN, compass, draw_seen
from waybench.smartplay._environment import agent_environment
from waybench.smartplay._game import THOUGHT, AgentGame, AgentState, Choice, thinking_players
from waybench.smartplay._history import history_entry, history_text, manual_text
from waybench.smartplay._humans import HUMANS, human_metric, scaled_metric
from waybench.smartplay._learning import best_of, chance_scores, learning_metrics, symmetric_reward
from waybench.smartplay._match import published_match, sound_match
from waybench.smartplay._metrics import action_turns, agent_metrics, final_score, step_turns, steps_of
from waybench.smartplay._rules import Rules, Step
from waybench.smartplay._wording import PROMPT_STYLES, AgentWording

__all__ = [
    "BENCHMARK",
    "CAPABILITIES",
    "DEGREES_SOURCE",
    "DEGREE_SCALES",
    "FORMULAS",
    "HUMANS",
    "LEGEND",
    "PROMPT_STYLES",
    "RECORDED",
    "SEEN",
    "THOUGHT",
    "AgentGame",
    "AgentState",
    "AgentWording",
    "Capability",
    "Choice",
    "Rules",
    "Step",
    "action_turns",
    "agent_environment",
    "agent_metrics",
    "best_of",
    "capability_scores",
    "capability_weights",
    "chance_scores",
    "compass",
    "degrees",
    "draw_seen",
    "final_score",
    "history_entry",
    "history_text",
    "human_metric",
    "learning_metrics",
    "manual_text",
    "published_match",
    "scaled_metric",
    "sound_match",
    "step_turns",
    "steps_of",
    "symmetric_reward",
    "thinking_players",
]
