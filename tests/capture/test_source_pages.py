"""The sources of a run in one text: where each function's lines are, and what they are called."""

from helpers.capture.text.source import find_source
from helpers.capture.text.source_pages import SourcePages


def first(x):
    return x + 1


def outer():
    def inner(x):
        return x * 2

    return inner


def code_of(function):
    return function.__code__


def test_sources_follow_each_other_with_one_empty_line_between():
    pages = SourcePages()
    assert pages.place(code_of(first))[1] == 0
    assert pages.place(code_of(outer))[1] == 3  # two lines, and an empty one
    assert pages.text.split("\n\n")[0] == find_source(code_of(first)).text
    lines = pages.text.split("\n")
    assert lines[3] == "def outer():" and len(pages.places) == len(lines)


def test_an_inner_function_is_found_in_the_source_of_the_outer_one():
    pages = SourcePages()
    inner = code_of(outer())
    pages.place(code_of(outer))
    text = pages.text
    line = pages.line(inner, inner.co_firstlineno + 1)
    assert pages.text == text  # nothing was added
    assert text.split("\n")[line - 1].strip() == "return x * 2"


def test_a_line_is_called_by_its_number_in_the_file():
    pages = SourcePages()
    number = code_of(first).co_firstlineno
    assert pages.number(pages.line(code_of(first), number)) == str(number)
    assert pages.line(code_of(first), None) == 0 and pages.number(0) == ""
    assert pages.line(code_of(first), number + 1_000) == 0


def test_a_line_of_a_cell_is_called_by_its_number_in_the_text():
    import linecache

    name = "ipykernel_1/of_a_cell.py"
    linecache.cache[name] = (1, None, ["def f():\n", "    return 1\n"], name)
    space = {}
    try:
        exec(compile("def f():\n    return 1\n", name, "exec"), space)
        pages = SourcePages()
        line = pages.line(code_of(space["f"]), 2)
        assert (line, pages.number(line), pages.places) == (2, "2", ["", ""])
    finally:
        del linecache.cache[name]
