"""The handlers beyond the learner's steps: classes of methods, grouped by the idea that they serve.

A handler is a method that is named for an opcode. Its docstring is its stack effect, the top of the
stack on the right.
"""

from helpers.mini.vm.beyond.attributes import Attributes
from helpers.mini.vm.beyond.calls import MoreCalls
from helpers.mini.vm.beyond.containers import Containers
from helpers.mini.vm.beyond.exceptions import MoreExceptions
from helpers.mini.vm.beyond.generators import Generators
from helpers.mini.vm.beyond.intrinsics import Intrinsics
from helpers.mini.vm.beyond.modules import Modules
from helpers.mini.vm.beyond.names import MoreNames, Slots
from helpers.mini.vm.beyond.operators import MoreOperators
from helpers.mini.vm.beyond.patterns import Patterns
from helpers.mini.vm.beyond.strings import Strings

BEYOND = (
    *(MoreNames, MoreOperators, MoreCalls, MoreExceptions, Attributes, Containers, Strings),
    *(Generators, Patterns, Modules, Intrinsics, Slots),
)

__all__ = ["BEYOND"]
