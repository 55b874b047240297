"""Templates → HTML; everything that comes in is escaped."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"

_templates = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, **context: object) -> str:
    """A template with its context. `base.html` says what every page may be given."""
    return _templates.get_template(template).render(context)
