"""Runs in a process of their own."""

from helpers.capture.processes import child
from helpers.exhibit import Exhibit
from helpers.safety.restoring import whole
from helpers.view.source_views import transcript


@whole
def watch_in_child(*what, title: str = "", imports: str | None = None) -> Exhibit:
    """Run functions without arguments, or source, each in a child interpreter of its own.

    There `tf` is TensorFlow, and no op has run yet, unless `imports` is other source. Shown is what
    it prints, and the error that ends it: not what else it writes to stderr, such as warnings.
    TypeError for what is neither; ValueError for a function whose source is not at hand.
    """
    return Exhibit(child.watch_in_child(*what, title=title, imports=imports), transcript)
