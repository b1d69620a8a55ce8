"""What `make pictures` calls: the pictures of README.md, drawn from a finished run of the demo.

Usage: python workflow/pictures.py FOLDER OUTPUT
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import nmt  # noqa: E402
from nmt.config.overlays import find_layers, load  # noqa: E402
from nmt.config.projections import report_settings  # noqa: E402
from nmt.report.figures.bleu_curves import figure2  # noqa: E402
from nmt.report.figures.style import save_as  # noqa: E402
from nmt.report.run_results import read_by_model  # noqa: E402

CURVES = ("rnnencdec-50", "rnnsearch-50")
SENTENCE = "The very strange school book that Alice has given to the king is red."


def main() -> int:
    """Draw both; a UserError where the run is not finished."""
    folder, output = map(Path, sys.argv[1:])
    settings = report_settings(load(find_layers(ROOT / "config.yaml", folder)))
    wanted = settings.model_copy(update={"figure2_models": list(CURVES)})
    scores = read_by_model([folder / "scores" / f"{model}.json" for model in CURVES], ("by_sentence",))
    save_as(figure2(scores, wanted), output / "figure2.png")
    nmt.load(folder / "models" / "rnnsearch-50").translate(SENTENCE).plot(output / "attention.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
