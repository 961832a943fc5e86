"""Ways to call, and who holds what is called."""

from helpers.capture.references import routes as capture
from helpers.exhibit import Exhibit
from helpers.safety.restoring import whole
from helpers.view.widgets.routes_view import routes as view


@whole
def watch_routes(old, new, routes, holders, interventions) -> Exhibit:
    """Run every route under every intervention, and draw who holds `old` or `new` meanwhile.

    `routes`: name -> callable without arguments. `holders`: the same names -> callable that returns
    what the route would call. `interventions` as in `watch_callers`.
    """
    return Exhibit(capture.watch_routes(old, new, routes, holders, interventions), view)
