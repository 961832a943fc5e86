"""Two answers that part: one sentence, two columns, and the difference marked."""

import json

from helpers.study.check import Exercise
from helpers.study.two_answers import Parted, packed, parted, unpacked, within
from helpers.view.progress_view import outcome

NASTY = "<script>x</script>"


def failing(because, **more):
    return Exercise("sum", lambda answer: because, "well done", ("a hint",), **more)(1)


def apart():
    return parted("f(2): ", "gives [1, 5, 3]", "gives [1, 2, 3]", "CPython", ". Look at POP_TOP.")


def test_the_sentence_says_both():
    assert apart() == "f(2): yours gives [1, 5, 3], CPython gives [1, 2, 3]. Look at POP_TOP."


def test_words_around_it_keep_what_it_knows():
    more = within("for x, ", apart(), " Think")
    assert more == f"for x, {apart()} Think" and type(more) is Parted
    assert (more.beside.yours, more.beside.before) == ("gives [1, 5, 3]", "for x, f(2): ")
    assert within("for x, ", "no", "!") == "for x, no!"


def test_it_can_be_told_to_another_process():
    assert unpacked(packed("no")) == "no"
    again = unpacked(json.loads(json.dumps(packed(apart()))))
    assert again == apart() and again.beside == apart().beside


def test_the_text_form_is_the_sentence_and_the_page_has_two_columns():
    exhibit = failing(apart())
    assert f"failed because {apart()}" in repr(exhibit)
    html = outcome.html(exhibit.model)
    assert html.index("yours") < html.index("CPython") < html.index("Look at POP_TOP.")
    assert html.count("underline") == 2 and "<b" in html
    assert '">5</b>' in html and '">2</b>' in html and '">1</b>' not in html


def test_hostile_answers_are_escaped():
    html = outcome.html(failing(parted(NASTY, NASTY, f"{NASTY}2", NASTY, NASTY)).model)
    assert "<script" not in html


def test_numbers_and_quoted_names_are_marked_as_wholes():
    html = outcome.html(
        failing(parted("", "gives -5, ['a']", "gives 5, ['b', 'a']", "CPython")).model
    )
    assert '">-5</b>' in html and "'b', </b>" in html.replace("&#39;", "'")
