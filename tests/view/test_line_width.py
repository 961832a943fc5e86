"""helpers/view/line_width.py: no text form is wider than a page, and no word of it is lost."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.view.markup import WIDEST, columns_wrapped, grid, wrapped

WORDS = st.text("abc de-f.", max_size=300)


def widest(text):
    return max(map(len, text.split("\n")))


@given(WORDS)
def test_a_long_line_goes_on_further_in_and_keeps_its_words(line):
    found = wrapped("  " + line)
    assert widest(found) <= WIDEST
    assert "".join(found.split()) == "".join(line.split())
    assert all(more.startswith("      ") for more in found.split("\n")[1:])


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_table_fits_and_keeps_what_its_cells_say(rows):
    table = grid(["one", "two", "three"], rows)
    assert widest(table) <= WIDEST
    _, cells = columns_wrapped(["one", "two", "three"], rows)
    said = [["".join(cell.split()) for cell in row] for row in cells]
    assert said == [["".join(cell.split()) for cell in row] for row in rows]


def test_a_heading_is_wider_than_its_words():
    rows = [["x" * 200, "yes", "yes", "no"], ["y", "no", "no", "no"]]
    lines = grid(["route", "names", "code", "callback"], rows).split("\n")
    assert widest("\n".join(lines)) <= WIDEST
    assert sum("yes" in line for line in lines) == 1, "a row of short cells stays one line"


def test_what_fits_is_left_as_it_is():
    short = "a  line\n   with  its  spaces"
    assert wrapped(short) == short
    rows = [["  x", "y  z"]]
    assert columns_wrapped(["a", "b"], rows) == (["a", "b"], rows)


def test_a_long_name_goes_on_after_a_joint():
    name = "some_package.of_modules.that_have_long_names.and_a_class.<locals>.a_function_of_it"
    _, [cells] = columns_wrapped(["a", "b", "c", "d"], [[name] * 4])
    parts = cells[0].split("\n")
    assert len(parts) > 2 and "".join(parts) == name
    assert all(part[-1] in "._" for part in parts[:-1])


def test_an_arrow_does_not_stand_alone_before_a_long_name():
    names = ["→ BINARY_OP_MULTIPLY_FLOAT", "→ BINARY_OP_ADD_UNICODE"]
    _, [cells] = columns_wrapped(list("abcdef"), [names * 3])
    assert all("\n" in cell and "→ BINARY" in cell for cell in cells)
