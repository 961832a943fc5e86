"""try, except, finally, with, except*, contexts and causes."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write

import contextlib
import sys


def name_of_the_exception_is_gone():
    try:
        1 / 0
    except ZeroDivisionError as error:
        pass
    return error


def context_is_what_was_handled():
    try:
        try:
            {}["k"]
        except KeyError:
            1 / 0
    except ZeroDivisionError as error:
        return repr(error.__context__), repr(error.__context__.__context__)


def context_of_a_kept_exception():
    kept = ValueError("kept")
    try:
        try:
            raise kept
        except ValueError:
            raise KeyError("second")
    except KeyError:
        try:
            raise kept
        except ValueError as error:
            return repr(error.__context__), repr(error.__context__.__context__)


def raise_without_anything():
    raise


def catch_what_is_no_exception():
    try:
        1 / 0
    except "ZeroDivisionError":
        pass


def exc_info():
    def names():
        kind, error, traceback = sys.exc_info()
        return kind and kind.__name__, str(error)

    out = [names()]
    try:
        1 / 0
    except ZeroDivisionError:
        out.append(names())
        try:
            {}[1]
        except KeyError:
            out.append(names())
        out.append(names())
    out.append(names())
    return out


def with_statement():
    log = []

    class Manager:
        def __init__(self, name, swallow=False):
            self.name, self.swallow = name, swallow

        def __enter__(self):
            log.append(f"enter {self.name}")
            return self.name

        def __exit__(self, kind, error, traceback):
            log.append((f"exit {self.name}", kind and kind.__name__, str(error)))
            return self.swallow

    with Manager("a") as a, Manager("b", swallow=True) as b:
        log.append((a, b))
        raise ValueError("inside")
    with Manager("c"):
        pass
    return log


def with_raises():
    with contextlib.nullcontext(3) as v:
        raise KeyError(v)


def with_suppress():
    with contextlib.suppress(ValueError) as s:
        raise ValueError
    with contextlib.suppress(KeyError, IndexError):
        [][0]
    return s


def with_exit_raises():
    class Bad:
        def __enter__(self):
            return self

        def __exit__(self, *args):
            raise TypeError("from exit")

    try:
        with Bad():
            raise ValueError("from body")
    except TypeError as error:
        return str(error), repr(error.__context__)


def exit_stack():
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, "last")
        stack.enter_context(contextlib.suppress(KeyError))
        stack.callback(lambda: log.append("first"))
        raise KeyError
    return log


def contextmanager_sees_the_error():
    @contextlib.contextmanager
    def manager():
        try:
            yield
        except ValueError as error:
            print("saw", error)
            raise KeyError("changed") from error

    try:
        with manager():
            raise ValueError("v")
    except KeyError as error:
        return repr(error), repr(error.__cause__)


def group_of_a_naked_exception():
    try:
        raise ValueError("naked")
    except* ValueError as error:
        return_value = repr(error)
    return return_value


def group_naked_and_unmatched():
    try:
        raise ValueError("naked")
    except* TypeError:
        print("no")


def group_clause_raises():
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2), OSError(3)])
        except* ValueError:
            raise KeyError("new")
        except* TypeError:
            print("handled")
    except BaseExceptionGroup as error:
        return repr(error), repr(error.exceptions[0].__context__)


def group_clause_raises_again():
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2), OSError(3)])
        except* ValueError:
            raise
        except* TypeError:
            print("handled")
    except BaseExceptionGroup as error:
        return repr(error)


def group_in_except_star():
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except* ExceptionGroup:
        pass


def error_in_a_c_callback():
    return sorted([3, 1, 2], key=lambda n: 1 // (n - 2))
