"""Draw a stratified, seeded sample in one pass over keys.

Each candidate gets a number from its own id and the seed; the smallest numbers of each stratum are drawn. So the draw
does not depend on the order of the rows, and the same seed over the same data draws the same items on any machine.
"""

import hashlib
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Stratum = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """Which ordinals (from 0) were drawn, and how many of how many in each stratum."""

    chosen: frozenset[int]
    strata: Mapping[Stratum, tuple[int, int]]


def draw(candidates: Iterable[tuple[str, Stratum]], size: int, seed: int) -> Draw:
    """A sample of `size` of the candidates (id, stratum), in proportion to the strata.

    Shares are rounded by largest remainder; every stratum gets at least one while the size allows it. A size that is
    not smaller than the number of candidates draws them all.
    """
    heaps: dict[Stratum, list[tuple[int, int]]] = {}
    totals: dict[Stratum, int] = {}
    for ordinal, (name, stratum) in enumerate(candidates):
        heap = heaps.setdefault(stratum, [])
        totals[stratum] = totals.get(stratum, 0) + 1
        number = hashlib.blake2b(name.encode(), digest_size=8, key=seed.to_bytes(16, "big", signed=True)).digest()
        entry = (-int.from_bytes(number, "big"), -ordinal)
        if len(heap) < size:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    shares = allocate(totals, size)
    chosen: set[int] = set()
    for stratum, heap in heaps.items():
        chosen.update(-ordinal for _, ordinal in heapq.nlargest(shares[stratum], heap))
    return Draw(frozenset(chosen), {stratum: (shares[stratum], totals[stratum]) for stratum in sorted(totals)})


def allocate(totals: Mapping[Stratum, int], size: int) -> Mapping[Stratum, int]:
    """How many to draw from each stratum: proportional, at least one each while the size allows, never too many."""
    everything = sum(totals.values())
    if size >= everything:
        return dict(totals)
    order: Sequence[Stratum] = sorted(totals, key=lambda stratum: (-totals[stratum], stratum))
    floor = 1 if size >= len(totals) else 0
    shares = {stratum: max(floor, totals[stratum] * size // everything) for stratum in order}
    remainders = sorted(order, key=lambda stratum: (-(totals[stratum] * size % everything), order.index(stratum)))
    while (left := size - sum(shares.values())) != 0:
        step = 1 if left > 0 else -1
        for stratum in remainders if left > 0 else order:
            if left == 0:
                break
            if floor <= shares[stratum] + step <= totals[stratum]:
                shares[stratum] += step
                left -= step
    return shares
