"""Text forms: nothing that cannot be seen, and no more lines than a screen has."""

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from helpers.view.plain_text import cut_to_screen, escape_invisible, escape_to_one_line

SCREEN = 60  # lines


@given(st.text())
def test_every_character_can_be_seen_and_seen_ones_stay(text):
    shown = escape_invisible(text)
    assert shown.replace("\n", "").isprintable()
    assert escape_to_one_line(text).isprintable()
    if text.isprintable():
        assert shown == text


def test_what_is_no_text_and_markup_come_back_as_they_are():
    markup = Markup("<b>\x1b</b>")
    assert escape_invisible(markup) is markup and escape_invisible(7) == 7
    assert escape_invisible("a\x1b\u202eb") == "a\\x1b\\u202eb"


@given(st.integers(0, 400), st.integers(2, 30))
def test_a_long_text_fits_a_screen_and_keeps_its_ends(count, block_size):
    lines = [f"line {n}" if n % block_size else "" for n in range(count)]
    text = "\n".join(lines)
    shown = cut_to_screen(text, "{} lines").split("\n")
    assert len(shown) <= SCREEN
    if len(shown) != len(text.split("\n")):
        assert shown[0] == lines[0] and shown[-2:] == [lines[-1], f"{count} lines"]
        (between,) = [number for number, line in enumerate(shown) if line.startswith("…")]
        left_out_count = int(shown[between].split()[1])
        assert left_out_count + len(shown) - 2 == count  # two lines are not of the text


def test_a_cut_is_before_a_block_of_lines():
    lines = [f"line {number}" if number % 10 != 9 else "" for number in range(200)]
    shown = cut_to_screen("\n".join(lines), "").split("\n")
    cut = next(number for number, line in enumerate(shown) if line.startswith("…"))
    assert shown[cut - 1] == "" and shown[cut + 1] == "line 190"
