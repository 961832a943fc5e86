"""Measured cells: what the mask hides is numbers and nothing else, in text and in HTML."""

import re

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.capture.cpython import costs
from helpers.capture.tensorflow import variable_outcomes
from helpers.exhibit import Exhibit
from helpers.model.cost_records import Cost
from helpers.model.noise import OVERLAP, describe_cost, measure_ratio
from helpers.model.tables import Column, Listing
from helpers.view.charts import plot
from helpers.view.table_view import table
from tests.measured import TAG, TICK, mask
from tests.notebook_rules import PLACE_OR_ADDRESS
from tests.pythons import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = st.floats(1e-6, 10)
ROUNDS = st.lists(SECONDS, min_size=2, max_size=7)
NAMES = ("a call", "5 numbers, in C++", "torch.relu")


def forms(shown):
    """Return the text and the HTML of an exhibit or a plot."""
    bundle = shown._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    return [bundle[kind] for kind in ("text/plain", "text/html")]


def masked(shown):
    return [mask(form) for form in forms(shown)]


def measured(rounds, unit):
    """Return what three actions with these rounds look like: as bars, and as rows."""
    ratios = {name: measure_ratio(action, unit) for name, action in zip(NAMES, rounds, strict=True)}
    rows = [
        Cost(name, ratio, describe_cost(ratio), ratio.between) for name, ratio in ratios.items()
    ]
    headings = {"action": "action", "words": "in calls", "between": "rounds between"}
    columns = tuple(Column(*pair) for pair in headings.items())
    return plot("Time", ratios), Exhibit(Listing("Measured", columns, rows, costs.NOTE), table)


THREE = st.tuples(ROUNDS, ROUNDS, ROUNDS)


@given(THREE, ROUNDS, THREE, ROUNDS)
def test_two_measurements_of_the_same_actions_look_the_same(one, unit, other, other_unit):
    for first, second in zip(measured(one, unit), measured(other, other_unit), strict=True):
        assert masked(first) == masked(second)


@given(st.lists(st.sampled_from(["0, 1", "1, 1"]), min_size=1, max_size=60))
def test_two_races_of_the_same_program_look_the_same(seen):
    def race(saw):
        counts = variable_outcomes.Counter(saw)
        rows = list(variable_outcomes.build_race_rows("RefVariable", counts, [counts], len(saw)))
        columns = variable_outcomes.COLUMNS
        return Exhibit(Listing("a race", columns, rows, variable_outcomes.ANY_ORDER), table)

    assert masked(race(seen)) == masked(race(["1, 1"]))


def test_another_name_another_note_or_another_heading_is_seen():
    listing = Listing("Measured", (Column("action", "action"),), (Cost("a", 1, "", ""),), "A note.")
    others = [
        Listing("Timed", *list(vars(listing).values())[1:]),
        Listing("Measured", (Column("action", "what"),), listing.rows, listing.note),
        Listing("Measured", listing.columns, (Cost("b", 1, "", ""),), listing.note),
        Listing("Measured", listing.columns, listing.rows, "Another note."),
    ]
    for other in others:
        for before, now in zip(
            masked(Exhibit(listing, table)), masked(Exhibit(other, table)), strict=True
        ):
            assert before != now
    bars = masked(plot("T", {"a": 2.0}))
    assert all(map(str.__ne__, bars, masked(plot("T", {"b": 2.0}))))
    assert all(map(str.__ne__, bars, masked(plot("U", {"a": 2.0}))))


def measured_cells():
    """Yield the notebook, the number among its cells, and each measured cell."""
    for path in NOTEBOOKS:
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
            if TAG in cell.metadata.get("tags", ()):
                yield path.stem, number, cell


WORD = re.compile(r"[A-Za-z]{2,}")


@pytest.mark.parametrize(
    "cell", [pytest.param(c, id=f"{name}-{number}") for name, number, c in measured_cells()]
)
def test_each_stored_word_of_a_measured_cell_is_compared(cell):
    [output] = cell.outputs
    text, page = output.data["text/plain"], LOOK.sub(r"\1", TICK.sub("", output.data["text/html"]))
    for shown in (text, page):
        assert not PLACE_OR_ADDRESS.search(shown)
        hidden = set(WORD.findall(shown)) - set(WORD.findall(mask(shown)))
        assert hidden <= IN_PLACE_OF_A_NUMBER, "these words are not compared"
    assert mask(NUMBER.sub("77", text)) == mask(text), "its numbers are masked"


IN_PLACE_OF_A_NUMBER = {"about", "as", "long", "too", "noisy", "to", "compare"}
NUMBER = re.compile(r"(?<![\w.,/])\d+(?![\w.,%/])")
# Where something is, which its numbers decide.
LOOK = re.compile(r'(<(?:td\b|th\b|\w+ data-measured=)[^>]*) style="[^"]*"')


def test_the_general_sentence_on_noise_is_not_masked():
    assert mask(OVERLAP.format("bars")) == OVERLAP.format("bars")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "notebooks").rglob("*.ipynb")), ids=lambda path: path.stem
)
def test_no_notebook_has_an_output_that_is_not_compared(path):
    """False 25: what nbval ignores no longer came from its source."""
    for cell in nbformat.read(path, as_version=4).cells:
        tags = cell.metadata.get("tags", ())
        assert not [tag for tag in tags if tag.startswith("nbval-") or tag == "raises-exception"]
        assert "NBVAL_" not in cell.source
        if cell.cell_type == "code" and cell.outputs:
            assert cell.execution_count is not None, "nbval compares only what was run"
            kinds = {kind for output in cell.outputs for kind in output.get("data", ())}
            assert kinds <= {"text/plain", "text/html", "image/svg+xml"}, kinds
