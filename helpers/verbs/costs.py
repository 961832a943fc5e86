"""What a call costs, measured in one run and plotted; and what goes down step by step."""

from helpers.capture.cpython import costs
from helpers.exhibit import Exhibit
from helpers.safety.restoring import whole
from helpers.view import charts
from helpers.view.table_view import table


@whole
def watch_costs(unit, actions, unit_name: str = "runs of the unit") -> Exhibit:
    """Time actions (name -> callable) against `unit` in one run; `.model.ratio(name)` tells.

    What one of them raises is raised. TypeError for what cannot be called.
    """
    return Exhibit(costs.costs_listing(unit, actions, unit_name), table)


@whole
def plot_ratios(title: str, ratios: dict[str, float]) -> charts.Plot:
    """Plot ratios by name as bars on a logarithmic scale.

    TypeError for what is no dict of str -> number, ValueError for a number that is not positive.
    """
    return charts.plot(title, ratios)


@whole
def plot_curve(title: str, numbers, step: str = "step") -> Exhibit:
    """Draw numbers, such as the losses of a training, as a curve. `step`: what is counted.

    TypeError for what is no list or tuple of numbers, ValueError for a number below 0.
    """
    return Exhibit(charts.make_curve(title, numbers, step), charts.curve)
