"""A chat with a Hugging Face model that runs in this process: many askers, one thread that answers in batches."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import UserError
from evenhand.llm.base import BeforeRetry, CallError, Reply, Request
from evenhand.llm.chat_template import ChatTemplate
from evenhand.llm.decoding import Decoder, Row
from evenhand.llm.loaded_model import LoadedModel, package

PLACES = 4
"""Places for calls, in batches: so many requests wait that a batch finds others of about its length."""

LINGER = 0.02
"""Seconds to wait for more requests before a batch that is not full."""

SPREAD = 64
"""Tokens, or an eighth of the length, that prompts of one batch may be longer or shorter than its first.

A short prompt beside a long one is filled up and costs as much: six prompts of 2,000 to 9,000 tokens took six times as
long together as one after the other.
"""

CLOSED = "the model was closed"
NO_MEMORY = "out of memory"


class FixedPace:
    """Always the same number of places."""

    def __init__(self, places: int) -> None:
        self.width = places
        self._places = asyncio.Semaphore(places)

    async def __aenter__(self) -> "FixedPace":
        await self._places.acquire()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._places.release()


@dataclass(eq=False)
class _Job:
    """One request with the place for its reply. `answer` stays pending while under way: so it can be cancelled."""

    request: Request
    answer: "Future[Reply]" = field(default_factory=lambda: Future[Reply]())
    row: Row | None = None

    def settle(self, result: Reply | BaseException) -> None:
        try:
            if isinstance(result, Reply):
                self.answer.set_result(result)
            else:
                self.answer.set_exception(result)
        except InvalidStateError:
            pass  # cancelled in the meantime: nobody waits

    @property
    def length(self) -> int:
        return len(self.row.prompt) if self.row else 0


class HuggingFaceChat:
    """A model on this machine. Replies obey the schema of their request, since no other token can be chosen.

    Temperature 0 is greedy. Above it, a seeded request gets the same reply again on the same machine, whatever else is
    asked meanwhile, as far as rounding goes: sums over a batch of another shape differ in their last digits, which in
    half precision turns a token now and then. Log probabilities are those of the distribution that the schema leaves,
    at temperature 1. `seconds` of a reply are those since its batch began.
    """

    def __init__(
        self, source: str | LoadedModel, *, device: str = "auto", dtype: str = "auto", batch_size: int = 8
    ) -> None:
        if batch_size < 1:
            raise UserError(f"batch_size: {batch_size} is too few; valid are 1 and more")
        package("llguidance.hf")
        self._loaded = LoadedModel.load(source, device=device, dtype=dtype) if isinstance(source, str) else source
        self._template = ChatTemplate(self._loaded.tokenizer)
        self._decoder = Decoder(self._loaded)
        self._batch_size = batch_size
        self._places = PLACES * batch_size
        self._pace = FixedPace(self._places)
        self._arriving: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    @classmethod
    def of(cls, model: object, tokenizer: object, *, device: str = "auto", batch_size: int = 8) -> "HuggingFaceChat":
        """A chat with a model that is loaded already. It stays where it is unless a device is named."""
        return cls(LoadedModel.of(model, tokenizer, device=device), batch_size=batch_size)

    @property
    def model(self) -> str:
        return self._loaded.name

    @property
    def pace(self) -> FixedPace:
        return self._pace

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """Ask once. A prompt that does not fit the context is a CallError: nothing is ever cut off."""
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
        """Stop the thread, after the token it is writing. Whoever still waits gets a CallError."""
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
        """Take in what has arrived: wait for a first request, and a moment for others where a batch is not full."""
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
            job.row = Row(job.request, self._template.tokens(job.request.messages), unwanted)
            self._decoder.check(job.row)
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits, not to this thread
            job.settle(error)

    def _next_batch(self, waiting: Sequence[_Job]) -> list[_Job]:
        """The request that waits longest, so nobody starves, with those nearest to it in length."""
        first = waiting[0]
        spread = max(SPREAD, first.length // 8)
        near = [job for job in waiting if abs(job.length - first.length) <= spread]
        return sorted(near, key=lambda job: abs(job.length - first.length))[: self._batch_size]

    def _answer(self, batch: list[_Job]) -> None:
        pending = [batch]
        while pending:
            jobs = pending.pop()
            if self._answered(jobs):
                continue
            # Here the failed try has let go of its tensors; inside the handler it had not.
            _free_memory()
            if len(jobs) == 1:
                jobs[0].settle(CallError(NO_MEMORY))
                continue
            half = (len(jobs) + 1) // 2
            self._batch_size = min(self._batch_size, half)
            pending += [jobs[half:], jobs[:half]]

    def _answered(self, jobs: Sequence[_Job]) -> bool:
        """Answer these together; False where memory did not suffice."""
        try:
            results = self._decoder.replies([job.row for job in jobs if job.row])
        except Exception as error:  # noqa: BLE001 - it belongs to those who wait, not to this thread
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
    # Graphics cards have a class for it; the processor's allocator and Apple's say it in words.
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
