"""What a program sets for its whole process -> how each is read, and put back: `SETTINGS`.

A verb runs a learner's function to look at it, some of them several times. What that function sets
would hold for every cell that comes after, so the verb puts it back and says so: what is to stay is
set in a cell of its own. A `with` block of the course, and a function that a verb hands back, run
in the learner's own cell: what those set stays.

Not among these: what a function does to its own objects (a tape that it starts is one), to files
and to `os.environ`; how generators of random numbers are seeded, and how far drawn from.
"""

from helpers.safety.original_builtins import BUILTINS
from helpers.safety.settings.frameworks import FRAMEWORKS
from helpers.safety.settings.python import PYTHON

__builtins__ = BUILTINS

SETTINGS = (*PYTHON, *FRAMEWORKS)
