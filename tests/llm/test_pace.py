"""Places: their number, their order, and how they answer to trouble."""

import asyncio
from collections.abc import Coroutine

import pytest

from evenhand.llm.pace import FADE, SLOW, WINDOW, AdaptivePace


async def settle() -> None:
    """Let everything run that can run without a clock."""
    for _ in range(20):
        await asyncio.sleep(0)


async def hold(pace: AdaptivePace, entered: list[int], number: int, leave: asyncio.Event) -> None:
    async with pace:
        entered.append(number)
        await leave.wait()


def now() -> float:
    return asyncio.get_running_loop().time()


def run(test: Coroutine[None, None, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


def test_no_more_enter_than_there_are_places_and_in_the_order_they_came():
    async def body() -> None:
        pace, entered, leave = AdaptivePace(2), list[int](), [asyncio.Event() for _ in range(5)]
        tasks = [asyncio.create_task(hold(pace, entered, n, leave[n])) for n in range(5)]
        await settle()
        assert (entered, pace.in_use, pace.waiting) == ([0, 1], 2, 3)
        leave[1].set()
        await settle()
        assert (entered, pace.in_use, pace.waiting) == ([0, 1, 2], 2, 2)
        for event in leave:
            event.set()
        await asyncio.gather(*tasks)
        assert (entered, pace.in_use, pace.waiting) == ([0, 1, 2, 3, 4], 0, 0)

    run(body())


def test_a_cancelled_wait_takes_no_place_and_an_error_inside_gives_it_back():
    async def body() -> None:
        pace, entered, leave = AdaptivePace(1), list[int](), asyncio.Event()
        tasks = [asyncio.create_task(hold(pace, entered, n, leave)) for n in range(4)]
        await settle()
        tasks[1].cancel()
        await settle()
        assert pace.waiting == 2
        tasks[0].cancel()  # Its place goes to 2,
        tasks[2].cancel()  # which leaves in the same moment.
        await settle()
        assert entered[-1] == 3
        leave.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(KeyError):
            async with pace:
                raise KeyError
        assert (pace.in_use, pace.waiting) == (0, 0)

    run(body())


def test_a_place_given_in_the_moment_of_cancellation_goes_on_to_the_next():
    async def body() -> None:
        pace, entered, leave = AdaptivePace(1), list[int](), asyncio.Event()
        await pace.__aenter__()
        tasks = [asyncio.create_task(hold(pace, entered, n, leave)) for n in range(2)]
        await settle()
        await pace.__aexit__()  # The place is given to 0, which has not run yet,
        tasks[0].cancel()  # and never will.
        await settle()
        assert (entered, pace.in_use) == ([1], 1)
        leave.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert pace.in_use == 0

    run(body())


def test_a_storm_of_refusals_halves_once_and_a_later_one_again():
    async def body() -> None:
        pace = AdaptivePace(32)
        began = now()
        for _ in range(32):
            pace.strained(began)
        assert (pace.width, pace.halvings) == (16, 1)
        await asyncio.sleep(0.002)
        pace.strained(now())
        assert (pace.width, pace.halvings) == (8, 2)

    run(body())


def test_the_width_never_falls_below_one():
    async def body() -> None:
        pace = AdaptivePace(3)
        for _ in range(5):
            await asyncio.sleep(0.001)
            pace.strained(now())
        assert pace.width == 1

    run(body())


def test_each_window_of_good_calls_widens_by_one_up_to_the_most():
    async def body() -> None:
        pace = AdaptivePace(4)
        pace.strained(now())
        assert pace.width == 2
        widths: list[int] = []
        for _ in range(4 * WINDOW):
            pace.eased(now(), 1.0)
            widths.append(pace.width)
        # Windows are WINDOW calls, more than any width here: 2 until the first is full, then 3, then 4 for good.
        assert widths == [2] * (WINDOW - 1) + [3] * WINDOW + [4] * (2 * WINDOW + 1)

    run(body())


def test_good_calls_from_before_a_halving_do_not_count():
    async def body() -> None:
        pace = AdaptivePace(4)
        began = now()
        await asyncio.sleep(0.001)
        pace.strained(now())
        for _ in range(10 * WINDOW):
            pace.eased(began, 1.0)
        assert pace.width == 2

    run(body())


def test_slow_windows_do_not_widen_until_the_best_has_faded():
    async def body() -> None:
        pace = AdaptivePace(8)
        pace.strained(now())
        for seconds in [1.0] * WINDOW + [SLOW * 1.2] * WINDOW:
            pace.eased(now(), seconds)
        # The first window, the best, made 5 of 4; the second took 2.4 times as long.
        assert pace.width == 5
        # The best has faded to 1.1, of which 2 × is 2.2 < 2.4; the next window fades it to 1.21, of which 2 × is 2.42.
        assert SLOW * FADE < SLOW * 1.2 < SLOW * FADE**2
        for width in (5, 6):
            for _ in range(WINDOW):
                pace.eased(now(), SLOW * 1.2)
            assert pace.width == width

    run(body())


def test_nobody_enters_before_the_pause_is_over():
    async def body() -> None:
        pace = AdaptivePace(4)
        began = now()
        pace.strained(began, 0.05)
        pace.strained(began, 0.01)  # A shorter pause does not end the longer one.
        assert pace.held
        async with pace:
            assert now() >= began + 0.05
        assert not pace.held

    run(body())


def test_who_steps_aside_comes_back_first_and_nobody_takes_the_place_meanwhile():
    async def body() -> None:
        pace, entered, leave = AdaptivePace(1), list[int](), asyncio.Event()

        async def refused() -> None:
            async with pace:
                entered.append(0)
                await pace.step_aside(0.01)
                entered.append(1)

        leave.set()
        await asyncio.gather(refused(), hold(pace, entered, 2, leave))
        assert entered == [0, 1, 2]
        assert pace.in_use == 0

    run(body())


def test_those_who_stepped_aside_come_back_no_more_at_once_than_the_narrowed_width():
    async def body() -> None:
        pace, back = AdaptivePace(8), list[int]()

        async def refused(began: float) -> None:
            async with pace:
                await asyncio.sleep(0)
                pace.strained(began)
                await pace.step_aside(0.001)
                back.append(pace.in_use)
                await asyncio.sleep(0.002)

        await asyncio.gather(*(refused(now()) for _ in range(8)))
        assert (len(back), max(back), pace.width) == (8, 4, 4)
        assert (pace.in_use, pace.waiting) == (0, 0)

    run(body())


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_cancelled_while_aside_leaves_the_count_right(seconds: float):
    async def body() -> None:
        pace = AdaptivePace(1)

        async def refused() -> None:
            async with pace:
                pace.strained(now(), 60.0)
                await pace.step_aside(seconds)

        task = asyncio.create_task(refused())
        await settle()
        await asyncio.sleep(0.002)
        assert pace.in_use == 0
        task.cancel()
        await settle()
        assert task.cancelled()
        assert (pace.in_use, pace.waiting) == (0, 0)

    run(body())


def test_there_is_at_least_one_place():
    with pytest.raises(ValueError, match="at least one"):
        AdaptivePace(0)
