"""Every command of README and the docs, once, as the page has it, in a fresh clone with the demo that README makes.

`make test-docs`: ten minutes of two cores. What cannot run here says why in NOT_HERE.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.io.text_files import read_lines
from tests.pages import PAGES, commands
from tests.running import ROOT, outside_make

NOT_HERE = {
    r"sbatch |.*--profile slurm": "a cluster",
    r"apptainer |docker ": "a program for containers",
    r"make (EXPERIMENT=experiments/)?(paper|multi30k|overnight|europarl|ablations|gpu-check|bench)": "a GPU or hours",
    r"(FUZZ_EXAMPLES=\d+ )?make (format|test|fuzz|lint|docs|setup|showcase|lecture)": "CI runs it",
    r"make demo OPTIONS=|uv |pip ": "CI runs it",
    r".*preflight( experiments/europarl)?$": "downloads",
    r"make (results-page|FOLDERS=.* release)": "all experiments",
    r"watch ": "a person who watches",
    r"make new .*--init-from MODEL": "a model of these languages",
    r"nmt (train|model package|translate --model mine|score --model mine)|sacrebleu ": "test_library.py runs it",
    r"nmt tree ": "cho2014b-demo",
    r".*verify results --archives": "archives, which the demo has none of",
    r".*nmt status( --json)?$": "the paper's run",
    r"nmt agree ": "two equal runs, without which it rightly exits with 1",
}
if shutil.disk_usage(ROOT).free < 55e9:
    NOT_HERE[r".*nmt preflight"] = "50 GB of disk, without which it rightly fails"
STANDS_FOR = {
    "their-results": "results",
    "SOURCE=train.de TARGET=train.es": "SOURCE=corpus.de TARGET=corpus.es",
    "EXPERIMENT/": "experiments/demo/",
    "vectors --model FOLDER": "vectors --model experiments/demo/models/rnnencdec-50",
    "FOLDER": "experiments/demo/models/rnnsearch-50",
    "RUN.tar.zst": "rnnsearch-50.tar.zst",
    "--model RUN < text": "--model rnnsearch-50 < text.en",
    r"verify results(?!/packages)": "verify experiments/demo/results",
    "--models models": "--models experiments/demo/models",
    r"experiments/(own|demo-2) run$": r"experiments/\1 run OPTIONS=-n",
}
"""What a pattern on the pages stands for. Of long runs, only the jobs are listed."""
INSIDE = ("models/rnnsearch-50",)
"""What commands say that are for the demo's folder."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone in which README's quick start has run, with the files that pages name."""
    folder = tmp_path_factory.mktemp("pages")
    demo = commands(Path("README.md"))[0]
    run(folder, f"git clone {ROOT} nmt")
    made = folder / "nmt"
    said = run(made, f"{demo} PYTHON={sys.executable}")
    assert "experiments/demo/results/report.html" in said
    tokens = made / "experiments" / "demo" / "data" / "tokens"
    text = {side: [*read_lines(tokens / "demo-test" / f"0.{side}.zst")] for side in ("en", "fr")}
    for name, lines in {
        "text.en": text["en"][:20],
        "reference.fr": text["fr"][:20],
        "test.en": text["en"],
        "test.fr": text["fr"],
        "moses.nbest.gz": [
            f"{number} ||| {line} ||| LM0= -1 ||| -1" for number, line in enumerate(text["fr"])
        ],
        **{
            f"{part}.{code}": [*read_lines(tokens / f"demo-{of}" / f"0.{side}.zst")]
            for part, of in (("corpus", "train"), ("dev", "dev"), ("test", "test"))
            for code, side in (("de", "en"), ("es", "fr"))
        },
    }.items():
        (made / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    run(made, "gzip -c moses.nbest.gz > lists && mv lists moses.nbest.gz")
    run(made, "nmt model release --model experiments/demo/models/rnnsearch-50 --output rnnsearch-50.tar.zst")
    return made


def run(folder: Path, command: str) -> str:
    """What a command prints, in a shell that has the clone's environment on its path."""
    path = os.pathsep.join([str(folder / ".venv" / "bin"), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=outside_make() | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"
    return done.stdout


def here(page: Path) -> list[str]:
    """The commands of a page that can run, with what its names stand for; README's first has run."""
    found = [command for command in commands(page) if not any(re.match(kind, command) for kind in NOT_HERE)]
    for name, meant in STANDS_FOR.items():
        found = [re.sub(name, meant, command) for command in found]
    return found[1:] if page.name == "README.md" and page.parent == Path() else found


@pytest.mark.parametrize("page", [page for page in PAGES if here(page)], ids=str)
def test_a_page_s_commands_run(checkout: Path, page: Path) -> None:
    for command in here(page):
        if command.startswith("make new"):
            shutil.rmtree(checkout / "experiments" / "own", ignore_errors=True)
        inside = any(command.find(name) > 0 for name in INSIDE) and "experiments/" not in command
        print(command, run(checkout, f"cd experiments/demo; {command}" if inside else command), sep="\n")


def test_readmes_sentences_are_translated_as_it_says(checkout: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    asked, answer = re.findall(r"\$ (echo .+)\n    (.+)\n", readme)[0]
    assert run(checkout, f"cd experiments/demo; {asked}") == f"{answer}\n"
    program, answer = re.findall(r"    (import nmt\n    .+)\n    # (.+)\n", readme)[0]
    (checkout / "experiments" / "demo" / "said.py").write_text(
        program.replace("\n    ", "\n"), encoding="utf-8"
    )
    assert run(checkout, "cd experiments/demo; python said.py") == f"{answer}\n"


def test_what_the_page_on_python_says_comes_back(checkout: Path) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"(    import nmt\n(?:    .*\n|\n)+)", page)[:1]
    program = re.sub(r"^    ", "", program, flags=re.M)
    program = re.sub(r"^(\S+) +# (\".+\")$", r"assert \1 == \2, \1", program, flags=re.M)
    assert "assert translation.text ==" in program
    (checkout / "page.py").write_text(program, encoding="utf-8")
    run(checkout, "python page.py")
