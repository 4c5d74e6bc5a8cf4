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
    published_answer,
    sound_answer,
    trajectory,
)
from waybench.envs.textmap._frame import GAME, Frame
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap
from waybench.envs.textmap._prefix import PromptNames, all_names, seen_names, simplify_steps, walkthrough
from waybench.envs.textmap._texts import ENGLISH, LEAD, TEXTS
from waybench.envs.textmap.worlds._data import DIRECTIONS


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt template. The texts have placeholders such as {source}, {target} and {walkthrough}.

    `opening` is the beginning of all questions. `keys` are those that the answer must have. `lists` is the format of
    lists: "python", "json", or "bare", without quotes and brackets. `lead` is the end of the prompt that the answer
    continues.
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


def templates(texts: Texts) -> dict[str, PromptTemplate]:
    """Return the templates by name, in the language of some texts."""
    return {
        name: PromptTemplate(
            name, texts[f"{name}.opening"], texts[f"{name}.route"], texts[f"{name}.destination"], keys, lists, lead
        )
        for name, (keys, lists, lead) in _FORMS.items()
    }


TEMPLATES = templates(ENGLISH)
CHAT, COMPLETION, PAPER_EXAMPLES, PLAIN = TEMPLATES.values()


def opening(template: PromptTemplate, walkthrough: str, names: PromptNames) -> str:
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
        words = {name: normalize_name(texts[f"direction.{name}"]) for name in DIRECTIONS}
        self._directions = {word: name for name, word in words.items() if word != name}
        self.reads_truncated = published  # as in the published runs, where a complete list counted
        self._template, self._observations, self._lists = template, observations, lists
        self._published, self._tool = published, _answer_tool(template.keys, texts)
        field = Field[MapQuestion]
        self.rule_fields = (
            field("walkthrough", "The part of the walkthrough that is shown.", self._walkthrough),
            field(
                "places", "The list of places.", lambda question: format_names(self._names(question).places, template)
            ),
            field(
                "actions",
                "The list of actions.",
                lambda question: format_names(self._names(question).actions, template),
            ),
            field("frame", "How moves are worded, unless in the game's words.", lambda question: self._note),
            field("question", "The question, with the form of the answer.", self._question),
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
                lambda question: format_names(self._framed(question).actions, template) if question.actions else "",
            ),
            field("lead", "The beginning of the answer, if the base wording gives one.", lambda _: template.lead),
        )

    def in_language(self, texts: Texts) -> "QuestionWording":
        template = templates(texts)[self.name]
        return QuestionWording(
            template,
            self._observations,
            self._lists,
            published=self._published,
            texts=texts,
            frame=self._frame.name if self._frame else GAME,
        )

    def _names(self, instance: MapQuestion) -> PromptNames:
        return _framed_names(prompt_names(instance.map, instance.cutoff, self._lists), self._frame)

    def _walkthrough(self, instance: MapQuestion) -> str:
        return _visible_walkthrough(instance.map, instance.cutoff, self._observations, self._frame)

    def _framed(self, question: MapQuestion) -> ScoredQuestion:
        return self._frame.question(question.map, question) if self._frame else question

    def _question(self, question: MapQuestion) -> str:
        return question_text(self._template, self._framed(question))

    def opening(self, place_map: PlaceMap, cutoff: int) -> str:
        """Return the beginning of all prompts about a prefix."""
        beginning = _opening(place_map, cutoff, self._template, self._observations, self._lists, self._frame)
        end = beginning[len(beginning.rstrip("\n")) :]  # the note is a paragraph like those before it
        return f"{beginning}{self._note}{end}" if self._note else beginning

    def rules(self, instance: MapQuestion) -> str:
        """Return the whole prompt: the opening and the question."""
        return self.opening(instance.map, instance.cutoff) + self._question(instance)

    def parse(self, reply: str, state: AnswerState[MapQuestion]) -> Trajectory | Invalid:
        """Parse a trajectory."""
        parse_answer = published_answer if self._published else sound_answer
        return self._in_game_words(parse_answer(reply, self._template.keys, self._template.lead, self.texts), state)

    def _in_game_words(self, hops: Trajectory | Invalid, state: AnswerState[MapQuestion]) -> Trajectory | Invalid:
        """Return an answer with the game's actions in place of the words of the language and of the frame."""
        hops = hops if isinstance(hops, Invalid) else self._translate_directions(hops, state)
        if isinstance(hops, Invalid) or self._frame is None:
            return hops
        return self._frame.read(state.instance.map, state.instance, hops, self.texts)

    def _translate_directions(self, hops: Trajectory, state: AnswerState[MapQuestion]) -> Trajectory:
        """Return an answer with the game's actions in place of the language's words for directions."""
        if not self._directions:
            return hops
        index = move_index(state.instance.map)

        def action(name: str) -> str:
            is_of_map = index.resolve_action(name, (), SOUND) is not None
            return name if is_of_map else self._directions.get(normalize_name(name), name)

        return tuple(hop._replace(action=action(hop.action)) for hop in hops)

    def render(self, action: Trajectory, state: AnswerState[MapQuestion]) -> str:
        """Return a trajectory as JSON, which is also a Python literal, as a continuation of the prompt's lead."""
        keys, rows = self._template.keys, self._rows(action, state)
        # The published parser would take a bracket in a name for the end of the list.
        inside = json.dumps(rows, ensure_ascii=False)[1:-1].replace("]", "\\u005d")
        return inside.removeprefix(f'{{"{keys.before}":') + "]" if self._template.lead else f"[{inside}]"

    def tools(self, state: AnswerState[MapQuestion]) -> tuple[ActionTool, ...]:
        """Return the tool that takes a trajectory."""
        return (self._tool,)

    def parse_call(self, call: ToolCall, state: AnswerState[MapQuestion]) -> Trajectory | Invalid:
        """Read a trajectory."""
        return self._in_game_words(trajectory(call.arguments["moves"], self._template.keys, self.texts), state)

    def render_call(self, action: Trajectory, state: AnswerState[MapQuestion]) -> ToolCall:
        """Return a call with the trajectory."""
        return ToolCall("answer", {"moves": self._rows(action, state)})

    def _rows(self, action: Trajectory, state: AnswerState[MapQuestion]) -> list[dict[str, str]]:
        if self._frame is not None:
            action = self._frame.write(state.instance.map, state.instance, action)
        return [dict(zip(self._template.keys, hop, strict=True)) for hop in action]


def hop_schema(keys: Hop, texts: Texts = ENGLISH) -> dict[str, Json]:
    """Return the JSON schema of a move of an answer."""
    docs = [texts[f"tool.{name}"] for name in ("before", "action", "after")]
    return object_schema({key: {"type": "string", "description": doc} for key, doc in zip(keys, docs, strict=True)})


def _answer_tool(keys: Hop, texts: Texts) -> ActionTool:
    moves = {"type": "array", "items": hop_schema(keys, texts), "maxItems": MOST_HOPS}
    return ActionTool("answer", texts["tool.doc"], {"moves": {**moves, "description": texts["tool.moves"]}})


def template_in(language: Json, name: str) -> PromptTemplate | None:
    """Return the template of a name in a language of ours; None in another language."""
    return templates(texts_in(str(language), TEXTS))[name] if language in TEXTS else None


@lru_cache(maxsize=256)
def _opening(
    place_map: PlaceMap, cutoff: int, template: PromptTemplate, observations: str, lists: str, frame: Frame | None
) -> str:
    names = _framed_names(prompt_names(place_map, cutoff, lists), frame)
    return opening(template, _visible_walkthrough(place_map, cutoff, observations, frame), names)


def _framed_names(names: PromptNames, frame: Frame | None) -> PromptNames:
    return names if frame is None else names._replace(actions=frame.actions(names.actions))


def _visible_walkthrough(place_map: PlaceMap, cutoff: int, observations: str, frame: Frame | None) -> str:
    steps, last = place_map.steps, min(cutoff, place_map.last_step)
    if frame is not None:
        steps = frame.steps(place_map, last)
    elif observations != "full":
        steps = simplify_steps(place_map, last)
    return walkthrough(steps, cutoff)


def prompt_names(place_map: PlaceMap, cutoff: int, lists: str) -> PromptNames:
    """Return the names in a prompt: all of the map, or with `lists` "seen" those known from the prefix, if any."""
    names = seen_names(place_map, cutoff) if lists == "seen" else all_names(place_map)
    return names if names.places else all_names(place_map)
