"""A chat with a Hugging Face model in this process: many callers, one thread that answers in batches.

transformers does the arithmetic: `generate` with greedy search. Which token comes next is decided here, for each row by
its own schema, temperature and seed: all other tokens get probability 0. So the rows of a batch are independent, and a
reply is the same whatever it was batched with, apart from the rounding of sums, which depends on the batch's shape.
"""

import asyncio
import codecs
import math
import queue
import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from evenhand.errors import UserError
from evenhand.llm.base import BeforeRetry, CallError, Choice, Reply, Request, RunError, Schema, Usage
from evenhand.llm.hugging_face.model import ChatTemplate, LoadedModel, package
from evenhand.llm.rate_limit import RateLimiter

PLACES = 4
"""Batches of calls that may wait, so that each batch can be made of prompts of about the same length."""

LINGER = 0.02
"""Seconds to wait for more requests before starting a batch that is not full."""

SPREAD = 64
"""Tokens, or an eighth of the length, by which the prompts of a batch may differ in length from its first.

A short prompt in a batch with a long one is padded and costs as much: six prompts of 2,000 to 9,000 tokens took six
times as long together as one after the other.
"""

CLOSED = "the model was closed"

COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""JSON on one line: small models that may write white space anywhere fill their replies with it."""

SCHEMAS = 256
"""Compiled schemas that are kept."""

Alternatives = list[tuple[int, float]]


@dataclass(eq=False)
class Generation:
    """A request and its reply in progress, up to a `finish` or a `failure`. The future can be cancelled until then."""

    request: Request
    answer: "Future[Reply]" = field(default_factory=lambda: Future[Reply]())
    prompt: Sequence[int] = ()
    matcher: Any = None
    dice: Any = None
    written: list[int] = field(default_factory=list[int])
    alternatives: list[Alternatives] = field(default_factory=list[Alternatives])
    finish: str | None = None
    failure: str | None = None
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        return self.finish is not None or self.failure is not None

    def settle(self, result: Reply | BaseException) -> None:
        with suppress(InvalidStateError):  # cancelled in the meantime
            if isinstance(result, Reply):
                self.answer.set_result(result)
            else:
                self.answer.set_exception(result)


class HuggingFaceChat:
    """A model on this machine. Replies obey the schema of their request, because no other token can be chosen.

    Temperature 0 is greedy. Above it, a seeded request gets the same reply again on the same machine, whatever else is
    asked at the same time, apart from rounding: sums over a batch of another shape differ in their last digits, which
    in half precision occasionally changes a token. Log probabilities are those of the distribution that the schema
    allows, at temperature 1. `seconds` of a reply count from the start of its batch.
    """

    def __init__(
        self, source: str | LoadedModel, *, device: str = "auto", dtype: str = "auto", batch_size: int = 8
    ) -> None:
        if batch_size < 1:
            raise UserError(f"batch_size must be 1 or more, not {batch_size}")
        package("llguidance.hf")
        loaded = LoadedModel.load(source, device=device, dtype=dtype) if isinstance(source, str) else source
        self.model = loaded.name
        self._template = ChatTemplate(loaded.tokenizer)
        self._closed = threading.Event()
        self._decoder = Decoder(loaded, self._closed)
        self._batch_size = batch_size
        self._places = PLACES * batch_size
        self.pace = RateLimiter(self._places)
        self._arriving: queue.SimpleQueue[Generation | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """Ask once. A prompt that does not fit into the context is a CallError: nothing is ever cut off."""
        if self._closed.is_set():
            raise CallError(CLOSED)
        if self._thread is None:
            # A daemon, so that a program that ends without closing does not hang.
            self._thread = threading.Thread(target=self._work, name=f"evenhand {self.model}", daemon=True)
            self._thread.start()
        job = Generation(request)
        self._arriving.put(job)
        return await asyncio.wrap_future(job.answer)

    async def close(self) -> None:
        """Stop the thread after the token it is writing. Calls that still wait get a CallError."""
        self._closed.set()
        if self._thread is not None:
            self._arriving.put(None)
            await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        waiting: list[Generation] = []
        while not self._closed.is_set():
            self._collect(waiting)
            waiting = [job for job in waiting if not job.answer.done()]
            if waiting and not self._closed.is_set():
                self._answer(self._next_batch(waiting))
                waiting = [job for job in waiting if not job.answer.done()]
        while not self._arriving.empty():
            waiting += filter(None, [self._arriving.get()])
        for job in waiting:
            job.settle(CallError(CLOSED))

    def _collect(self, waiting: list[Generation]) -> None:
        """Take in what has arrived: wait for a first request, and a moment for others if the batch is not full."""
        while len(waiting) < self._places:
            try:
                short = len(waiting) < self._batch_size
                job = self._arriving.get(timeout=LINGER if short else 0) if waiting else self._arriving.get()
            except queue.Empty:
                return
            if job is None:
                return
            try:
                job.prompt = self._template.tokens(job.request.messages)
                self._decoder.check(job)
            except Exception as error:  # noqa: BLE001 - it belongs to the caller, not to this thread
                job.settle(error)
            waiting.append(job)

    def _next_batch(self, waiting: Sequence[Generation]) -> list[Generation]:
        """The request that has waited longest, so that none starves, with those nearest to it in length."""
        length = len(waiting[0].prompt)
        distances = [(abs(len(job.prompt) - length), job) for job in waiting]
        near = [pair for pair in distances if pair[0] <= max(SPREAD, length // 8)]
        return [job for _, job in sorted(near, key=lambda pair: pair[0])][: self._batch_size]

    def _answer(self, jobs: Sequence[Generation]) -> None:
        """Answer these together, or, if there is not enough memory, leave them waiting for smaller batches."""
        try:
            results = self._decoder.replies(jobs)
        except Exception as error:  # noqa: BLE001 - it belongs to the callers, not to this thread
            results = None if _lacks_memory(error) else [error] * len(jobs)
        if results is not None:
            for job, result in zip(jobs, results, strict=True):
                job.settle(result)
            return
        # Only here have the tensors of the failed try been released; inside the handler they were not.
        torch: Any = package("torch")
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        elif torch.backends.mps.is_available():
            torch.mps.empty_cache()
        if len(jobs) == 1:
            jobs[0].settle(CallError("out of memory"))
        else:
            self._batch_size = (len(jobs) + 1) // 2


def _lacks_memory(error: Exception) -> bool:
    # Graphics cards have an exception class for it; the CPU's allocator and Apple's only have a message.
    text = str(error).lower()
    return isinstance(error, MemoryError | package("torch").OutOfMemoryError) or (
        isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)
    )


class Decoder:
    """Answers batches of prompts with one model, until it is closed. Not thread-safe."""

    def __init__(self, loaded: LoadedModel, closed: threading.Event) -> None:
        self._torch = package("torch")
        self._executor = package("llguidance").LLExecutor()
        self._loaded = loaded
        self._closed = closed
        self._compiled = lru_cache(maxsize=SCHEMAS)(self._compile)
        self._rows: Sequence[Generation] = ()
        self._began = 0.0

    def check(self, row: Generation) -> None:
        """Raise CallError if the reply cannot be written: no room for it, or a schema that cannot be enforced."""
        limit, most = self._loaded.context, row.request.max_tokens
        if limit is not None and most >= limit:
            raise RunError(f"max_tokens of {most} leaves no room for a prompt: the model's context has {limit} tokens")
        if limit is not None and len(row.prompt) + most > limit:
            raise CallError("the prompt is longer than the model's context")
        self._matcher(row.request)

    def replies(self, rows: Sequence[Generation]) -> list[Reply | CallError]:
        """A reply, or why there is none, for each row in order. A row that was in progress starts again."""
        transformers = package("transformers")
        for row in rows:
            self._reset(row)
        self._rows, self._began = rows, time.monotonic()
        # The short prompts are padded on the left, where the mask keeps attention away.
        width = max(len(row.prompt) for row in rows)
        tokens = [[self._loaded.padding] * (width - len(row.prompt)) + list(row.prompt) for row in rows]
        mask = [[0] * (width - len(row.prompt)) + [1] * len(row.prompt) for row in rows]
        tensor, device = self._torch.tensor, self._loaded.model.device
        with self._torch.inference_mode():
            self._loaded.model.generate(
                input_ids=tensor(tokens, device=device),
                attention_mask=tensor(mask, device=device),
                max_new_tokens=max(row.request.max_tokens for row in rows),
                logits_processor=transformers.LogitsProcessorList([self._choose]),
                stopping_criteria=transformers.StoppingCriteriaList([self._ended]),
            )
        return [self._reply(row) for row in rows]

    def _reset(self, row: Generation) -> None:
        request = row.request
        row.matcher, row.dice = self._matcher(request), None
        row.written, row.alternatives = [], []
        row.finish = row.failure = None
        if request.temperature > 0:
            seed = secrets.randbits(63) if request.seed is None else request.seed % 2**63
            row.dice = self._torch.Generator().manual_seed(seed)

    def _matcher(self, request: Request) -> Any:
        """A fresh matcher for the schema, if there is one. Compiled once, copied for each row."""
        return None if request.schema is None else self._compiled(request.schema).deep_copy()

    def _compile(self, schema: Schema) -> Any:
        llguidance = package("llguidance")
        try:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(schema.text, overrides=COMPACT)
        except ValueError as error:
            raise RunError(f"the schema {schema.name} is not JSON: {error}") from error
        matcher = llguidance.LLMatcher(self._loaded.vocabulary, grammar, log_level=0)
        if matcher.is_error():
            raise RunError(f"the schema {schema.name} cannot be enforced: {matcher.get_error()}")
        return matcher

    def _reply(self, row: Generation) -> Reply | CallError:
        text, offsets = self._text(row.written)
        if row.finish is None:
            return CallError(row.failure or CLOSED, raw=text or None)
        choices = tuple(
            Choice(offset, self._piece(token), tuple((self._piece(other), value) for other, value in others))
            for token, offset, others in zip(row.written, offsets, row.alternatives, strict=False)
            if token not in self._loaded.ends
        )
        usage = Usage(len(row.prompt), len(row.written))
        return Reply(text, row.finish, usage, self._loaded.name, choices, row.seconds)

    def _text(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of the tokens, and where each begins. A character that was cut in the middle is left out."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text, offsets = "", list[int]()
        special = set(self._loaded.tokenizer.all_special_ids) | set(self._loaded.ends)
        for token in tokens:
            offsets.append(len(text))
            text += "" if token in special else decoder.decode(self._loaded.vocabulary.decode_bytes([token]))
        return text, offsets

    def _piece(self, token: int) -> str:
        return self._loaded.vocabulary.decode_bytes([token]).decode("utf-8", "replace")

    def _choose(self, input_ids: Any, scores: Any) -> Any:
        """Scores that leave one token to each row. Called once more than needed if the end is noticed late."""
        scores = self._allowed(scores)
        best = scores.max(dim=-1)
        highest, chosen = best.values.tolist(), best.indices.tolist()
        for index, row in enumerate(self._rows):
            if row.done:
                chosen[index] = self._loaded.padding
            elif not math.isfinite(highest[index]):
                row.failure = "the model's output is not a number"
            else:
                if row.dice is not None:
                    chances = self._torch.softmax(scores[index].double().cpu() / row.request.temperature, dim=-1)
                    chosen[index] = int(self._torch.multinomial(chances, 1, generator=row.dice))
                self._take(row, chosen[index], scores[index])
        forced = self._torch.full_like(scores, -math.inf)
        forced[range(len(chosen)), chosen] = 0.0
        return forced

    def _ended(self, input_ids: Any, scores: Any, **_: object) -> Any:
        """Which rows have ended. A row whose caller has gone ends too."""
        for row in self._rows:
            if not row.done and (row.answer.cancelled() or self._closed.is_set()):
                row.failure = CLOSED if self._closed.is_set() else "the caller has gone"
        return self._torch.tensor([row.done for row in self._rows], device=input_ids.device)

    def _allowed(self, scores: Any) -> Any:
        """Scores with minus infinity for tokens that a row's schema does not allow next."""
        bound = [row.matcher is not None and not row.done for row in self._rows]
        if not any(bound):
            return scores
        held = [(row.matcher, index) for index, row in enumerate(self._rows) if bound[index]]
        size = self._loaded.vocabulary.vocab_size
        masks = package("llguidance.numpy")
        bits = masks.allocate_token_bitmask(len(self._rows), size)
        masks.fill_next_token_bitmask_par(self._executor, held, bits)
        known = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :size].astype(bool)
        # A model may have more or fewer output rows than its tokenizer has entries.
        mask = np.zeros(tuple(scores.shape), dtype=bool)
        mask[:, :size] = known[:, : mask.shape[1]]
        mask[~np.array(bound)] = True
        return scores.masked_fill(~self._torch.from_numpy(mask).to(scores.device), -math.inf)

    def _take(self, row: Generation, token: int, scores: Any) -> None:
        if row.request.logprobs:
            # Of the distribution that the schema allows, at temperature 1.
            top = self._torch.log_softmax(scores, dim=-1).topk(min(row.request.logprobs, scores.shape[-1]))
            pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
            row.alternatives.append([(other, value) for other, value in pairs if value > -math.inf])
        row.written.append(token)
        row.seconds = time.monotonic() - self._began
        if row.matcher is not None and not row.matcher.consume_token(token):
            row.failure = f"the schema was lost: {row.matcher.get_error()}"
        elif token in self._loaded.ends or (row.matcher is not None and row.matcher.is_stopped()):
            row.finish = "stop"
        elif len(row.written) >= row.request.max_tokens:
            row.finish = "length"
