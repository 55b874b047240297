"""An event loop for a run: here, or in a thread of its own where this thread has one already; and its signals."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from evenhand.run.desk import Ending

T = TypeVar("T")


def run_in_loop(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end. In a notebook, whose own loop is running, another thread does it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="evenhand-run") as thread:
        return thread.submit(lambda: asyncio.run(make())).result()


@contextmanager
def ends_on_signals(ending: Ending) -> Generator[None]:
    """Ctrl-C and SIGTERM end the run in good order: calls under way are waited for. The second one ends it at once."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end() -> None:
        if ending.asked:
            task.cancel()
        ending.ask(KeyboardInterrupt())

    numbers = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            loop.add_signal_handler(number, end)
    except NotImplementedError:
        # Windows: Ctrl-C cancels the run as asyncio does it by itself; what was stored stays.
        yield
        return
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
