"""One whole call: every seam of the course that it passes."""

from helpers.capture.frameworks.journey_stops import journey
from helpers.exhibit import Exhibit
from helpers.safety.restoring import whole
from helpers.view.spine_view import journey as journey_view


@whole
def show_journey(fn, *args, shares: bool = False, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` twice, and show which of the six seams each of the calls passed.

    `.model.first` and `.model.again` have what was counted, for the thread that calls. *Yours* is
    what the module of `fn` holds; frames of others are counted, and not followed.
    `shares=True` calls it some more times, with nothing but a profiler written in C, and shows in
    whose code its time passed. An Exception and what it prints are told. TypeError if `fn` cannot
    be called, or makes a coroutine.
    """
    return Exhibit(journey(fn, args, kwargs, shares), journey_view)
