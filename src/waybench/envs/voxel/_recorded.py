"""Scores of players without a model in the recorded search for plains, measured beforehand.

Its 20 items in our own world, of the public set: level 1 in `paper`, level 3 in `sound`. To play them again takes half
a minute, which is too long for every report. tests/envs/voxel/test_recorded.py plays them again.
"""

from waybench.core import EpisodeRecord, ReferenceScores, base_wording
from waybench.envs.voxel._wording import ACTIONS
from waybench.envs.voxel.engines import OWN

_STEPS = 200
# Beginnings of the instances' hashes. First where a thought comes before each action, so that chance has drawn in other
# turns, then without: 1 if found by saying nothing, by moving north, east, south and west in every step, by the oracle.
_SUCCESS_RATES = {
    "paper": {
        "3caaa39e0f84": ("001001", "001011"),
        "34bed6f9e3ac": ("110111", "110001"),
        "a5f3f367ce2c": ("111111", "111111"),
        "c2a021c3bf86": ("111111", "110111"),
        "7e014c26e1e8": ("110111", "110111"),
        "e50c95d807e7": ("111101", "111101"),
        "aac91f46c6ea": ("000111", "000111"),
        "5e37636f5be4": ("111101", "001111"),
        "6fc2faac29c2": ("000111", "000111"),
        "0fc787dc6484": ("110111", "110111"),
        "fcfc266630fa": ("000111", "000111"),
        "0e731dafe70c": ("111001", "111001"),
        "9e16a54b7cc0": ("111011", "111011"),
        "db9b4ef0d278": ("111111", "110101"),
        "6978bbe26230": ("111111", "111111"),
        "0532f10c5ee9": ("001111", "110111"),
        "62051a11f861": ("111011", "111011"),
        "a14dd81462f7": ("111011", "111011"),
        "e36550f7dacd": ("111111", "001011"),
        "3a519044abc4": ("110111", "111101"),
    },
    "sound": {
        "3dbde4b616af": ("000001", "001001"),
        "571d0a83433e": ("001111", "000111"),
        "01266476c90c": ("011011", "011111"),
        "bd48f928be6c": ("011111", "011111"),
        "d09dea249b3b": ("001001", "001001"),
        "d55934e64ed8": ("010111", "010111"),
        "dd3b60ab9612": ("011101", "011101"),
        "8ec0c4ba2da0": ("011011", "001011"),
        "a937953f6b0e": ("001101", "011101"),
        "bc1e77e01012": ("011011", "011011"),
        "b04b5c8f6d24": ("011001", "011011"),
        "9ba4d5ed0095": ("011011", "011011"),
        "e48d9e8ac676": ("011101", "011101"),
        "80e8b2a41bf0": ("010111", "010111"),
        "2b24a5b93448": ("010101", "010101"),
        "243e9387d275": ("000111", "000111"),
        "bd3301e869fb": ("011001", "011001"),
        "18d20aa049ee": ("010111", "010111"),
        "ed6992ed863d": ("001011", "001011"),
        "57fd3a010f69": ("011101", "011101"),
    },
}
_THINKING = {"two_questions": 0, "code": 0, "one_question": 1, "chat": 1}
_HASHED = 12  # characters of a hash that are kept


def reference_scores(record: EpisodeRecord) -> ReferenceScores | None:
    """Return the scores of saying nothing, moving in one direction and the oracle at a record's item, if measured."""
    options = record.options
    rates = _SUCCESS_RATES[options["protocol"]].get(record.instance_hash[:_HASHED])
    if rates is None or options["steps"] != _STEPS or record.instance["engine"] != OWN:
        return None
    nothing, *directions, oracle = (float(rate) for rate in rates[_THINKING[base_wording(options)]])
    return ReferenceScores(nothing, dict(zip(ACTIONS, directions, strict=True)), oracle)
