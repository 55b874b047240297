"""What judging and making questions share: models, one budget, stored replies, the event loop, and how a run ends."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from evenhand.errors import UserError
from evenhand.llm.base import Chat
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import HttpChat
from evenhand.llm.hugging_face.chat import HuggingFaceChat
from evenhand.llm.rate_limit import RateLimiter
from evenhand.llm.retry import Listener, Waits
from evenhand.raters.base import Rater
from evenhand.raters.options import RaterOptions, RunOptions
from evenhand.raters.registry import RaterContext, RaterSource, rater_of
from evenhand.run.budget import Prices
from evenhand.run.counters import RaterCounters, RunCounters
from evenhand.run.recorded_chat import RecordedChat, ReplyRecorder, StopSignal
from evenhand.run.tracing import tracer
from evenhand.settings import Settings
from evenhand.store.store import Store
from evenhand.store.work import RunState

T = TypeVar("T")
Watch = Callable[[RunCounters], None]

WATCH_INTERVAL = 0.25
"""Seconds between two looks at a run by its progress bar."""


def connect_model(spec: str, options: RunOptions, listener: Listener | None = None) -> Chat:
    """A chat with the model that a spec names, with keys and addresses from the environment."""
    kind, _, source = spec.partition(":")
    if kind.lower() == "hf":
        if not source.strip():
            raise UserError(f"{spec!r} lacks the model: give its folder or its id, as in hf:./my-model")
        return HuggingFaceChat(
            source.strip(), device=options.device, dtype=options.dtype, batch_size=options.batch_size
        )
    return HttpChat(
        endpoint_of(spec, Settings.from_environment(os.environ)),
        pace=RateLimiter(options.concurrency),
        timeout=options.timeout,
        tries=options.tries,
        waits=Waits(patience=options.patience),
        listener=listener,
    )


class RunSession:
    """One run of this process, for one rater or several."""

    def __init__(self, store: Store, options: RunOptions) -> None:
        self.store = store
        self.options = options
        self.counters = RunCounters()
        self.stop = StopSignal()
        self._prices = Prices(options.prices)
        self._replies = ReplyRecorder(store)
        self._chats: list[Chat] = []

    def rater(self, source: RaterSource, options: RaterOptions) -> Rater:
        """Build a rater whose chats are recorded and counted in this session."""
        counters = RaterCounters()
        context = RaterContext(self.store.protocol, partial(self._connect, counters), options, self.options)
        rater = rater_of(source, context)
        counters.rater = rater.ref.id
        if rater.ref.id in self.counters.raters:
            raise UserError(f"two raters are called {rater.ref.id!r}: name them differently, as in --rater NAME=SPEC")
        self.counters.raters[rater.ref.id] = counters
        return rater

    def check_prices(self) -> None:
        """Raise UserError if a price is given for a model that is not used, or missing although there is a cap."""
        self._prices.check([chat.model for chat in self._chats], self.options.max_cost)

    def _connect(self, counters: RaterCounters, target: str | Chat) -> Chat:
        chat = connect_model(target, self.options, counters.add_event) if isinstance(target, str) else target
        recorded = RecordedChat(
            chat,
            self._replies,
            price=self._prices.of(chat.model),
            stop=self.stop,
            counters=counters,
            tracer=tracer(),
        )
        self._chats.append(recorded)
        return recorded

    def run(self, work: Callable[[], Coroutine[Any, Any, None]], watch: Watch | None = None) -> RunState:
        """Run the work to its end, in this thread or, if its event loop is in use, in another. Returns how it ended.

        Ctrl-C ends it in good order: no new call is made, and open calls are waited for. The second one abandons them.
        """
        return run_in_loop(lambda: self._whole(work, watch), on_interrupt=self._interrupt)

    def _interrupt(self) -> None:
        self.stop.request(KeyboardInterrupt())

    async def _whole(self, work: Callable[[], Coroutine[Any, Any, None]], watch: Watch | None) -> RunState:
        watching = asyncio.create_task(self._watched(watch)) if watch else None
        try:
            with _stops_on_signals(self.stop):
                await work()
        except asyncio.CancelledError:
            # The second Ctrl-C: open calls are abandoned, and that is not an error.
            if not isinstance(self.stop.reason, KeyboardInterrupt):
                raise
        finally:
            if watching:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
            for chat in self._chats:
                await chat.close()
        return "stopped" if self.stop.requested else "done"

    async def _watched(self, watch: Watch) -> None:
        while True:
            self.counters.stopping = self.stop.requested
            watch(self.counters)
            await asyncio.sleep(WATCH_INTERVAL)


def places(rater: Rater) -> int:
    """How many calls of a rater may be open at the same time; 1 if it makes none."""
    return sum(chat.pace.width for chat in rater.chats) or 1


async def gathered(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Wait for all; if one fails, the others are cancelled and waited for."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def run_in_loop(make: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None] | None = None) -> T:
    """Run a coroutine to its end. In a notebook, whose own loop is running, another thread does it.

    There, Ctrl-C or the notebook's stop button calls `on_interrupt` and waits on; the second one gives up waiting.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="evenhand-run") as thread:
        running = thread.submit(lambda: asyncio.run(make()))
        try:
            return running.result()
        except KeyboardInterrupt:
            if on_interrupt is None:
                raise
            on_interrupt()
            return running.result()


@contextmanager
def _stops_on_signals(stop: StopSignal) -> Generator[None]:
    """Ctrl-C and SIGTERM end the run in good order; the second one ends it at once."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end() -> None:
        if stop.requested:
            task.cancel()
        stop.request(KeyboardInterrupt())

    numbers = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            loop.add_signal_handler(number, end)
    except NotImplementedError:
        # Windows: Ctrl-C cancels the run as asyncio does by itself; what was stored stays.
        yield
        return
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
