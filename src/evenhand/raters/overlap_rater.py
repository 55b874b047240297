"""`overlap`: how far what is rated overlaps with its references, as a rule that rates every item of any study."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from evenhand.errors import UserError
from evenhand.overlap import PACKAGES, Encoder, method_of, overlap_scores
from evenhand.protocol.completion import Judgement
from evenhand.protocol.model import SCORES, Protocol, Role
from evenhand.raters.base import Rater, digest_of, local_computation
from evenhand.raters.registry import RaterContext, specs_in
from evenhand.records import Answer, Item, Kind, RaterRef, Unit
from evenhand.text import did_you_mean, listed, quoted, unknown
from evenhand.version import __version__

BERT_SCORE = "BERTScore"
_OPTIONS = ("rated", "against", "encoder", "layer")
_VALID = (
    f"valid are overlap, for every score, or overlap(SCORE, …, OPTION=VALUE, …); scores: "
    f"{', '.join(map(str.lower, SCORES))}; options: rated=FIELD, against=FIELD (repeatable), "
    "encoder=FOLDER-OR-ID, layer=N"
)


_INSTALL = (
    "install what they need, in a clone of Evenhand, with: pip install '.[{extra}]'; then rate under another name, "
    "such as all=overlap"
)


def overlap(spec: str, name: str, context: RaterContext) -> Rater:
    """`overlap` or `overlap(SCORE, …, OPTION=VALUE, …)`. Raises UserError for what cannot be compared."""
    parts, protocol = specs_in(spec), context.protocol
    if not parts and spec.lower() != "overlap":
        raise UserError(f"{quoted(spec)} cannot be read: {_VALID}")
    options = _options(spec, [part for part in parts if "=" in part])
    chosen = list(dict.fromkeys(_score(spec, part) for part in parts if "=" not in part))
    references = _fields(spec, protocol, "reference", options["against"])
    rated, *more = _fields(spec, protocol, "rated", options["rated"])
    if more or rated in references:
        what = f"{rated!r} cannot be compared with itself" if rated in references else "several fields are rated"
        raise UserError(f"{spec}: {what}; name the one to compare, as in overlap(rated={(more or [rated])[0]})")
    encoder = _encoder(spec, chosen, options, context.run.device)
    missing = _missing(encoder) if not chosen else dict[str, str]()
    names = chosen or [score for score in SCORES if score not in missing]
    without = {why: [score for score in missing if missing[score] == why] for why in missing.values()}
    remarks = [f"not computed: {listed(scores)}; {why}" for why, scores in without.items()]
    return OverlapRater(name, spec, protocol.language, names, rated, references, encoder, remarks)


def _encoder(spec: str, chosen: Sequence[str], options: Mapping[str, Sequence[str]], device: str) -> Encoder | None:
    given, (layer, *_) = options["encoder"], (*options["layer"], "")
    wanted = BERT_SCORE in chosen or (bool(given) and not chosen)
    if wanted != bool(given) or (layer and not (given and layer.isdecimal())):
        raise UserError(f"{spec}: bertscore needs encoder=FOLDER-OR-ID, and only bertscore has an encoder; {_VALID}")
    return Encoder.of(given[0], None, int(layer) if layer else None, device) if given else None


def _options(spec: str, given: Sequence[str]) -> Mapping[str, list[str]]:
    found = {option: list[str]() for option in _OPTIONS}
    for option, _, value in (part.partition("=") for part in given):
        if option.strip() not in found:
            raise UserError(f"{spec}: {_no('option', option.strip(), _OPTIONS)}; {_VALID}")
        found[option.strip()].append(value.strip())
    for option, values in found.items():
        if not all(values) or (len(values) > 1 and option != "against"):
            raise UserError(f"{spec}: {option}= needs one value; {_VALID}")
    return found


def _score(spec: str, name: str) -> str:
    """A score by its name in any case, with or without hyphens."""
    by_key = {_key(score): score for score in SCORES}
    if _key(name) not in by_key:
        raise UserError(f"{spec}: {_no('score', name, [score.lower() for score in SCORES])}; {_VALID}")
    return by_key[_key(name)]


def _no(what: str, name: str, valid: Sequence[str]) -> str:
    """What there is, `_VALID` lists."""
    return f"there is no {what} {quoted(name)}{did_you_mean(name, valid)}"


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _fields(spec: str, protocol: Protocol, role: Role, named: Sequence[str]) -> Sequence[str]:
    """The text fields that an option names, or by default those with a role."""
    texts = {name: one for name, one in protocol.item.fields.items() if one.kind in ("text", "passages")}
    for name in named:
        if name not in texts:
            raise UserError(f"{spec}: {unknown('text field', name, texts)}")
    found = named or [name for name, one in texts.items() if one.role == role]
    if not found:
        option = "rated" if role == "rated" else "against"
        raise UserError(
            f"{spec}: {protocol.name} has no text field with the role {role}, and overlap scores compare what is rated "
            f"with a reference. Give a field this role, or name one: overlap({option}=FIELD), FIELD being one of "
            f"{', '.join(texts)}"
        )
    return found


def _missing(encoder: Encoder | None) -> Mapping[str, str]:
    """The scores that cannot be computed here, each with what to do about it."""
    absent = [score for score, (module, *_) in PACKAGES.items() if find_spec(module) is None]
    found = {score: _INSTALL.format(extra=PACKAGES[score][2]) for score in absent}
    return found if encoder else {**found, BERT_SCORE: "it needs overlap(encoder=FOLDER-OR-ID) and the extra hf"}


@dataclass(eq=False)
class OverlapRater(Rater):
    """Computes overlap scores of one field against others, once for each item."""

    name: str
    spec: str
    language: str
    scores: Sequence[str]
    rated: str
    against: Sequence[str]
    encoder: Encoder | None = None
    remarks: Sequence[str] = ()

    def __post_init__(self) -> None:
        encoders = {BERT_SCORE: self.encoder}
        self.together = True
        self.settings: Mapping[str, object] = {
            "spec": self.spec,
            "scores": {score: method_of(score, encoders.get(score)) for score in self.scores},
            "rated": self.rated,
            "against": list(self.against),
        }
        self.ref = RaterRef(self.name, Kind.RULE, __version__, digest_of(self.settings))

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        # One record of any score keeps the item's further units from being asked for again.
        return [
            await self._judgement(item, unit) if unit.position == 1 else Judgement(unit, scores=self.scores[:1])
            for unit in units
        ]

    async def _judgement(self, item: Item, unit: Unit) -> Judgement:
        text, references = "\n".join(_texts(item, [self.rated])), _texts(item, self.against)
        if not text or not references:
            why = f"there is no reference in {listed(self.against)}" if text else f"{self.rated} is empty"
            return Judgement(unit, beyond=why, scores=self.scores)
        async with local_computation():
            compute = partial(overlap_scores, self.scores, text, references, self.language, self.encoder)
            found, remarks = await asyncio.to_thread(compute)
        answers = [Answer(score, value, rationale=remarks.get(score)) for score, value in found.items()]
        beyond = next((remarks[score] for score in remarks if score not in found), None)
        return Judgement(unit, answers, beyond=beyond, scores=self.scores)


def _texts(item: Item, fields: Sequence[str]) -> Sequence[str]:
    """The texts of some fields without outer space, each passage by itself; blank ones are left out."""
    values = [item.fields[name] for name in fields if name in item.fields]
    texts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    return [text for text in (str(one).strip() for one in texts) if text]
