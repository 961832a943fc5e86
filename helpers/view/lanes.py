"""The steps of a graph -> a column per step: what stands in one column can run side by side.

A longest way is marked ▸ from its first node to its last. The text form is a table of steps.
"""

from helpers.model.steps import Steps
from helpers.view import row_limit, table
from helpers.view.markup import render

LEGEND = "▸ on a longest way   pale: an input or a constant"

text = table.text


def html(model: Steps) -> str:
    """Return the columns as an HTML table with a heading per step, inputs and constants paler."""
    model = row_limit.trimmed(model)
    part = row_limit.fold([len(lane) * 400 + 200 for lane in model.lanes])
    return render(
        "lanes.html",
        model=model,
        lanes=model.lanes[: part.head],
        path=frozenset(model.path),
        legend=LEGEND,
        left_out=part.says("the model has all of them (`.model.rows`)", "Steps"),
    )
