"""deepeval: a metric of one's own with a model of one's own, both as its guides show, and `evaluate`.

One client for all calls, which is kinder than the model it brings for OpenAI-compatible servers: that one makes a
client, and so a connection, for each call.
"""

# Installed in the peers' environment only.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false

from typing import Any

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase
from openai import AsyncOpenAI

from bench.judge_peers.work import CONCURRENCY, MODEL, Verdict, Work, given

FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": Verdict.model_json_schema()}}


class Model(DeepEvalBaseLLM):
    def __init__(self, work: Work) -> None:
        self.client = AsyncOpenAI(base_url=work.url, api_key="none")
        self.system = work.system
        super().__init__(MODEL)

    def load_model(self, *args: object, **options: object) -> AsyncOpenAI:
        return self.client

    def generate(self, *args: object, **options: object) -> str:
        raise NotImplementedError

    async def a_generate(self, prompt: str) -> str:
        reply = await self.client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "system", "content": self.system}, {"role": "user", "content": prompt}],
            response_format=FORMAT,
            temperature=0.0,
        )
        return reply.choices[0].message.content

    def get_model_name(self, *args: object, **options: object) -> str:
        return MODEL


class Support(BaseMetric):
    def __init__(self, work: Work, model: Model, threshold: float = 0.5) -> None:
        self.work = work
        self.model = model
        self.threshold = threshold
        self.evaluation_model = MODEL
        self.include_reason = True
        self.async_mode = True

    def measure(self, test_case: Any, *args: object, **options: object) -> float:
        raise NotImplementedError

    async def a_measure(self, test_case: Any, *args: object, **options: object) -> float:
        fields = {
            "question": test_case.input,
            "context": test_case.retrieval_context[0],
            "generated_answer": test_case.actual_output,
        }
        reply = await self.model.a_generate(self.work.ask(fields))
        verdict = Verdict.model_validate_json(reply)
        self.score = 1.0 if verdict.answer == "SUPPORTED" else 0.0
        self.reason = verdict.rationale
        self.score_breakdown = {"label": verdict.answer}
        self.success = self.score >= self.threshold
        return self.score

    def is_successful(self) -> bool:
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "Support"


def main() -> None:
    work = given()
    cases = [
        LLMTestCase(
            input=item["question"],
            actual_output=item["generated_answer"],
            retrieval_context=[item["context"]],
        )
        for item in work.items
    ]
    result = evaluate(
        cases,
        [Support(work, Model(work))],
        async_config=AsyncConfig(max_concurrent=CONCURRENCY),
        cache_config=CacheConfig(write_cache=work.cache),
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False, results_folder=str(work.folder / "runs")
        ),
    )
    scores = [data.score for test in result.test_results for data in test.metrics_data]
    work.check("SUPPORTED" if score == 1.0 else str(score) for score in scores)


if __name__ == "__main__":
    main()
