"""A tree of calls -> counts and nested lines: text, or a flame graph above lists that fold.
A *landmark* is a call of a function that the capture looks for; its attribute `door` is true.
"""

from ..model.call_records import CallTree
from . import View
from .call_flame import (
    CSS_BY_KIND,
    LANDMARK,
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
from .plain_text import escape_to_one_line

BAR = 16  # characters of the longest bar
HEADING = "calls inside"
# The mark at the beginning of a line -> what the heading says of it.
MARKS = {"▶ ": "▶: a landmark", "[C] ": "[C]: written in C or C++", "… ": "…: folded calls"}

Branch = tuple[OutlineLine, list]  # a line, and the branches below it


def _render_calls_text(model: CallTree) -> str:
    """Return the calls as lines of text, each with a count and a bar."""
    lines = [_render_call_line(line, len(model.calls)) for line in outline_calls(model)]
    title = escape_to_one_line(model.title)
    ending = escape_to_one_line(_describe_ending(model))
    note = escape_to_one_line(model.note)
    parts = [title, _describe_lines(lines), *lines, ending, note]
    return "\n".join(part for part in parts if part)


def _render_call_line(line: OutlineLine, total: int) -> str:
    """Return a line with a bar that shows which part of all `total` calls the line represents."""
    length = max(1, round(BAR * line.call_count / total))  # the smallest bar is visible too
    bar = "█" * length
    indent = "  " * min(line.depth, MOST_ROWS)  # deeper lines would have no room for words
    return f"{line.call_count:>5} {bar:<{BAR}} {indent}{_format_call_line(line)}".rstrip()


def _describe_lines(lines: list[str]) -> str:
    """Return the heading above the lines of the text form, which explains the marks in them."""
    if not lines:
        return "no call recorded"

    text = "\n".join(lines)
    explanations = [words for mark, words in MARKS.items() if f" {mark}" in text]
    if explanations:
        return f"{HEADING} ({'; '.join(explanations)})"
    return HEADING


def _format_call_line(line: OutlineLine) -> str:
    """Return what is called, with a mark in front of a landmark."""
    text = escape_to_one_line(line.text)
    return f"▶ {text}" if line.is_landmark else text


def _describe_ending(model: CallTree) -> str:
    """Return the sentence on the error that ended the run; an empty text for none."""
    return f"It ended in {escape_to_one_line(model.outcome)}" if model.outcome else ""


def _render_calls_html(model: CallTree) -> str:
    """Return a flame graph of the calls, its legend, and nested lists of the same calls."""
    flame = draw_flame(model)
    # The legend explains only the kinds of blocks that are visible.
    drawn_kinds = {block.kind for block in walk_blocks(flame)}
    legend = {kind: css for kind, css in CSS_BY_KIND.items() if kind in drawn_kinds}

    undrawn_count = len(model.calls) - MOST_BLOCKS
    undrawn_sentence = ""
    if undrawn_count > 0:
        undrawn_sentence = f"The {undrawn_count:,} smallest calls have no block."

    # With a landmark, the blocks on its path are as wide as their words, and count no calls.
    has_landmark = any(call.door for call in model.calls)
    return render(
        "call_tree.html",
        model=model,
        branches=_nest_lines(outline_calls(model)),
        format_line=_format_call_line,
        ending=_describe_ending(model),
        flame=flame,
        legend=legend,
        css_by_kind=CSS_BY_KIND,
        path_kinds=(WAY, LANDMARK),  # the kinds of blocks that are as wide as their words
        folded_kind=SIDE,  # the kind of a block that stands for several calls beside the path
        scaled=not has_landmark,
        flame_cut=undrawn_sentence,
        script=read_image_script("call_tree.js"),
    )


def _nest_lines(lines: tuple[OutlineLine, ...]) -> list[Branch]:
    """Return each outermost line with the lines that its call contains, for nested lists."""
    branches = []
    # The branch of the line before, and of each line that contains it, the outermost first.
    open_branches: list[Branch] = []
    for line in lines:
        # A line is at most one deeper than the line before, and no deeper than `MOST_ROWS`, because
        # deeper lists would have no room for words.
        depth = min(line.depth, len(open_branches), MOST_ROWS)
        del open_branches[depth:]
        siblings = open_branches[-1][1] if open_branches else branches
        branch = (line, [])
        siblings.append(branch)
        open_branches.append(branch)
    return branches


call_tree = View(_render_calls_text, _render_calls_html)
