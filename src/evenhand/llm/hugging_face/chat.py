"""A chat with a Hugging Face model in this process: many callers, one thread that answers in batches."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from typing import Any

from evenhand.errors import UserError
from evenhand.llm.base import BeforeRetry, CallError, Reply, Request
from evenhand.llm.hugging_face.decoding import Decoder, Generation
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
NO_MEMORY = "out of memory"


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
        self._decoder = Decoder(loaded)
        self._batch_size = batch_size
        self._places = PLACES * batch_size
        self.pace = RateLimiter(self._places)
        self._arriving: queue.SimpleQueue[Generation | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    @classmethod
    def of(cls, model: object, tokenizer: object, *, device: str = "auto", batch_size: int = 8) -> "HuggingFaceChat":
        """A chat with a model that is already loaded. It stays on its device unless another is named."""
        return cls(LoadedModel.of(model, tokenizer, device=device), batch_size=batch_size)

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """Ask once. A prompt that does not fit into the context is a CallError: nothing is ever cut off."""
        if self._closed.is_set():
            raise CallError(CLOSED)
        if self._thread is None:
            # A daemon, so that a program that ends without closing does not hang.
            self._thread = threading.Thread(target=self._work, name=f"evenhand {self.model}", daemon=True)
            self._thread.start()
        job = Generation(request, self._closed)
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
        if self._answered(jobs):
            return
        # Only here have the tensors of the failed try been released; inside the handler they were not.
        _free_memory()
        if len(jobs) == 1:
            jobs[0].settle(CallError(NO_MEMORY))
        else:
            self._batch_size = (len(jobs) + 1) // 2

    def _answered(self, jobs: Sequence[Generation]) -> bool:
        """Answer these together; False if there was not enough memory."""
        try:
            results = self._decoder.replies(jobs)
        except Exception as error:  # noqa: BLE001 - it belongs to the callers, not to this thread
            if _lacks_memory(error):
                return False
            for job in jobs:
                job.settle(error)
            return True
        for job, result in zip(jobs, results, strict=True):
            job.settle(CallError(CLOSED) if self._closed.is_set() and isinstance(result, CallError) else result)
        return True


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
