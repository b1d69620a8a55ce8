"""Pages in one HTML file, which a browser can open from the file system. Their templates are below this folder."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_FOLDER = Path(__file__).parent


def render_template(template: str, **values: Any) -> str:
    """Return a page as HTML.

    Args:
        template: the file of the template below this folder. `read_file(NAME)` in it inserts another file as it is.
        values: the variables of the template. Text is escaped, `Markup` is not.
    """
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals["read_file"] = lambda name: Markup((_FOLDER / name).read_text(encoding="utf-8"))
    return environment.get_template(template).render(values)
