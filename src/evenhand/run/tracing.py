"""OpenTelemetry spans around calls, for users who have set OpenTelemetry up."""

from collections.abc import Awaitable
from functools import cache
from typing import Any

from evenhand.llm.base import CallError, Reply, Request


async def traced(model: str, request: Request, call: Awaitable[Reply]) -> Reply:
    """Wait for a call in a span with OpenTelemetry's attributes for generative AI; there is never any content in it."""
    trace = _opentelemetry()
    # Spans take time even if no provider was set up to receive them.
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return await call
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": request.temperature,
        "evenhand.prompt.digest": request.digest,
    }
    with trace.get_tracer("evenhand").start_as_current_span(f"chat {model}", attributes=attributes) as span:
        try:
            reply = await call
        except CallError as error:
            span.set_attribute("error.type", error.reason)
            raise
        span.set_attribute("gen_ai.response.model", reply.model)
        span.set_attribute("gen_ai.response.finish_reasons", [reply.finish])
        if reply.usage is not None:
            span.set_attribute("gen_ai.usage.input_tokens", reply.usage.input)
            span.set_attribute("gen_ai.usage.output_tokens", reply.usage.output)
        return reply


@cache
def _opentelemetry() -> Any:
    """OpenTelemetry's API; None if it is not installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace
