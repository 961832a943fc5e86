"""Where a source is: the lines of a file bear its numbers, those of a cell their own."""

import pytest

import helpers


def documented(x):
    """Say one thing,

    and then
    many more,
    which are folded.
    """

    def inner(y):
        """Say little."""
        return x + y

    return inner(1)


BODY = documented.__code__.co_firstlineno + 9  # the line of `def inner`
VERBS = {
    "show_bytecode": lambda fn: helpers.show_bytecode(fn),
    "watch_frames": lambda fn: helpers.watch_frames(fn, 1),
    "watch_names": lambda fn: helpers.watch_names(fn, 1),
    "watch_stack": lambda fn: helpers.watch_stack(fn, 1),
}


@pytest.mark.parametrize("verb", VERBS)
def test_title_and_numbers_are_those_of_the_file(verb):
    model = VERBS[verb](documented).model
    first = documented.__code__.co_firstlineno
    assert f" (test_places.py:{first})" in model.title
    numbered = dict(zip(model.numbers, model.source.split("\n"), strict=True))
    assert numbered[str(first)].startswith("def documented")
    assert numbered[str(first + 1)] == ('    """Say one thing, … 5 more lines of docstring"""')
    assert numbered[str(first + 8)].startswith("    def inner") and str(first + 3) not in numbered
    assert numbered[str(first + 9)] == '        """Say little."""'  # a short one stays


def test_spans_and_lines_lead_to_the_same_words_below_a_folded_docstring():
    model = helpers.show_bytecode(documented).model
    lines = model.source.split("\n")
    for row in model.rows:
        if row.snippet and row.span[0] == row.span[2]:
            line, start, _, end = row.span
            assert lines[line - 1][start:end] == row.snippet
            assert model.numbers[line - 1] == str(row.line)
    last = documented.__code__.co_firstlineno + 12
    assert any(row.line == last and "inner(1)" in row.snippet for row in model.rows)
    steps = helpers.watch_frames(documented, 1).model
    assert [lines[s.line - 1].strip() for s in steps.steps][1] == "def inner(y):"


def test_cells_keep_their_own_numbers_and_no_place(ip=None):
    import linecache

    text = "def cell(x):\n    return x\n"
    linecache.cache["<ipython-input-1>"] = len(text), None, text.splitlines(True), "<cell>"
    space = {}
    exec(compile(text, "<ipython-input-1>", "exec"), space)
    for verb in VERBS.values():
        model = verb(space["cell"]).model
        assert model.numbers[:2] == ("1", "2") and "(" not in model.title
