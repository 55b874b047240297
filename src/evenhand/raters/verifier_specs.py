"""`verifier` and `verifier(SPEC)` → a judge. A door of its own, so that other raters start without the network."""

from evenhand.errors import UserError
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judge
from evenhand.raters.nli import NliModel
from evenhand.raters.readers import ClaimReader, JudgeReader, LocalReader, box, claim_reading
from evenhand.raters.registry import Workshop, model_within
from evenhand.raters.support import support_of
from evenhand.raters.verifier import Verifier


def verifier(spec: str, name: str, protocol: Protocol, workshop: Workshop) -> Judge:
    """`verifier`, `verifier(hf:FOLDER-OR-ID)`, `verifier(SPEC)`."""
    # A protocol that does not fit is told before a model is loaded.
    support_of(protocol)
    return Verifier(name, spec, protocol, _reader(spec, name, workshop))


def _reader(spec: str, name: str, workshop: Workshop) -> ClaimReader:
    kind, opening, inner = spec.partition("(")
    inner = inner.removesuffix(")").strip()
    if not opening and ":" not in kind:
        return box()
    if not inner or not spec.endswith(")"):
        raise UserError(
            f"{spec!r} is no verifier: valid are verifier (the network in the box), verifier(hf:FOLDER-OR-ID) (a "
            "classifier for natural language inference) and verifier(SPEC) with a language model, as in "
            "verifier(openai:MODEL)"
        )
    if inner.lower().startswith("hf:"):
        calling = workshop.calling
        source = inner.partition(":")[2].strip()
        model = NliModel.load(source, device=calling.device, dtype=calling.dtype, batch_size=calling.batch_size)
        return LocalReader(lambda: model, {"model": model.name}, calibrated=False)
    return JudgeReader(model_within("verifier", inner, claim_reading(), workshop.heard_as(name)))
