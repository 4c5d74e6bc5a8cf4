"""The environment takes the user's part: it answers each reply until the episode is over."""

import verifiers.v1 as vf
from waybench.core import Reply, message_text

from waybench_verifiers._taskset import INFO, WaybenchTask


class WaybenchConfig(vf.EnvConfig):
    """The one agent, on this machine: nothing of what a model says is executed, so that no other place is needed."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class WaybenchEnvironment(vf.Env[WaybenchConfig]):
    """One episode for each task."""

    async def run(self, task: WaybenchTask, agents: vf.Agents) -> None:  # type: ignore[override]
        """Play an episode."""
        session = task.session()
        turn = session.start(task.data.index, player="verifiers")
        rewards: list[float] = []
        async with agents.player.interaction(task) as interaction:
            trace = interaction.trace
            segment = await interaction.turn()
            while not segment.terminated:
                # `last_reply` is stripped, and an environment reads what was said.
                said = [message for message in segment.messages if message.role == "assistant"]
                text = (message_text(said[-1].content) or "") if said else ""
                turn = session.reply(Reply(text, "truncated" if trace.is_truncated else "stop"))
                rewards.append(turn.reward)
                trace.info[INFO] = {"rewards": rewards, "record": session.record().to_json()}
                if turn.done:
                    break
                segment = await interaction.turn(turn.text)
        for name, value in turn.info.get("metrics", {}).items():
            if value is not None:
                trace.record_metric(name, float(value))
