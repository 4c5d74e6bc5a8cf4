"""The agent protocol that games of single steps share: manual, history, questions, and the action that a reply names.

After SmartPlay (arXiv:2310.01557), sections 4 and 5.
"""

from waybench.envs.smartplay._capabilities import FORMULAS, RECORDED, Capability
from waybench.envs.smartplay._environment import agent_environment
from waybench.envs.smartplay._game import ActionEffect, AgentState, Rules, field_values, is_within, thinking_players
from waybench.envs.smartplay._measures import (
    HUMANS,
    agent_metrics,
    best_action_and_gaps,
    final_score,
    human_metric,
    learning_scoring,
    scaled_metric,
    step_events,
    step_turns,
    symmetric_reward_range,
)
from waybench.envs.smartplay._wording import LEGEND, SEEN, direction_name, draw_seen

__all__ = [
    "FORMULAS",
    "HUMANS",
    "LEGEND",
    "RECORDED",
    "SEEN",
    "ActionEffect",
    "AgentState",
    "Capability",
    "Rules",
    "agent_environment",
    "agent_metrics",
    "best_action_and_gaps",
    "direction_name",
    "draw_seen",
    "field_values",
    "final_score",
    "human_metric",
    "is_within",
    "learning_scoring",
    "scaled_metric",
    "step_events",
    "step_turns",
    "symmetric_reward_range",
    "thinking_players",
]
