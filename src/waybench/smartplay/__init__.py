"""The agent protocol that games of single steps share: manual, history, questions, and the action that a reply names.

After SmartPlay (arXiv:2310.01557), sections 4 and 5.
"""

from waybench.smartplay._capabilities import (
    CAPABILITIES,
    FORMULAS,
    RECORDED,
    Capability,
    Formula,
    capability_scores,
    capability_weights,
    degrees,
)
from waybench.smartplay._environment import (
    TYPED_HELP,
    action_turns,
    agent_metrics,
    agent_options,
    agent_play,
    agent_typed,
    final_score,
    steps_of,
)
from waybench.smartplay._failures import UNNAMED, agent_failure, endless
from waybench.smartplay._game import THOUGHT, AgentGame, Choice, Scene, thinking_players
from waybench.smartplay._history import history_entry, history_text, manual_text
from waybench.smartplay._humans import HUMANS, Baseline, human_metric, scaled_metric
from waybench.smartplay._learning import Learning, best_of, learning_metrics
from waybench.smartplay._match import published_match, sound_match
from waybench.smartplay._rules import Rules, Step
from waybench.smartplay._wording import MANNERS, AgentWording, Manner

__all__ = [
    "CAPABILITIES",
    "FORMULAS",
    "HUMANS",
    "MANNERS",
    "RECORDED",
    "THOUGHT",
    "TYPED_HELP",
    "UNNAMED",
    "AgentGame",
    "AgentWording",
    "Baseline",
    "Capability",
    "Choice",
    "Formula",
    "Learning",
    "Manner",
    "Rules",
    "Scene",
    "Step",
    "action_turns",
    "agent_failure",
    "agent_metrics",
    "agent_options",
    "agent_play",
    "agent_typed",
    "best_of",
    "capability_scores",
    "capability_weights",
    "degrees",
    "endless",
    "final_score",
    "history_entry",
    "history_text",
    "human_metric",
    "learning_metrics",
    "manual_text",
    "published_match",
    "scaled_metric",
    "sound_match",
    "steps_of",
    "thinking_players",
]
