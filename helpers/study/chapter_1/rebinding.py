"""Chapter 1, exercise 3: rebind a function in the names of all modules. The answer `rebind(old,
new)` returns a context manager. Inside its block, every name of a module that led to the function
`old` leads to `new`. The judge runs it while `sys.modules` is replaced by copies and by some test
modules. It then compares to which function each name leads, by the function's *role*: the name of
an attribute of `_TestModules`, such as "op" or "first".
"""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MethodType, ModuleType, SimpleNamespace

from helpers.capture.cpython.objects import read_namespace
from helpers.capture.text.value import short_repr
from helpers.safety.restoring import patched
from helpers.study.answers import InvalidAnswer, NotAttempted, require_no_stub
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.observations import Raised
from helpers.study.sentences import describe_raising_line

INSIDE = "inside the block"
AFTER = "after the block"
# How a verdict names the item of the list in `_TestModules.inner`.
INNER = "item [0] of a list, which is not a module,"
#: The roles: names of `_TestModules`' attributes that contain a function.
ROLES = ("twin", "op", "other", "first", "second", "third")
NAMES = ("op", "_op", "late", "table")  # the names in a test module


@contextmanager
def _rebind_everywhere(old, new):
    """Be the reference answer: set each name of a module that leads to `old` to `new`."""
    places = []
    for module in sys.modules.values():
        if not _is_holder(module, old):
            continue
        for name, value in read_namespace(module).items():
            if value is old:
                places.append((module, name))
    try:
        for module, name in places:
            setattr(module, name, new)
        yield
    finally:
        for module, name in places:
            setattr(module, name, old)


def _is_holder(module, op) -> bool:
    """Return whether an object of `sys.modules` is a module with a name that leads to `op`."""
    if not isinstance(module, ModuleType):
        return False
    return any(value is op for value in read_namespace(module).values())


def _make_function(name: str):
    """Return a function with this name, which belongs to the module "scenery"."""

    def function(*args, **kwargs):
        return name

    function.__name__ = name
    function.__module__ = "scenery"
    return function


def _make_module(names: dict) -> ModuleType:
    """Return a new module with the names and values of a dict."""
    module = ModuleType("scenery")
    vars(module).update(names)
    return module


class _TestModules:
    """Functions, and modules whose names lead to them, on which an answer is run.

    Attributes
    ----------
    op
        The function that a learner's block rebinds.
    other, twin
        Two methods that are equal, but not identical. A block may rebind `other`, never `twin`.
    first, second, third
        The replacements.
    inner
        A list that contains `op`. It is no module, so its item must stay.
    modules
        The dict that replaces `sys.modules` while the answer runs.
    watched
        The entries of `modules` whose names are compared: the test modules, and the copies with a
        name that leads to `op`.
    """

    def __init__(self, op):
        """Make the functions and the modules. `op` is the learner's function to rebind."""
        owner = object()
        function = _make_function("other")
        self.op = op
        # Each MethodType is a new object, and two of one function and one owner are equal.
        self.other = MethodType(function, owner)
        self.twin = MethodType(function, owner)
        self.first = _make_function("first")
        self.second = _make_function("second")
        self.third = _make_function("third")
        self.inner = [self.op]
        own_modules = self._make_own_modules()
        copies = self._copy_modules()
        self.modules = {
            **copies,
            **own_modules,
            # `sys.modules` may contain a module twice, None, and objects that are no modules.
            "scenery": own_modules["scenery1"],
            "scenery.nothing": None,
            "scenery.none": object(),
        }
        holders = {name: module for name, module in copies.items() if _is_holder(module, op)}
        self.watched = {**own_modules, **holders}

    def _make_own_modules(self) -> dict[str, ModuleType]:
        """Return name -> module for four test modules, which lead to `op` by none to two names."""
        rows = (  # the values of the names NAMES in each module
            (self.first, self.op, self.twin, self.op),
            (self.first, 5, self.other),
            (),
            (self.op, self.inner, self.other, self.twin),
        )
        modules = {}
        for number, values in enumerate(rows, 1):
            # strict=False: a short row gives its module only the first names.
            names = dict(zip(NAMES, values, strict=False))
            modules[f"scenery{number}"] = _make_module(names)
        return modules

    def _copy_modules(self) -> dict[str, object]:
        """Return a copy of `sys.modules` in which each module is a copy as well.

        The copy of `__main__` gets one more name that leads to `op`.
        """
        copies = dict(sys.modules)
        for name, module in sys.modules.items():
            if isinstance(module, ModuleType):
                copies[name] = _make_module(read_namespace(module))
        read_namespace(copies["__main__"])["scenery_op"] = self.op
        # The time limit of the check reads `sys.modules["psutil"]` while the answer runs.
        if "psutil" in copies:
            copies["psutil"] = SimpleNamespace(**read_namespace(copies["psutil"]))
        return copies

    def read_roles(self) -> dict[str, str]:
        """Return "module.name" -> the role of the function to which the name leads now.

        The role is one of ROLES, or "" for an object without a role. One more entry, INNER, is for
        the item of the list `inner`.
        """
        roles_by_id = {id(getattr(self, role)): role for role in ROLES}
        roles = {INNER: roles_by_id.get(id(self.inner[0]), "")}
        for path, module in self.watched.items():
            for name, value in read_namespace(module).items():
                roles[f"{path}.{name}"] = roles_by_id.get(id(value), "")
        return roles


@dataclass(frozen=True)
class Moment:
    """To which functions all names lead at one moment."""

    #: The moment, in words.
    when: str
    #: Name -> the role of its function, or the error that ended the trial.
    roles: dict[str, str] | Raised


def _run_on_module_copies(op, rebind) -> list[Moment]:
    """Run blocks of an answer on test modules and copies of all modules; return a list of Moments.

    If the answer raises an error, no further block is run, and the last Moment has the error
    instead of roles.
    """
    test_modules = _TestModules(op)
    moments = []
    try:
        with patched(sys, modules=test_modules.modules):
            _RebindingTrials(rebind, test_modules, moments).run()
    except (NotAttempted, InvalidAnswer):
        raise
    except Exception as error:
        moments.append(Moment("", Raised(type(error), error)))
    return moments


class _RebindingTrials:
    """Runs blocks of an answer, one after another, and records a Moment inside and after each."""

    def __init__(self, rebind: Callable, test_modules: _TestModules, moments: list[Moment]):
        """Prepare to run `rebind(old, new)`, the answer, and to append to `moments`."""
        self.rebind = rebind
        self.test_modules = test_modules
        self.moments = moments

    def run(self) -> None:
        """Run plain blocks, then one for each error that is raised inside, then a nested one."""
        op = self.test_modules.op
        first = self.test_modules.first
        self.run_block(op, first)
        self.run_block(op, self.test_modules.second, "with a second block, ")
        # `other` is a method, and `twin` is equal to it but must stay.
        self.run_block(self.test_modules.other, self.test_modules.third, "with a second block, ")
        for error in (KeyError("raised"), KeyboardInterrupt("raised")):
            trial = f"with a {type(error).__name__} inside, "
            self.run_block(op, first, trial, error=error)
        self.run_block(op, first, "with a nested block, ", act=self.run_inner_block)

    def note(self, when: str) -> None:
        """Append a Moment with the present roles of all names; `when` describes the moment."""
        self.moments.append(Moment(when, self.test_modules.read_roles()))

    def run_block(self, old, new, trial: str = "", act=None, error=None) -> None:
        """Run one block that rebinds `old` to `new`, and note the moments inside and after it.

        Parameters
        ----------
        trial
            What is special about the block; it begins the description of each moment.
        act
            A function without arguments that is called in the block; None for none.
        error
            An exception that is raised in the block and must come out of it; None for none.
        """
        manager = require_no_stub(self.rebind(old, new))
        if not hasattr(type(manager), "__exit__"):
            cure = f"not {short_repr(manager)}. Decorate a generator with contextmanager"
            raise InvalidAnswer(f"it must return a context manager, {cure}")
        self.note(f"{trial}when it is called")

        raised = None
        try:
            with manager:
                self.note(f"{trial}{INSIDE}")
                if act is not None:
                    act()
                if error is not None:
                    raise error
        except BaseException as caught:  # either `error`, or an error of the answer itself
            raised = caught

        self.note(f"{trial}{AFTER}")
        if error is not None and raised is None:
            raise InvalidAnswer(f"it swallowed the {short_repr(error)} raised inside the block")
        if raised is not error:  # an error of the answer itself, raised after the moment is noted
            raise raised

    def run_inner_block(self) -> None:
        """Run a block that rebinds `first`, which is the replacement in the outer block."""
        with self.rebind(self.test_modules.first, self.test_modules.second):
            self.note(f"nested {INSIDE} of another rebinding")
        self.note("after the inner of two nested blocks")


def _advise_on_names(mine: list[Moment], real: list[Moment]) -> str:
    """Return a sentence on the first name that leads to a wrong function; "" if there is none.

    `mine` are the moments of the answer, `real` those of the reference. If the answer raised an
    error, it has fewer moments, and the last one has the error.
    """
    for own, right in zip(mine, real, strict=False):
        if own.when != right.when:  # the moment of the error, whose `when` is ""
            return _describe_error(mine[-1].roles)
        for path in own.roles | right.roles:
            role = own.roles.get(path)
            right_role = right.roles.get(path)
            if role != right_role:
                return _describe_name(own.when, path, role, right_role)
    return ""


def _describe_error(raised: Raised) -> str:
    """Return a sentence on an answer's error. If the line that raised it has `==`, explain that."""
    if "==" in describe_raising_line(raised.error):
        return f"{raised.sentence}. An object's == may raise an error"
    return raised.sentence


def _describe_name(when: str, path: str, role: str | None, right_role: str | None) -> str:
    """Return what is wrong with a name that leads to one function and should lead to another.

    Parameters
    ----------
    when
        The moment in words. It contains INSIDE or AFTER.
    path
        The name, as module.name.
    role, right_role
        The roles of the function to which the name leads, and of the right one. "" stands for
        an object that has no role, None for a name that does not exist.
    """
    is_inside = INSIDE in when
    is_after = AFTER in when
    if is_inside and right_role == "twin":
        return "it replaced an object that is only equal to the old one"
    if is_after and right_role == "first":
        # Some names lead to the replacement even before a block, and must do so after it.
        fault = "it also changed a name that led to the replacement before the block"
        return f"{fault}. Remember what you changed instead of searching again"
    if is_inside and role == "op":
        return f"{when}, {path} still leads to the old function"
    if is_after and right_role == "op":
        fault = f"{when}, {path} does not lead to the old function again"
        # As in "with a KeyError inside, " and "with a KeyboardInterrupt inside, " of `run`.
        has_raised = "Error inside" in when or "Interrupt" in when
        return f"{fault}. Restore it in a finally" if has_raised else fault
    leads = f"leads to {role or 'nothing'}"
    return f"{when}, {path} {leads}, but must lead to {right_role or 'its old value'}"


@exercise(
    "Start from the small module scan of section 4. It already finds the names to write to.",
    "Remember each (namespace, name) that you change. Write new, yield, write old back.",
    "In try, write new everywhere and yield. In finally, write old back to the remembered "
    "places. Decorate the function with @contextlib.contextmanager.",
)
def rebinding(my_rebind_everywhere: Callable, op: Callable):
    """Your blocks rebind every module name, nest, survive errors, and restore every name."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.
    case = JudgedCase(
        "on copies of all modules", partial(_run_on_module_copies, op), _advise_on_names
    )
    return find_difference(my_rebind_everywhere, _rebind_everywhere, [case])
