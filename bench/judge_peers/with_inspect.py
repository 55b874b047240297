"""inspect-ai: samples that bring their answers, a scorer of one's own that asks the model, its log written."""

# Installed in the peers' environment only.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false

from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
from inspect_ai.util import json_schema

from bench.judge_peers.work import CONCURRENCY, MODEL, Verdict, Work, given

CONFIG = GenerateConfig(
    temperature=0.0, response_schema=ResponseSchema(name="verdict", json_schema=json_schema(Verdict))
)


@solver
def recorded() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        state.output = ModelOutput.from_content(MODEL, state.metadata["generated_answer"])
        return state

    return solve


@scorer(metrics=[accuracy()])
def support(work: Work) -> Any:
    async def score(state: Any, target: Any) -> Any:
        fields = {
            "question": state.input_text,
            "context": state.metadata["context"],
            "generated_answer": state.output.completion,
        }
        messages = [ChatMessageSystem(content=work.system), ChatMessageUser(content=work.ask(fields))]
        reply = await get_model().generate(messages, config=CONFIG)
        verdict = Verdict.model_validate_json(reply.completion)
        return Score(
            value="C" if verdict.answer == "SUPPORTED" else "I", answer=verdict.answer, explanation=verdict.rationale
        )

    return score


def main() -> None:
    work = given()
    samples = [
        Sample(
            id=str(n),
            input=item["question"],
            metadata={"context": item["context"], "generated_answer": item["generated_answer"]},
        )
        for n, item in enumerate(work.items)
    ]
    [log] = eval(
        Task(dataset=MemoryDataset(samples), solver=recorded(), scorer=support(work)),
        model=f"openai-api/bench/{MODEL}",
        model_base_url=work.url,
        model_args={"api_key": "none"},
        display="none",
        log_dir=str(work.folder / "logs"),
        max_connections=CONCURRENCY,
        max_samples=CONCURRENCY,
    )
    assert log.status == "success", log.error
    work.check(next(iter(sample.scores.values())).answer for sample in log.samples)


if __name__ == "__main__":
    main()
