"""An ontology file: the classes and relations that triples may use, in YAML.

A relation may restrict the classes of its subject and object. A class may be a kind of another one.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from evenhand.errors import Problem
from evenhand.protocol.check import mapping_of, valid_or_none
from evenhand.protocol.definitions import Definition, DefinitionFiles
from evenhand.protocol.problems import Content
from evenhand.scales import Strict
from evenhand.text import unknown


class OntologyClass(Strict):
    """A kind of thing."""

    description: str = ""
    is_a: str | None = Field(default=None, description="the more general class that it belongs to")


class Relation(Strict):
    """What a predicate may connect; a class left out is not restricted."""

    description: str = ""
    subject: str | None = Field(default=None, description="the class of subjects")
    object: str | None = Field(default=None, description="the class of objects")


class Ontology(Definition):
    """The classes and relations that triples may use."""

    classes: Mapping[str, OntologyClass] = Field(default_factory=dict[str, OntologyClass])
    relations: Annotated[Mapping[str, Relation], Field(min_length=1)]

    def is_kind_of(self, name: str, general: str) -> bool:
        """Whether a class is another one, or a kind of it."""
        above: str | None = name
        while above is not None and above != general:
            above = self.classes[above].is_a
        return above is not None

    def violation(self, predicate: str, subject_class: str, object_class: str) -> str | None:
        """What is wrong with a triple, None if it is allowed. A class is checked only if the ontology has classes."""
        relation = self.relations.get(predicate)
        if relation is None:
            return "relation not in the ontology"
        if not self.classes:
            return None
        for role, name, wanted in (
            ("subject", subject_class, relation.subject),
            ("object", object_class, relation.object),
        ):
            if name not in self.classes:
                return f"class of the {role} not in the ontology"
            if wanted is not None and not self.is_kind_of(name, wanted):
                return f"class of the {role} does not fit the relation"
        return None


def _contradictions(content: Content) -> Iterator[Problem]:
    raw = mapping_of(content.value)
    given = mapping_of(raw.get("classes"))
    classes = {str(name): valid_or_none(OntologyClass.model_validate, spec) for name, spec in given.items()}
    above = {name: spec.is_a for name, spec in classes.items() if spec and spec.is_a is not None}
    checked = set[str]()
    for name, general in above.items():
        if general not in classes:
            yield content.problem(unknown("class", general, classes), ("classes", name, "is_a"))
        way, here = list[str](), name
        while here in above and here not in checked:
            checked.add(here)
            way.append(here)
            here = above[here]
        if here in way:
            cycle = " → ".join([*way[way.index(here) :], here])
            yield content.problem(f"the class hierarchy has a cycle: {cycle}", ("classes", here, "is_a"))
    for name, spec in mapping_of(raw.get("relations")).items():
        relation = valid_or_none(Relation.model_validate, spec)
        for role in ("subject", "object") if relation else ():
            wanted = getattr(relation, role)
            if wanted is not None and wanted not in classes:
                yield content.problem(unknown("class", wanted, classes), ("relations", name, role))


ONTOLOGIES = DefinitionFiles(
    noun="ontology",
    keys="classes and relations",
    template="docs/reference/generator-file.md has one",
    group=None,
    model=Ontology,
    check=_contradictions,
)

load_ontology = ONTOLOGIES.load
