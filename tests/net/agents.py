"""An agent around a model that asks it once more, with what it said."""

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ChatMessageUser, get_model


@agent
def planner(times: int = 1) -> Agent:
    """Think before acting."""

    async def execute(state: AgentState) -> AgentState:
        for _ in range(times):
            await get_model().generate([*state.messages, ChatMessageUser(content="Think.")])
        state.output = await get_model().generate(state.messages)
        state.messages.append(state.output.message)
        return state

    return execute
