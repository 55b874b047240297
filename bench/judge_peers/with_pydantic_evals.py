"""pydantic-evals: cases that bring their answers, an evaluator of one's own that runs an agent with native JSON output.

It keeps a report in memory; so that something is kept, the report is written as JSON at the end.
"""

# Installed in the peers' environment only.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false

from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EvaluationReason, Evaluator
from pydantic_evals.reporting import EvaluationReportAdapter

from bench.judge_peers.work import CONCURRENCY, MODEL, Verdict, Work, given

WORK: list[tuple[Work, Any]] = []


@dataclass
class Support(Evaluator):
    async def evaluate(self, ctx: Any) -> Any:
        work, agent = WORK[0]
        reply = await agent.run(work.ask({**ctx.inputs, "generated_answer": ctx.output}))
        return EvaluationReason(value=reply.output.answer, reason=reply.output.rationale)


def main() -> None:
    work = given()
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=work.url, api_key="none"))
    WORK.append((work, Agent(model, output_type=NativeOutput(Verdict), system_prompt=work.system)))
    answers = {item["question"]: item["generated_answer"] for item in work.items}
    cases = [
        Case(name=str(n), inputs={"question": item["question"], "context": item["context"]})
        for n, item in enumerate(work.items)
    ]

    async def answer(inputs: dict[str, str]) -> str:
        return answers[inputs["question"]]

    dataset = Dataset(name="support", cases=cases, evaluators=[Support()])
    report = dataset.evaluate_sync(answer, max_concurrency=CONCURRENCY, progress=False)
    (work.folder / "report.json").write_bytes(EvaluationReportAdapter.dump_json(report))
    work.check(case.labels["Support"].value for case in report.cases)


if __name__ == "__main__":
    main()
