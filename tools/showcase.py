"""`make showcase` runs this module: it draws two pictures of README from the demo's models, and runs the lecture.

Usage: python -m tools.showcase
"""

import difflib
import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import sacrebleu
from matplotlib import get_data_path
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from nbclient import NotebookClient
from PIL import Image, ImageDraw, ImageFont

import nmt
from nmt.decoding.forced_decoding import score_translations
from nmt.environment import REPOSITORY
from nmt.plots.attention import AttentionPanel
from nmt.plots.style import figure_style, save_figure

MODELS = REPOSITORY / "experiments" / "demo" / "models"
PICTURES = REPOSITORY / "docs" / "pictures"
LECTURE = REPOSITORY / "docs" / "attention.ipynb"

CLAUSES = (
    ("the small boy looks for the dog", "le petit garçon cherche le chien"),
    ("Julia has never given him the keys", "Julie ne lui a jamais donné les clés"),
    ("the tired queen sleeps in the castle", "la reine fatiguée dort dans le château"),
    ("they often listen to the young teacher", "ils écoutent souvent le jeune professeur"),
    ("his old horse needs a green tree", "son vieux cheval a besoin d'un arbre vert"),
    ("the king has sold the school books", "le roi a vendu les livres d'école"),
    ("she gives them to him", "elle les lui donne"),
)
"""Parts of the growing sentence, which "and" joins, and their translations. The first five are those of the lecture."""
MATRIX_SENTENCE = "The king has sold the school books."
FRAMED_SOURCE_WORDS, FRAMED_TARGET_WORDS = ("school", "books"), ("livres", "école")
"""Words in the frame of the matrix: the two languages order them differently."""

INK, SOFT, BLUE, ORANGE, RED = "#1a1a1a", "#5c5c5c", "#0072B2", "#D55E00", "#c01c28"
WIDTH, MARGIN, LINE_HEIGHT = 1280, 48, 42
"""Sizes of the moving picture, in pixels."""
SECONDS, LAST_SECONDS = 2.2, 5.0
"""How long a sentence is shown, and the longest one."""


class Word(NamedTuple):
    """A word of the moving picture, and its colour."""

    text: str
    color: str


class Block(NamedTuple):
    """A part of the moving picture: a heading, a score from 0 to 100 or none, and words."""

    heading: Word
    bleu: float | None
    words: list[Word]


def main() -> None:
    """Draw both pictures, and run the lecture."""
    with_attention, without_attention = (nmt.load(MODELS / name) for name in ("rnnsearch-50", "rnnencdec-50"))
    frames = list(make_frames(with_attention, without_attention))
    write_animation(frames, PICTURES / "growing_sentence.gif")
    save_figure(
        plot_matrix(with_attention),
        PICTURES / "attention.png",
        "Attention of the demo's RNNsearch-50: for each French word, how much it reads of each English word.",
    )
    run_lecture()


def run_lecture() -> None:
    """Run the notebook, and write its outputs into it, without the times of its cells, which would always differ."""
    notebook = nbformat.read(LECTURE, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": LECTURE.parent}}
    NotebookClient(notebook, record_timing=False, resources=resources).execute()
    nbformat.write(notebook, LECTURE)  # type: ignore[no-untyped-call]


# --- the moving picture -----------------------------------------------------------------------------------------------


def make_frames(*models: nmt.Model) -> Iterator[list[Block]]:
    """Yield the blocks of each frame: the sentence, and its translations with attention and without."""
    headings = (Word("with attention", BLUE), Word("one vector for the whole sentence", ORANGE))
    for count in range(1, len(CLAUSES) + 1):
        english_clauses, french_clauses = zip(*CLAUSES[:count], strict=True)
        source = join_clauses(english_clauses, ", and ")
        reference = join_clauses(french_clauses, ", et ")
        source_words = [Word(word, INK) for word in source.split()]
        blocks = [Block(Word(f"English, {len(source_words)} words", SOFT), None, source_words)]
        for model, heading in zip(models, headings, strict=True):
            text = model.translate(source).text
            bleu = sacrebleu.sentence_bleu(text, [reference]).score
            blocks.append(Block(heading, bleu, mark_wrong_words(text.split(), reference.split())))
        yield blocks


def join_clauses(clauses: Sequence[str], conjunction: str) -> str:
    """Return clauses as one sentence."""
    text = conjunction.join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def mark_wrong_words(words: Sequence[str], reference: Sequence[str]) -> list[Word]:
    """Return the words of a translation: black if the reference has them in the same order, else red."""
    colors = [RED] * len(words)
    matcher = difflib.SequenceMatcher(None, words, reference, autojunk=False)
    for start, _, length in matcher.get_matching_blocks():
        colors[start : start + length] = [INK] * length
    return [Word(text, color) for text, color in zip(words, colors, strict=True)]


def write_animation(frames: Sequence[Sequence[Block]], path: Path) -> None:
    """Write the frames as a GIF that repeats for ever. Each block is as high as its longest text in any frame."""
    lines_of_block = []
    for same_block_in_frames in zip(*frames, strict=True):
        lines_of_block.append(max(len(break_lines(block.words)) for block in same_block_in_frames))
    pictures = [draw_frame(blocks, lines_of_block) for blocks in frames]
    durations = [1000 * SECONDS] * (len(frames) - 1) + [1000 * LAST_SECONDS]
    # the longest sentence comes first, for viewers that show only the first frame
    pictures = pictures[-1:] + pictures[:-1]
    durations = durations[-1:] + durations[:-1]
    first_picture, *others = (picture.quantize(32, dither=Image.Dither.NONE) for picture in pictures)
    first_picture.save(path, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)


def draw_frame(blocks: Sequence[Block], lines_of_block: Sequence[int]) -> Image.Image:
    """Draw the blocks below each other; a score is a bar at the right of the heading."""
    # a block has its lines, the heading and an empty line, which the last block does not need
    height = 2 * MARGIN + sum(LINE_HEIGHT * (lines + 2) for lines in lines_of_block) - LINE_HEIGHT
    picture = Image.new("RGB", (WIDTH, height), "white")
    draw = ImageDraw.Draw(picture)
    y = MARGIN
    for block, lines in zip(blocks, lines_of_block, strict=True):
        draw.text((MARGIN, y), block.heading.text, block.heading.color, get_font("DejaVuSans-Bold", 28))
        if block.bleu is not None:
            left, right = WIDTH - MARGIN - 400, WIDTH - MARGIN
            score = f"BLEU {block.bleu:.0f}"
            draw.text((left - 20, y), score, block.heading.color, get_font("DejaVuSans-Bold", 28), "ra")
            draw.rectangle((left, y + 4, right, y + 30), "#ececec")
            score_right = left + (right - left) * block.bleu / 100
            draw.rectangle((left, y + 4, score_right, y + 30), block.heading.color)
        for line_number, line in enumerate(break_lines(block.words), start=1):
            x = float(MARGIN)
            line_y = y + LINE_HEIGHT * line_number + 4
            for word in line:
                draw.text((x, line_y), word.text, word.color, get_font("DejaVuSans", 30))
                x += measure(word.text + " ")
        y += LINE_HEIGHT * (lines + 2)
    return picture


def break_lines(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words in lines that fit into the picture."""
    lines: list[list[Word]] = [[]]
    for word in words:
        line_text = " ".join(part.text for part in [*lines[-1], word])
        if measure(line_text) > WIDTH - 2 * MARGIN:
            lines.append([])
        lines[-1].append(word)
    return lines


def measure(text: str) -> float:
    """Return the width of a text in pixels."""
    return get_font("DejaVuSans", 30).getlength(text)


def get_font(name: str, size: int) -> ImageFont.FreeTypeFont:
    """Return a font that matplotlib brings along, so that the picture is the same everywhere."""
    return ImageFont.truetype(str(Path(get_data_path(), "fonts", "ttf", f"{name}.ttf")), size)


# --- the matrix -------------------------------------------------------------------------------------------------------


def plot_matrix(model: nmt.Model) -> Figure:
    """Return the attention of a sentence with its end symbols, and a frame where the order of words differs."""
    translation = model.translate(MATRIX_SENTENCE)
    source, target = translation.source_tokens, translation.tokens
    (scores,) = score_translations(model.trained_models, [(source, target)], batch_size=1)
    assert scores.attention is not None
    with figure_style():
        panel = AttentionPanel(scores.attention, source, target)
        left, above, margin = 0.3, 0.3, 0.1  # inches: titles, and the margin of the figure
        width, height = left + panel.width + margin, above + panel.height
        figure = Figure(figsize=(width, height))
        panel.draw(figure, right_edge=width - margin, top_edge=height - above, letter="")
        (axes,) = figure.axes
        titles: dict[str, Any] = {"color": SOFT, "fontsize": panel.font_size}
        figure.text(1 - margin / width, 1 - 0.08 / height, "source words", ha="right", va="top", **titles)
        figure.text(0.08 / width, 0.5, "written words", rotation=90, va="center", **titles)

        # the frame, around cells of source words (columns) and written words (rows)
        columns = find_words(source, FRAMED_SOURCE_WORDS)
        rows = find_words(target, FRAMED_TARGET_WORDS)
        x, y = min(columns) - 0.5, min(rows) - 0.5
        frame_width, frame_height = max(columns) + 0.5 - x, max(rows) + 0.5 - y
        axes.add_patch(
            Rectangle((x, y), frame_width, frame_height, fill=False, edgecolor=ORANGE, linewidth=2)
        )
    return figure


def find_words(tokens: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return the positions of words among escaped tokens, whose apostrophes at both ends do not count."""
    plain_tokens = [html.unescape(token).strip("'") for token in tokens]
    return [plain_tokens.index(word) for word in words]


if __name__ == "__main__":
    main()
