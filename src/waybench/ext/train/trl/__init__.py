"""The TRL face: episodes as rollouts for `trl.GRPOTrainer`. Needs the extra `trl`.

    session = {"env": "search/guessnum", "level": 8}
    trainer = GRPOTrainer(
        model=...,
        reward_funcs=episode_reward,
        train_dataset=prompts(**session, count=1000),
        rollout_func=rollouts(**session),
        args=GRPOConfig(...),
    )

An episode is one sequence of tokens: the prompt, and then the model's replies and the environment's answers in turn.
`environment_factory` is the other form: each reply is a call of a tool. In the first form `env_mask` keeps the answers
out of the loss. So the prompt for a reply has to be the conversation so far: environments
that write a new prompt for each turn are refused.
"""

from waybench.ext.train.trl._rollouts import episode_reward, prompts, rollouts
from waybench.ext.train.trl._tools import environment_factory, tool_prompts

__all__ = ["environment_factory", "episode_reward", "prompts", "rollouts", "tool_prompts"]
