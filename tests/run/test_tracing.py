"""Spans of calls, recorded by OpenTelemetry's own SDK; without a provider nothing is recorded."""

from pathlib import Path

from tests.chat_server import ChatServer
from tests.processes import run_python
from tests.run.judging import halo_study, supported

# In a process of its own: a provider can be set up once only, for the whole of a process.
PROGRAM = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from evenhand.run.judge import judge
from evenhand.study import Study
from tests.run.judging import judge_at

spans = InMemorySpanExporter()
with Study.open(study_file) as study:
    judge(study.store, [judge_at(url)])
assert not spans.get_finished_spans()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
with Study.open(study_file) as study:
    judge(study.store, [judge_at(url, name="other", model="o")])
for span in spans.get_finished_spans():
    print(span.name, span.attributes["gen_ai.usage.input_tokens"], span.attributes["gen_ai.response.finish_reasons"])
    assert not any("1902" in str(value) or "It was" in str(value) for value in span.attributes.values())
"""


def test_each_call_is_a_span_without_any_content_once_a_provider_is_set_up(tmp_path: Path):
    with ChatServer(supported()) as server:
        halo_study(tmp_path, 2).close()
        program = f"study_file, url = {str(tmp_path / 'study.db')!r}, {server.url!r}\n" + PROGRAM
        code, printed = run_python(Path(__file__).parents[2], program)
    assert code == 0, printed
    assert printed.splitlines() == [f"chat {server.url}#o 100 ('stop',)"] * 2
