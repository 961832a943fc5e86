"""The text and HTML forms of what each verb shows are the stored ones.

`pytest tests/view/test_recorded.py --snapshot-update` stores new ones; read them in the diff.
"""

import pytest

from tests.view.recorded_models import html_form, read_recorded, text_form

RECORDED = read_recorded()


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
def test_text_and_html_are_the_stored_ones(recorded, snapshot):
    exhibit = recorded.exhibit()
    assert text_form(exhibit) == snapshot(name="text")
    assert html_form(exhibit) == snapshot(name="html")
