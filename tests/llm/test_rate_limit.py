"""Places: their number, their order, and how they answer to trouble."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress

import pytest

from evenhand.llm.rate_limit import RateLimiter


async def settle() -> None:
    """Let everything run that can run without a clock."""
    for _ in range(20):
        await asyncio.sleep(0)


async def hold(limiter: RateLimiter, entered: list[int], number: int, leave: asyncio.Event) -> None:
    async with limiter:
        entered.append(number)
        await leave.wait()


def now() -> float:
    return asyncio.get_running_loop().time()


def run(test: Coroutine[None, None, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


def test_no_more_enter_than_there_are_places_and_in_the_order_they_came():
    async def body() -> None:
        limiter, entered, leave = RateLimiter(2), list[int](), [asyncio.Event() for _ in range(5)]
        tasks = [asyncio.create_task(hold(limiter, entered, n, leave[n])) for n in range(5)]
        await settle()
        assert (entered, limiter.in_use) == ([0, 1], 2)
        leave[1].set()
        await settle()
        assert (entered, limiter.in_use) == ([0, 1, 2], 2)
        for event in leave:
            event.set()
        await asyncio.gather(*tasks)
        assert (entered, limiter.in_use) == ([0, 1, 2, 3, 4], 0)

    run(body())


def test_a_cancelled_wait_takes_no_place_and_an_error_inside_gives_it_back():
    async def body() -> None:
        limiter, entered, leave = RateLimiter(1), list[int](), asyncio.Event()
        tasks = [asyncio.create_task(hold(limiter, entered, n, leave)) for n in range(4)]
        await settle()
        tasks[1].cancel()
        await settle()
        tasks[0].cancel()  # Its place goes to 2,
        tasks[2].cancel()  # which leaves in the same moment.
        await settle()
        assert entered[-1] == 3
        leave.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(KeyError):
            async with limiter:
                raise KeyError
        assert limiter.in_use == 0

    run(body())


def test_a_place_given_in_the_moment_of_cancellation_goes_on_to_the_next():
    async def body() -> None:
        limiter, entered, leave = RateLimiter(1), list[int](), asyncio.Event()
        await limiter.__aenter__()
        tasks = [asyncio.create_task(hold(limiter, entered, n, leave)) for n in range(2)]
        await settle()
        await limiter.__aexit__(None)  # The place is given to 0, which has not run yet,
        tasks[0].cancel()  # and never will.
        await settle()
        assert (entered, limiter.in_use) == ([1], 1)
        leave.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert limiter.in_use == 0

    run(body())


def test_a_storm_of_refusals_halves_once_and_a_later_one_again():
    async def body() -> None:
        limiter = RateLimiter(32)
        began = now()
        for _ in range(32):
            limiter.overloaded(began)
        assert limiter.width == 16
        await asyncio.sleep(0.002)
        limiter.overloaded(now())
        assert limiter.width == 8

    run(body())


def test_the_width_never_falls_below_one():
    async def body() -> None:
        limiter = RateLimiter(3)
        for _ in range(5):
            await asyncio.sleep(0.001)
            limiter.overloaded(now())
        assert limiter.width == 1

    run(body())


def test_as_many_good_calls_as_there_are_places_widen_by_one_up_to_the_most():
    async def body() -> None:
        limiter = RateLimiter(4)
        limiter.overloaded(now())
        assert limiter.width == 2
        widths: list[int] = []
        for _ in range(9):
            async with limiter:
                pass
            widths.append(limiter.width)
        # Two calls make 3 of 2, three more make 4, which is the most.
        assert widths == [2, 3, 3, 3, 4, 4, 4, 4, 4]

    run(body())


def test_calls_that_were_in_progress_at_a_halving_do_not_count_and_neither_do_failed_ones():
    async def body() -> None:
        limiter = RateLimiter(4)
        async with limiter, limiter, limiter, limiter:
            await asyncio.sleep(0.001)
            limiter.overloaded(now())
        assert limiter.width == 2
        for _ in range(4):
            with suppress(ValueError):
                async with limiter:
                    raise ValueError
        assert limiter.width == 2
        for _ in range(2):
            async with limiter:
                pass
        assert limiter.width == 3

    run(body())


def test_nobody_enters_before_the_pause_is_over():
    async def body() -> None:
        limiter = RateLimiter(4)
        began = now()
        limiter.overloaded(began, 0.05)
        limiter.overloaded(began, 0.01)  # A shorter pause does not end the longer one.
        async with limiter:
            assert now() >= began + 0.05

    run(body())


def test_who_steps_aside_comes_back_first_and_nobody_takes_the_place_meanwhile():
    async def body() -> None:
        limiter, entered, leave = RateLimiter(1), list[int](), asyncio.Event()

        async def refused() -> None:
            async with limiter:
                entered.append(0)
                await limiter.back_off(0.01)
                entered.append(1)

        leave.set()
        await asyncio.gather(refused(), hold(limiter, entered, 2, leave))
        assert entered == [0, 1, 2]
        assert limiter.in_use == 0

    run(body())


def test_those_who_stepped_aside_come_back_no_more_at_once_than_the_narrowed_width():
    async def body() -> None:
        limiter, back = RateLimiter(8), list[int]()

        async def refused(began: float) -> None:
            async with limiter:
                await asyncio.sleep(0)
                limiter.overloaded(began)
                await limiter.back_off(0.001)
                back.append(limiter.in_use)
                await asyncio.sleep(0.002)

        await asyncio.gather(*(refused(now()) for _ in range(8)))
        assert (len(back), max(back), limiter.width) == (8, 4, 4)
        assert limiter.in_use == 0

    run(body())


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_cancelled_while_aside_leaves_the_count_right(seconds: float):
    async def body() -> None:
        limiter = RateLimiter(1)

        async def refused() -> None:
            async with limiter:
                limiter.overloaded(now(), 60.0)
                await limiter.back_off(seconds)

        task = asyncio.create_task(refused())
        await settle()
        await asyncio.sleep(0.002)
        assert limiter.in_use == 0
        task.cancel()
        await settle()
        assert task.cancelled()
        assert limiter.in_use == 0

    run(body())


def test_there_is_at_least_one_place():
    with pytest.raises(ValueError, match="at least one"):
        RateLimiter(0)


def test_waits_that_are_ended_let_everybody_go_on():
    async def body() -> None:
        limiter, entered, leave = RateLimiter(1), list[int](), asyncio.Event()
        limiter.overloaded(now(), pause=3600.0)
        tasks = [asyncio.create_task(hold(limiter, entered, n, leave)) for n in range(3)]
        sleeping = asyncio.create_task(limiter.sleep(3600.0))
        await settle()
        assert entered == []
        limiter.end_waits()
        limiter.overloaded(now() + 1, pause=3600.0)
        await sleeping
        await settle()
        assert sorted(entered) == [0, 1, 2]
        leave.set()
        await asyncio.gather(*tasks)
        assert limiter.in_use == 0

    run(body())
