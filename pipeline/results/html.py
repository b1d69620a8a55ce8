"""Pages in one HTML file that a browser opens from the file system: templates beside this module, filled in once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_HERE = Path(__file__).parent


def render_template(template: str, **values: Any) -> str:
    """Return a page.

    Args:
        template: its file below this folder; `part(NAME)` in it is another file as it is, such as a script.
        values: what the template shows; text is escaped, `Markup` is not.
    """
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals["part"] = lambda name: Markup((_HERE / name).read_text(encoding="utf-8"))
    return environment.get_template(template).render(values)
