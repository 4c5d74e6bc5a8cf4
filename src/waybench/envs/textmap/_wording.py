"""The wording of route and destination questions, and its prompt templates."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from waybench.core import (
    ActionTool,
    AnswerState,
    Field,
    Invalid,
    Json,
    OneAnswerWording,
    Texts,
    ToolCall,
    normalize_name,
    object_schema,
    texts_in,
)
from waybench.core._texts import fill_fields
from waybench.envs.textmap._answers import (
    MOST_HOPS,
    PRINTED,
    RELEASED,
    SOUND,
    Hop,
    ScoredQuestion,
    Trajectory,
    move_index,
    parse_published_answer,
    parse_sound_answer,
    read_trajectory,
)
from waybench.envs.textmap._frame import GAME, Frame
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap
from waybench.envs.textmap._prefix import (
    PromptNames,
    all_names,
    published_walkthrough_text,
    seen_names,
    steps_with_place_names,
)
from waybench.envs.textmap._texts import ENGLISH, LEAD, TEXTS
from waybench.envs.textmap.worlds._data import DIRECTIONS


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt template. The texts have placeholders such as {source}, {target} and {walkthrough}.

    `opening` is the beginning of all questions. `keys` are the keys of a move in the answer. `lists` is the format of
    lists: "python", "json", or "bare", without quotes and brackets. `lead` is the end of the prompt, with the beginning
    of the answer; empty if the answer has its own.
    """

    name: str
    opening: str
    route: str
    destination: str
    keys: Hop = RELEASED
    lists: str = "python"
    lead: str = ""


_FORMS: Mapping[str, tuple[Hop, str, str]] = {  # name -> keys, lists and lead
    "chat": (RELEASED, "python", ""),
    "completion": (RELEASED, "python", LEAD),
    "examples": (PRINTED, "bare", ""),
    "plain": (RELEASED, "json", ""),
}


def prompt_templates(texts: Texts) -> dict[str, PromptTemplate]:
    """Return the templates by name, in the language of some texts."""
    return {
        name: PromptTemplate(
            name, texts[f"{name}.opening"], texts[f"{name}.route"], texts[f"{name}.destination"], keys, lists, lead
        )
        for name, (keys, lists, lead) in _FORMS.items()
    }


TEMPLATES = prompt_templates(ENGLISH)
CHAT, COMPLETION, PAPER_EXAMPLES, PLAIN = TEMPLATES.values()


def opening_text(template: PromptTemplate, walkthrough: str, names: PromptNames) -> str:
    """Return the beginning of all prompts about a prefix, with the text of its walkthrough and lists of names."""
    lists = {"actions": format_names(names.actions, template), "places": format_names(names.places, template)}
    return fill_fields(template.opening, walkthrough=walkthrough, **lists)


def question_text(template: PromptTemplate, question: ScoredQuestion) -> str:
    """Return the text that follows the opening."""
    names = {"source": format_name(question.source, template), "target": format_name(question.target, template)}
    text = template.destination if question.actions else template.route
    return fill_fields(text, **names, actions=format_names(question.actions, template))


def format_name(name: str, template: PromptTemplate) -> str:
    """Return the name of a place as the template's questions write it."""
    return json.dumps(name, ensure_ascii=False) if template.lists == "json" else name


def format_names(names: Sequence[str], template: PromptTemplate) -> str:
    """Return names of places or actions as the template's lists write them."""
    if template.lists == "python":
        return repr(list(names))
    return json.dumps(list(names), ensure_ascii=False) if template.lists == "json" else ", ".join(names)


OBSERVATIONS = ("full", "names")


class QuestionWording(OneAnswerWording[MapQuestion, Trajectory]):
    """A wording that fills a template. All questions about one prefix start with the same text, byte for byte.

    With `observations` "names", only the name of the place is shown at each step (the paper's "-S"), not the "full"
    walkthrough. `lists` is "all" or "seen", see `prompt_names`. `published` says whether the published parser reads
    replies. In another language than that of the walkthrough, an action of the answer can be the word for a direction
    in either of them. `frame` is one of `FRAMES`; with another one than the game's, moves have its words, and the
    walkthrough shows the name of the place at each step, whatever `observations` is.
    """

    def __init__(
        self,
        template: PromptTemplate,
        observations: str,
        lists: str,
        *,
        published: bool,
        texts: Texts = ENGLISH,
        frame: str = GAME,
    ) -> None:
        self.name, self.texts = template.name, texts
        self._frame = None if frame == GAME else Frame(frame)
        self._note = "" if frame == GAME else texts[f"frame.{frame}"]
        direction_words = {name: normalize_name(texts[f"direction.{name}"]) for name in DIRECTIONS}
        self._directions = {word: name for name, word in direction_words.items() if word != name}
        self.reads_truncated = published  # as in the published runs, where a complete list counted
        self._template, self._observations, self._lists = template, observations, lists
        self._published, self._tool = published, _make_answer_tool(template.keys, texts)
        field = Field[MapQuestion]
        self.rule_fields = (
            field("walkthrough", "The part of the walkthrough that is shown.", self._walkthrough_text),
            field(
                "places",
                "The list of places.",
                lambda question: format_names(self._prompt_names(question).places, template),
            ),
            field(
                "actions",
                "The list of actions.",
                lambda question: format_names(self._prompt_names(question).actions, template),
            ),
            field("frame", "How moves are worded, unless in the game's words.", lambda question: self._note),
            field("question", "The question, with the form of the answer.", self._question_text),
            field(
                "start", "The place where the question begins.", lambda question: format_name(question.source, template)
            ),
            field(
                "destination",
                "The destination of a route question.",
                lambda question: "" if question.actions else format_name(question.target, template),
            ),
            field(
                "moves",
                "The moves of a destination question.",
                lambda question: (
                    format_names(self._question_in_frame(question).actions, template) if question.actions else ""
                ),
            ),
            field("lead", "The beginning of the answer, if the base wording gives one.", lambda _: template.lead),
        )

    def in_language(self, texts: Texts) -> "QuestionWording":
        """Return this wording in another language."""
        template = prompt_templates(texts)[self.name]
        return QuestionWording(
            template,
            self._observations,
            self._lists,
            published=self._published,
            texts=texts,
            frame=self._frame.name if self._frame else GAME,
        )

    def _prompt_names(self, instance: MapQuestion) -> PromptNames:
        """Return the names that the prompt lists, in the words of the frame."""
        return _names_in_frame(prompt_names(instance.map, instance.cutoff, self._lists), self._frame)

    def _walkthrough_text(self, instance: MapQuestion) -> str:
        """Return the steps that the prompt shows."""
        return _visible_walkthrough_text(instance.map, instance.cutoff, self._observations, self._frame)

    def _question_in_frame(self, question: MapQuestion) -> ScoredQuestion:
        """Return the question with its actions in the words of the frame."""
        return self._frame.question_in_frame(question.map, question) if self._frame else question

    def _question_text(self, question: MapQuestion) -> str:
        """Return the text of the question, in the frame."""
        return question_text(self._template, self._question_in_frame(question))

    def opening_text(self, place_map: PlaceMap, cutoff: int) -> str:
        """Return the beginning of all prompts about a prefix."""
        beginning = _cached_opening_text(
            place_map, cutoff, self._template, self._observations, self._lists, self._frame
        )
        line_breaks = beginning[len(beginning.rstrip("\n")) :]  # the note is a paragraph like those before it
        return f"{beginning}{self._note}{line_breaks}" if self._note else beginning

    def rules(self, instance: MapQuestion) -> str:
        return self.opening_text(instance.map, instance.cutoff) + self._question_text(instance)

    def parse(self, reply: str, state: AnswerState[MapQuestion]) -> Trajectory | Invalid:
        parse_answer = parse_published_answer if self._published else parse_sound_answer
        return self._translate_to_game_words(
            parse_answer(reply, self._template.keys, self._template.lead, self.texts), state
        )

    def _translate_to_game_words(
        self, hops: Trajectory | Invalid, state: AnswerState[MapQuestion]
    ) -> Trajectory | Invalid:
        """Return an answer with the game's actions in place of the words of the language and of the frame."""
        hops = hops if isinstance(hops, Invalid) else self._translate_directions(hops, state)
        if isinstance(hops, Invalid) or self._frame is None:
            return hops
        return self._frame.to_map_words(state.instance.map, state.instance, hops, self.texts)

    def _translate_directions(self, hops: Trajectory, state: AnswerState[MapQuestion]) -> Trajectory:
        """Return an answer with the game's actions in place of the language's words for directions."""
        if not self._directions:
            return hops
        index = move_index(state.instance.map)

        def game_action(name: str) -> str:
            """Return the game's word for a direction in the language; any other action as it is."""
            is_of_map = index.resolve_action(name, (), SOUND) is not None
            return name if is_of_map else self._directions.get(normalize_name(name), name)

        return tuple(hop._replace(action=game_action(hop.action)) for hop in hops)

    def render(self, action: Trajectory, state: AnswerState[MapQuestion]) -> str:
        """Return a trajectory as JSON, which is also a Python literal; it continues the prompt's lead, if any."""
        # The published parser would take a bracket in a name for the end of the list.
        elements = json.dumps(self._json_rows(action, state), ensure_ascii=False)[1:-1].replace("]", "\\u005d")
        if not self._template.lead:
            return f"[{elements}]"
        return elements.removeprefix(f'{{"{self._template.keys.before}":') + "]"

    def tools(self, state: AnswerState[MapQuestion]) -> tuple[ActionTool, ...]:
        return (self._tool,)

    def parse_call(self, call: ToolCall, state: AnswerState[MapQuestion]) -> Trajectory | Invalid:
        return self._translate_to_game_words(
            read_trajectory(call.arguments["moves"], self._template.keys, self.texts), state
        )

    def render_call(self, action: Trajectory, state: AnswerState[MapQuestion]) -> ToolCall:
        return ToolCall("answer", {"moves": self._json_rows(action, state)})

    def _json_rows(self, action: Trajectory, state: AnswerState[MapQuestion]) -> list[dict[str, str]]:
        """Return the moves of an answer as JSON objects, in the words of language and frame."""
        if self._frame is not None:
            action = self._frame.to_frame_words(state.instance.map, state.instance, action)
        return [dict(zip(self._template.keys, hop, strict=True)) for hop in action]


def hop_schema(keys: Hop, texts: Texts = ENGLISH) -> dict[str, Json]:
    """Return the JSON schema of a move of an answer."""
    docs = [texts[f"tool.{name}"] for name in ("before", "action", "after")]
    return object_schema({key: {"type": "string", "description": doc} for key, doc in zip(keys, docs, strict=True)})


def _make_answer_tool(keys: Hop, texts: Texts) -> ActionTool:
    """Return the tool that takes a list of moves."""
    moves = {"type": "array", "items": hop_schema(keys, texts), "maxItems": MOST_HOPS}
    return ActionTool("answer", texts["tool.doc"], {"moves": {**moves, "description": texts["tool.moves"]}})


def template_in_language(language: Json, name: str) -> PromptTemplate | None:
    """Return the template of a name in a language of ours; None in another language."""
    return prompt_templates(texts_in(str(language), TEXTS))[name] if language in TEXTS else None


@lru_cache(maxsize=256)
def _cached_opening_text(
    place_map: PlaceMap, cutoff: int, template: PromptTemplate, observations: str, lists: str, frame: Frame | None
) -> str:
    """Return the beginning of all prompts about a prefix (cached)."""
    names = _names_in_frame(prompt_names(place_map, cutoff, lists), frame)
    return opening_text(template, _visible_walkthrough_text(place_map, cutoff, observations, frame), names)


def _names_in_frame(names: PromptNames, frame: Frame | None) -> PromptNames:
    """Return names of a prompt with the actions in the words of a frame."""
    return names if frame is None else names._replace(actions=frame.actions_in_frame(names.actions))


def _visible_walkthrough_text(place_map: PlaceMap, cutoff: int, observations: str, frame: Frame | None) -> str:
    """Return the steps up to the cutoff: with their observations, or in a frame with names of places."""
    steps, last_step = place_map.steps, min(cutoff, place_map.last_step)
    if frame is not None:
        steps = frame.walkthrough_in_frame(place_map, last_step)
    elif observations != "full":
        steps = steps_with_place_names(place_map, last_step)
    return published_walkthrough_text(steps, cutoff)


def prompt_names(place_map: PlaceMap, cutoff: int, lists: str) -> PromptNames:
    """Return the names in a prompt: all of the map, or with `lists` "seen" those known from the prefix, if any."""
    if lists == "seen" and (names := seen_names(place_map, cutoff)).places:
        return names
    return all_names(place_map)
