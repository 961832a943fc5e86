"""A tree of calls -> counts and nested lines: text, or a flame above folding lists."""

from ..model.call_records import CallTree
from . import View
from .call_flame import (
    LANDMARK,
    LOOKS,
    MOST_BLOCKS,
    MOST_ROWS,
    SIDE,
    WAY,
    draw_flame,
    walk_blocks,
)
from .call_outline import OutlineLine, outline_calls
from .images import read_image_script
from .markup import render
from .plain_text import spell_in_one_line

BAR = 16  # characters of the longest bar
HEADING = "calls inside"
MARKS = {"▶ ": "▶: a landmark", "[C] ": "[C]: written in C or C++", "… ": "…: folded calls"}

Branch = tuple[OutlineLine, list]  # a line, and the branches below it


def _render_calls_text(model: CallTree) -> str:
    lines = [_render_call_line(line, len(model.calls)) for line in outline_calls(model)]
    title = spell_in_one_line(model.title)
    ending = spell_in_one_line(_describe_ending(model))
    note = spell_in_one_line(model.note)
    parts = [title, _describe_lines(lines), *lines, ending, note]
    return "\n".join(part for part in parts if part)


def _render_call_line(line: OutlineLine, most: int) -> str:
    """Return a line with a bar that shows which part of all calls it represents."""
    bar = "█" * max(1, round(BAR * line.call_count / most))
    indent = "  " * min(line.depth, MOST_ROWS)
    return f"{line.call_count:>5} {bar:<{BAR}} {indent}{_format_call_line(line)}".rstrip()


def _describe_lines(lines: list[str]) -> str:
    """Return the heading, which explains the marks that are used."""
    if not lines:
        return "no call recorded"

    text = "\n".join(lines)
    explanations = [words for mark, words in MARKS.items() if f" {mark}" in text]
    if explanations:
        return f"{HEADING} ({'; '.join(explanations)})"
    return HEADING


def _format_call_line(line: OutlineLine) -> str:
    text = spell_in_one_line(line.text)
    return f"▶ {text}" if line.is_landmark else text


def _describe_ending(model: CallTree) -> str:
    return f"It ended in {spell_in_one_line(model.outcome)}" if model.outcome else ""


def _render_calls_html(model: CallTree) -> str:
    flame = draw_flame(model)
    kinds = {block.kind for block in walk_blocks(flame)}
    undrawn_count = len(model.calls) - MOST_BLOCKS
    cut_sentence = ""
    if undrawn_count > 0:
        cut_sentence = f"The {undrawn_count:,} smallest calls have no block."

    return render(
        "call_tree.html",
        model=model,
        branches=_nest_lines(outline_calls(model)),
        words=_format_call_line,
        ending=_describe_ending(model),
        flame=flame,
        looks={kind: look for kind, look in LOOKS.items() if kind in kinds},
        look=LOOKS,
        bright=(WAY, LANDMARK),
        side=SIDE,
        scaled=not any(call.door for call in model.calls),
        flame_cut=cut_sentence,
        script=read_image_script("call_tree.js"),
    )


def _nest_lines(lines: tuple[OutlineLine, ...]) -> list[Branch]:
    """Return each outermost line with those below it, for nested lists."""
    branches = []
    open_branches: list[Branch] = []  # from the outermost line to the one before
    for line in lines:
        depth = min(line.depth, len(open_branches), MOST_ROWS)
        del open_branches[depth:]
        siblings = open_branches[-1][1] if open_branches else branches
        branch = (line, [])
        siblings.append(branch)
        open_branches.append(branch)
    return branches


call_tree = View(_render_calls_text, _render_calls_html)
