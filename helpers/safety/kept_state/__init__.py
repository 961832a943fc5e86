"""What a verb leaves as it found it, each read before and put back after: `KEPT`.

Beside what is put back in silence stand the settings (settings/), of which a learner is told.
"""

from helpers.safety.kept_state.entry import Kept, is_as_set
from helpers.safety.kept_state.frameworks import FRAMEWORKS
from helpers.safety.kept_state.python import PYTHON
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.settings import SETTINGS

__builtins__ = BUILTINS

KEPT = (
    # Tracers come first, or they would report the rest; then builtins, which the rest needs.
    *PYTHON,
    *(Kept(each.name, each.read, each.put, is_as_set, told=True) for each in SETTINGS),
    *FRAMEWORKS,
)
