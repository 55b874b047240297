"""A chat with a Hugging Face model in this process: many callers, one thread that answers in batches."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import UserError
from evenhand.llm.base import BeforeRetry, CallError, Reply, Request
from evenhand.llm.hugging_face.chat_template import ChatTemplate
from evenhand.llm.hugging_face.decoding import Decoder, GenerationRow
from evenhand.llm.hugging_face.model import LoadedModel, package
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
NO_MEMORY = "out of memory"


@dataclass(eq=False)
class _Job:
    """One request and the future of its reply, which stays pending during the work so that it can be cancelled."""

    request: Request
    answer: "Future[Reply]" = field(default_factory=lambda: Future[Reply]())
    row: GenerationRow | None = None

    def settle(self, result: Reply | BaseException) -> None:
        try:
            if isinstance(result, Reply):
                self.answer.set_result(result)
            else:
                self.answer.set_exception(result)
        except InvalidStateError:
            pass  # cancelled in the meantime

    @property
    def length(self) -> int:
        return len(self.row.prompt) if self.row else 0


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
        self._loaded = LoadedModel.load(source, device=device, dtype=dtype) if isinstance(source, str) else source
        self._template = ChatTemplate(self._loaded.tokenizer)
        self._decoder = Decoder(self._loaded)
        self._batch_size = batch_size
        self._places = PLACES * batch_size
        self.pace = RateLimiter(self._places)
        self._arriving: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    @classmethod
    def of(cls, model: object, tokenizer: object, *, device: str = "auto", batch_size: int = 8) -> "HuggingFaceChat":
        """A chat with a model that is already loaded. It stays on its device unless another is named."""
        return cls(LoadedModel.of(model, tokenizer, device=device), batch_size=batch_size)

    @property
    def model(self) -> str:
        return self._loaded.name

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """Ask once. A prompt that does not fit into the context is a CallError: nothing is ever cut off."""
        if self._closed.is_set():
            raise CallError(CLOSED)
        if self._thread is None:
            # A daemon, so that a program that ends without closing does not hang.
            self._thread = threading.Thread(target=self._work, name=f"evenhand {self.model}", daemon=True)
            self._thread.start()
        job = _Job(request)
        self._arriving.put(job)
        return await asyncio.wrap_future(job.answer)

    async def close(self) -> None:
        """Stop the thread after the token it is writing. Calls that still wait get a CallError."""
        self._closed.set()
        if self._thread is not None:
            self._arriving.put(None)
            await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        waiting: list[_Job] = []
        while not self._closed.is_set():
            self._collect(waiting)
            _drop_settled(waiting)
            if waiting and not self._closed.is_set():
                self._answer(self._next_batch(waiting))
                _drop_settled(waiting)
        while not self._arriving.empty():
            waiting += filter(None, [self._arriving.get()])
        for job in waiting:
            job.settle(CallError(CLOSED))

    def _collect(self, waiting: list[_Job]) -> None:
        """Take in what has arrived: wait for a first request, and a moment for others if the batch is not full."""
        while len(waiting) < self._places:
            try:
                short = len(waiting) < self._batch_size
                job = self._arriving.get(timeout=LINGER if short else 0) if waiting else self._arriving.get()
            except queue.Empty:
                return
            if job is None:
                return
            self._prepare(job)
            waiting.append(job)

    def _prepare(self, job: _Job) -> None:
        def unwanted() -> bool:
            return job.answer.cancelled() or self._closed.is_set()

        try:
            job.row = GenerationRow(job.request, self._template.tokens(job.request.messages), unwanted)
            self._decoder.check(job.row)
        except Exception as error:  # noqa: BLE001 - it belongs to the caller, not to this thread
            job.settle(error)

    def _next_batch(self, waiting: Sequence[_Job]) -> list[_Job]:
        """The request that has waited longest, so that none starves, with those nearest to it in length."""
        first = waiting[0]
        spread = max(SPREAD, first.length // 8)
        near = [job for job in waiting if abs(job.length - first.length) <= spread]
        return sorted(near, key=lambda job: abs(job.length - first.length))[: self._batch_size]

    def _answer(self, jobs: Sequence[_Job]) -> None:
        """Answer these together, or, if there is not enough memory, leave them waiting for smaller batches."""
        if self._answered(jobs):
            return
        # Only here have the tensors of the failed try been released; inside the handler they were not.
        _free_memory()
        if len(jobs) == 1:
            jobs[0].settle(CallError(NO_MEMORY))
        else:
            self._batch_size = (len(jobs) + 1) // 2

    def _answered(self, jobs: Sequence[_Job]) -> bool:
        """Answer these together; False if there was not enough memory."""
        try:
            results = self._decoder.replies([job.row for job in jobs if job.row])
        except Exception as error:  # noqa: BLE001 - it belongs to the callers, not to this thread
            if _lacks_memory(error):
                return False
            for job in jobs:
                job.settle(error)
            return True
        for job, result in zip(jobs, results, strict=True):
            job.settle(CallError(CLOSED) if self._closed.is_set() and isinstance(result, CallError) else result)
        return True


def _drop_settled(jobs: list[_Job]) -> None:
    jobs[:] = [job for job in jobs if not job.answer.done()]


def _lacks_memory(error: Exception) -> bool:
    # Graphics cards have an exception class for it; the CPU's allocator and Apple's only have a message.
    text = str(error).lower()
    return isinstance(error, MemoryError | package("torch").OutOfMemoryError) or (
        isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)
    )


def _free_memory() -> None:
    torch: Any = package("torch")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
