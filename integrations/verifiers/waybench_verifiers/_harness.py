"""Asks the model from this process: one request for each turn, and no program."""

from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.clients import ModelContext
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.runtimes import ProgramResult, Runtime


class InProcessHarness(vf.Harness[vf.HarnessConfig]):
    """Sends the conversation to the model and takes its reply."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: ModelContext,
        trace: vf.Trace,
        runtime: Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> ProgramResult:
        """Make one request by way of the interception, which records it."""
        system, prompt = self.resolve_prompt(data)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        given = prompt if isinstance(prompt, list) else [vf.UserMessage(content=prompt or "")]
        messages += [message_to_wire(message) for message in given]
        async with httpx.AsyncClient(timeout=None) as client:
            answer = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        if answer.status_code != httpx.codes.OK:
            return ProgramResult(1, "", f"{answer.status_code}: {answer.text[:500]}")
        return ProgramResult(0, "", "")
