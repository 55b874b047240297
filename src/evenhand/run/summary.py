"""What runs did, in words: printed by the command line and by the results of `Study`."""

from collections.abc import Iterator

from evenhand.llm.base import RunError
from evenhand.run.budget import CapReached
from evenhand.run.counters import RaterCounters
from evenhand.run.estimate import CostEstimate
from evenhand.run.judge import Outcome
from evenhand.run.questions import Making
from evenhand.run.recorded_chat import Stopped, StopReason
from evenhand.text import counted, masked, money, some_of

MOST_REASONS = 10
"""Reasons for failures that are listed; the log has all of them."""


def run_text(outcome: Outcome) -> str:
    """What each rater did."""
    lines = [line for counters in outcome.counters.raters.values() for line in _rater_lines(counters)]
    if outcome.why is None and outcome.counters.failed_units:
        lines.append(f"  failures are recorded with their reasons, never as scores; {_advice(outcome)}")
    return "\n".join(lines)


def stop_text(outcome: Outcome) -> str | None:
    """Why a run ended early, what is stored and how to continue; None if it was completed."""
    if outcome.why is None:
        return None
    counters = outcome.counters
    kept = "Nothing was rated"
    if has_results(outcome):
        kept = (
            f"{counted(counters.units, 'unit')} stored, {counters.failed_units:,} of them failed, "
            f"{counters.to_do - counters.units:,} left; the same command continues from here and pays for nothing twice"
        )
    return f"{_why(outcome.why)}{'.' if isinstance(outcome.why, RunError) else ':'} {kept}"


def has_results(outcome: Outcome) -> bool:
    """Whether the run stored any rating or reply."""
    return bool(outcome.counters.units) or any(rater.replies for rater in outcome.counters.raters.values())


def _why(why: StopReason) -> str:
    if isinstance(why, RunError):
        return f"error: {masked(why.reason)}"
    if isinstance(why, Stopped):
        return "stopped from elsewhere"
    return "the cost limit is reached" if isinstance(why, CapReached) else "interrupted"


def _advice(outcome: Outcome) -> str:
    """A model may answer differently the next time; a built-in rater will not."""
    if any(outcome.counters.raters[name].failures for name in outcome.asking):
        return "to try those units again, repeat the command with --retry-failed"
    return "on the same texts this rater would fail again"


def _rater_lines(counters: RaterCounters) -> Iterator[str]:
    if not counters.to_do:
        yield f"{counters.rater}: nothing to do, every unit is rated or failed; --retry-failed tries failed ones again"
        return
    yield f"{counters.rater}: {counters.units:,} of {counted(counters.to_do, 'unit')} rated"
    yield from rating_lines(counters)
    if usage := _usage(counters):
        yield f"  {usage}"


def rating_lines(counters: RaterCounters) -> Iterator[str]:
    """Ratings by status, failures by reason, and quotes that were not found."""
    if counters.statuses:
        yield f"  ratings: {', '.join(f'{status} {number:,}' for status, number in counters.statuses.items())}"
    for reason, number in counters.failures.most_common(MOST_REASONS):
        yield f"    failed {number:,}: {reason}"
    if len(counters.failures) > MOST_REASONS:
        yield f"    … and {len(counters.failures) - MOST_REASONS:,} more reasons"
    if counters.quotes:
        yield f"  quotes as evidence: {counters.quotes:,}, of which {counters.misquoted:,} are not found in the item"


def _usage(counters: RaterCounters) -> str:
    if not counters.calls and not counters.reused:
        return ""
    facts = [f"{counters.calls:,} calls"]
    facts += [f"{counters.reused:,} stored replies reused"] if counters.reused else []
    facts += [f"{counters.retries.total():,} retries"] if counters.retries else []
    facts.append(f"{counters.input_tokens:,} tokens read, {counters.output_tokens:,} written")
    facts += [f"{counters.uncounted:,} calls without a token count"] if counters.uncounted else []
    facts.append("price unknown" if counters.cost is None else money(counters.cost))
    return "; ".join(facts)


def questions_text(location: str, making: Making, maker: str) -> str:
    """What came of making questions."""
    made = f"{counted(making.questions, 'question')} for {counted(making.items, 'item')}"
    lines = [f"{location}: {made}, made {maker}"]
    if making.passed_over:
        keep = "item keeps its questions" if making.passed_over == 1 else "items keep their questions"
        lines.append(f"  {making.passed_over:,} {keep}, because they have ratings")
    for reason, number in making.counters.failures.most_common(MOST_REASONS):
        lines.append(f"  failed {number:,}, unchanged: {reason}")
    if making.failed:
        lines.append(f"    items: {some_of(list(making.failed))}; the same command tries them again")
    if usage := _usage(making.counters):
        lines.append(f"  {usage}")
    return "\n".join(lines)


def questions_stop_text(making: Making) -> str | None:
    """Why making questions ended early; None if it was completed."""
    if making.why is None:
        return None
    return f"{_why(making.why)}; the same command continues from here and pays for nothing twice"


def estimate_text(plan: CostEstimate, cap: float | None) -> str:
    """What a run would take, and its first prompt."""
    lines = [line for rater in plan.units for line in _estimate_lines(plan, rater)]
    lines += [] if cap is None else [f"limit: {money(cap)}"]
    if plan.first is None:
        return "\n".join([*lines, "nothing would be sent"])
    lines.append("\nThe first prompt:")
    lines += [f"\n--- {message.role} ---\n{message.content}" for message in plan.first.messages]
    if plan.first.schema:
        lines.append(f"\n--- JSON Schema of the reply ---\n{plan.first.schema.text}")
    return "\n".join([*lines, "\nNothing was sent."])


def _estimate_lines(plan: CostEstimate, rater: str) -> Iterator[str]:
    yield f"{rater}: {counted(plan.units[rater], 'unit')} to rate"
    for model in (model for model in plan.models if model.rater == rater):
        about = "about " if plan.sampled else ""
        stored = f", {model.stored:,.0f} more have a stored reply" if model.stored else ""
        yield f"  {model.model}: {about}{model.calls:,.0f} calls{stored}"
        yield f"    about {model.input_tokens:,.0f} tokens to read, {model.output_tokens:,.0f} to write"
        if model.cost is None or model.worst is None:
            yield "    cost: unknown; give --price IN/OUT, in dollars per million tokens"
        else:
            yield f"    cost: about {money(model.cost)}, at most {money(model.worst)}"
