"""OpenTelemetry spans of calls, where the user has set OpenTelemetry up; nothing otherwise, and never any content.

Names and attributes follow OpenTelemetry's conventions for generative AI.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from evenhand.llm.base import CallError, Reply, Request


class CallSpan:
    """What is told of one call; this one keeps it to itself."""

    def replied(self, reply: Reply) -> None: ...


class _RecordedSpan(CallSpan):
    def __init__(self, span: Any) -> None:
        self._span = span

    def replied(self, reply: Reply) -> None:
        self._span.set_attribute("gen_ai.response.model", reply.model)
        self._span.set_attribute("gen_ai.response.finish_reasons", [reply.finish])
        if reply.usage is not None:
            self._span.set_attribute("gen_ai.usage.input_tokens", reply.usage.input)
            self._span.set_attribute("gen_ai.usage.output_tokens", reply.usage.output)


class Tracer:
    """Makes spans; this one makes none."""

    @contextmanager
    def call(self, model: str, request: Request) -> Generator[CallSpan]:
        yield CallSpan()


class _RecordingTracer(Tracer):
    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer

    @contextmanager
    def call(self, model: str, request: Request) -> Generator[CallSpan]:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": request.max_tokens,
            "gen_ai.request.temperature": request.temperature,
            "evenhand.prompt.digest": request.digest,
        }
        with self._tracer.start_as_current_span(f"chat {model}", attributes=attributes) as span:
            try:
                yield _RecordedSpan(span)
            except CallError as error:
                span.set_attribute("error.type", error.reason)
                raise


def tracer() -> Tracer:
    """A tracer that records where OpenTelemetry is installed and a provider is set up, as `opentelemetry-instrument`
    or the calling program does; one that does nothing otherwise."""
    try:
        from opentelemetry import trace
    except ImportError:
        return Tracer()
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return Tracer()
    return _RecordingTracer(trace.get_tracer("evenhand"))
