"""The abstractions that every environment and every face of waybench share. Standard library only."""

from waybench.core._axes import Axis, level_axis, proof_axis
from waybench.core._board import Board, Tile, TypedAction
from waybench.core._bounds import JsonBounds, check_json
from waybench.core._commitments import STRONG_BITS, commitment, key_bits, read_commitment
from waybench.core._datasets import GENERATED, DataFiles, Dataset, HorizonSpec, ItemList, file_key, read_items
from waybench.core._downloads import DataFile, Download
from waybench.core._environment import Environment, Play, Player, ReferenceScores
from waybench.core._episode import Episode, Reply
from waybench.core._errors import DataError, LiveError, ReplayError, UsageError, WaybenchError, shortened, unknown
from waybench.core._examples import with_examples
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
from waybench.core._folders import LOCK_FILE, PROGRESS_FILE, prepare_folder
from waybench.core._game import NOTHING, End, Facts, Game, Json, Limits, Outcome, Transition, evenly_chosen
from waybench.core._instance import Instance, Item, Source, set_hash
from waybench.core._json import is_array, is_object
from waybench.core._json_reply import JsonObject, last_object, reasoning_in, shown, without_reasoning
from waybench.core._keys import is_public_key, key_for_log, label_in_log, read_key
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
from waybench.core._options import WORDING, Option, resolve
from waybench.core._policies import EMBEDDED, NoisyPolicy, NullPolicy, Policy, ScriptedPolicy, play_out, policy
from waybench.core._potential import Potential, shaping_reward
from waybench.core._presentation import Draw, DrawFrames, Presentation
from waybench.core._prices import Price, price_table, read_budget, read_prices
from waybench.core._programs import Program
from waybench.core._random import Stream
from waybench.core._record import SCHEMA, EpisodeRecord, TurnRecord, Usage, all_turns, lost_turns
from waybench.core._registry import CatalogueWarning, Entry, Registry
from waybench.core._replay import replay
from waybench.core._secrets import (
    HIDDEN,
    LABEL,
    credentials,
    key_label,
    may_be_secret,
    redacted,
    secrets_in,
    without_credentials,
)
from waybench.core._template import TEMPLATE, TemplateWording, base_wording, is_template_name, template_fields
from waybench.core._text import duration_text, plural, short_count, with_article
from waybench.core._wording import Field, Invalid, Memory, Message, View, Wording

__all__ = [
    "EMBEDDED",
    "GENERAL_FAILURES",
    "GENERATED",
    "HIDDEN",
    "ILLEGAL",
    "LABEL",
    "LOCK_FILE",
    "LOST",
    "NOTHING",
    "NO_ANSWER",
    "OF_THE_ITEM",
    "PROGRESS_FILE",
    "REFUSED",
    "SCHEMA",
    "STRONG_BITS",
    "TEMPLATE",
    "TRUNCATED",
    "TURN_LIMIT",
    "UNPARSED",
    "UNPRODUCTIVE",
    "WORDING",
    "WRONG",
    "Aggregate",
    "Axis",
    "Board",
    "Bounded",
    "CatalogueWarning",
    "DataError",
    "DataFile",
    "DataFiles",
    "Dataset",
    "Download",
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
    "Field",
    "Game",
    "HorizonSpec",
    "Instance",
    "Invalid",
    "Item",
    "ItemList",
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
    "Potential",
    "Presentation",
    "Price",
    "Program",
    "Range",
    "ReferenceScores",
    "Registry",
    "ReplayError",
    "Reply",
    "ScriptedPolicy",
    "Series",
    "Source",
    "Stream",
    "TemplateWording",
    "Tile",
    "Transition",
    "TurnRecord",
    "TypedAction",
    "Usage",
    "UsageError",
    "View",
    "WaybenchError",
    "Wording",
    "all_turns",
    "base_wording",
    "check_json",
    "commitment",
    "credentials",
    "duration_text",
    "evenly_chosen",
    "file_key",
    "general_failure",
    "is_array",
    "is_object",
    "is_public_key",
    "is_template_name",
    "key_bits",
    "key_for_log",
    "key_label",
    "label_in_log",
    "last_object",
    "level_axis",
    "lost_turns",
    "main_cause",
    "may_be_secret",
    "outcome_count",
    "outcome_metric",
    "play_out",
    "plural",
    "policy",
    "prepare_folder",
    "price_table",
    "proof_axis",
    "read_budget",
    "read_commitment",
    "read_items",
    "read_key",
    "read_prices",
    "reasoning_in",
    "redacted",
    "replay",
    "resolve",
    "secrets_in",
    "set_hash",
    "shaping_reward",
    "short_count",
    "shortened",
    "shown",
    "template_fields",
    "unknown",
    "with_article",
    "with_examples",
    "without_credentials",
    "without_reasoning",
]
