"""The abstractions that every environment and every face of waybench share. Standard library only."""

from waybench.core._axes import Axis, level_axis, proof_axis
from waybench.core._bounds import JsonBounds, check_json
from waybench.core._environment import Environment, Play, Player, ReferenceScores
from waybench.core._episode import Episode, Reply, replay
from waybench.core._errors import DataError, LiveError, ReplayError, UsageError, WaybenchError, shortened, unknown
from waybench.core._explanatory import ExplanatoryVariables
from waybench.core._failures import (
    GENERAL_FAILURES,
    ILLEGAL,
    LOST,
    NO_ANSWER,
    REFUSED,
    TRUNCATED,
    TURN_LIMIT,
    UNPARSED,
    UNPRODUCTIVE,
    WRONG,
    FailureKind,
    general_failure,
    main_cause,
)
from waybench.core._game import NOTHING, End, Facts, Game, Json, Limits, Outcome, Transition, evenly_chosen
from waybench.core._instance import Instance, Item, Source, set_hash
from waybench.core._json import is_array, is_object
from waybench.core._json_reply import JsonObject, last_object, shown, without_reasoning
from waybench.core._metrics import (
    OF_THE_ITEM,
    Aggregate,
    Bounded,
    Metric,
    Range,
    Series,
    outcome_count,
    outcome_metric,
)
from waybench.core._options import Option, resolve
from waybench.core._policies import EMBEDDED, NoisyPolicy, NullPolicy, Policy, ScriptedPolicy, play_out, policy
from waybench.core._presentation import Draw, DrawFrames, Presentation
from waybench.core._prices import Price, price_table, read_prices
from waybench.core._random import Stream
from waybench.core._record import SCHEMA, EpisodeRecord, TurnRecord, Usage, lost_turns
from waybench.core._registry import Entry, Registry
from waybench.core._text import plural, with_article
from waybench.core._wording import Invalid, Memory, Message, Wording

__all__ = [
    "EMBEDDED",
    "GENERAL_FAILURES",
    "ILLEGAL",
    "LOST",
    "NOTHING",
    "NO_ANSWER",
    "OF_THE_ITEM",
    "REFUSED",
    "SCHEMA",
    "TRUNCATED",
    "TURN_LIMIT",
    "UNPARSED",
    "UNPRODUCTIVE",
    "WRONG",
    "Aggregate",
    "Axis",
    "Bounded",
    "DataError",
    "Draw",
    "DrawFrames",
    "End",
    "Entry",
    "Environment",
    "Episode",
    "EpisodeRecord",
    "ExplanatoryVariables",
    "Facts",
    "FailureKind",
    "Game",
    "Instance",
    "Invalid",
    "Item",
    "Json",
    "JsonBounds",
    "JsonObject",
    "Limits",
    "LiveError",
    "Memory",
    "Message",
    "Metric",
    "NoisyPolicy",
    "NullPolicy",
    "Option",
    "Outcome",
    "Play",
    "Player",
    "Policy",
    "Presentation",
    "Price",
    "Range",
    "ReferenceScores",
    "Registry",
    "ReplayError",
    "Reply",
    "ScriptedPolicy",
    "Series",
    "Source",
    "Stream",
    "Transition",
    "TurnRecord",
    "Usage",
    "UsageError",
    "WaybenchError",
    "Wording",
    "check_json",
    "evenly_chosen",
    "general_failure",
    "is_array",
    "is_object",
    "last_object",
    "level_axis",
    "lost_turns",
    "main_cause",
    "outcome_count",
    "outcome_metric",
    "play_out",
    "plural",
    "policy",
    "price_table",
    "proof_axis",
    "read_prices",
    "replay",
    "resolve",
    "set_hash",
    "shortened",
    "shown",
    "unknown",
    "with_article",
    "without_reasoning",
]
