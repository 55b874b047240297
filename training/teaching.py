"""Templates that the network is taught with: situations of their own, none of those that the challenge set has."""

from random import Random

from training import teaching_a, teaching_b, teaching_c, teaching_d
from training.challenge_fill import Template, capital

TEMPLATES: tuple[Template, ...] = (
    *teaching_a.TEMPLATES,
    *teaching_b.TEMPLATES,
    *teaching_c.TEMPLATES,
    *teaching_d.TEMPLATES,
)


def taught(each: int, random: Random) -> list[tuple[str, str, str]]:
    """Evidence, claim and label: `each` drawings of every template, with all three claims of each."""
    drawn: list[tuple[str, str, str]] = []
    for template in TEMPLATES:
        for _ in range(each):
            values = template.filled(random)
            evidence = capital(template.evidence.format(**values))
            for text, label in (
                (template.supported, "supported"),
                (template.contradicted, "contradicted"),
                (template.nothing, "no_evidence"),
            ):
                drawn.append((evidence, capital(text.format(**values)), label))
    return drawn
