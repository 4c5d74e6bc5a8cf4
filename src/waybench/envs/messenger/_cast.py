"""The entities of a game with their numbers, and their ways of moving."""

CHASER, FLEEING, IMMOVABLE = KINDS = ("chaser", "fleeing", "immovable")
ENEMY, MESSAGE, GOAL = ROLES = ("enemy", "message", "goal")

# In the published order, for an observation lists entities by their numbers (shared/specs/smartplay.md, section 6).
PUBLISHED = (
    "airplane",
    "mage",
    "dog",
    "bird",
    "fish",
    "scientist",
    "thief",
    "ship",
    "ball",
    "robot",
    "queen",
    "sword",
)
FURTHER = (
    "bear",
    "cat",
    "spider",
    "knight",
    "ghost",
    "crown",
    "lantern",
    "drum",
    "wagon",
    "snake",
    "tree",
    "castle",
)
# 14 is a wall, 15 and 16 are the agent without and with the message.
NUMBERS = {name: number for number, name in enumerate(PUBLISHED, 2)} | {
    name: number for number, name in enumerate(FURTHER, 17)
}
CASTS = {"published": PUBLISHED, "further": FURTHER, "both": PUBLISHED + FURTHER}
