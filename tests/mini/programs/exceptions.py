"""try, except, finally, with, except*, contexts and causes."""

# ruff: noqa - programs for a machine use every form, also those that nobody should write
import contextlib
import sys


def catch_one_of_many():
    out = []
    for value in (0, "a", None, 5):
        try:
            out.append(10 // value)
        except ZeroDivisionError as error:
            out.append(str(error))
        except (TypeError, ValueError):
            out.append("type")
        else:
            out.append("else")
        finally:
            out.append("finally")
    return out


def name_of_the_exception_is_gone():
    try:
        1 / 0
    except ZeroDivisionError as error:
        pass
    return error


def finally_on_every_way_out():
    out = []

    def f(how):
        for i in range(3):
            try:
                if how == "return":
                    return "returned"
                if how == "break":
                    break
                if how == "continue":
                    continue
                if how == "raise":
                    raise KeyError(how)
            finally:
                out.append((how, i))
        return "end"

    for how in ("return", "break", "continue", "nothing"):
        out.append(f(how))
    try:
        f("raise")
    except KeyError as error:
        out.append(error.args)
    return out


def finally_overrides_return():
    def f():
        try:
            return 1
        finally:
            return 2

    def g():
        try:
            raise ValueError
        finally:
            return "swallowed"

    return f(), g()


def finally_in_a_loop_overrides_raise():
    for i in range(3):
        try:
            raise ValueError(i)
        finally:
            if i < 2:
                continue
            break
    return i


def nested_try():
    out = []
    try:
        try:
            raise KeyError("inner")
        except TypeError:
            out.append("wrong")
        finally:
            out.append("inner finally")
    except KeyError as error:
        out.append(repr(error))
    return out


def raise_again():
    try:
        try:
            raise ValueError("first")
        except ValueError:
            raise
    except ValueError as error:
        return repr(error), error.__context__


def raise_from():
    try:
        try:
            raise KeyError("k")
        except KeyError as error:
            raise ValueError("v") from error
    except ValueError as error:
        return (
            repr(error),
            repr(error.__cause__),
            repr(error.__context__),
            error.__suppress_context__,
        )


def raise_from_none():
    try:
        try:
            raise KeyError("k")
        except KeyError:
            raise ValueError("v") from None
    except ValueError as error:
        return repr(error.__cause__), repr(error.__context__), error.__suppress_context__


def context_is_what_was_handled():
    try:
        try:
            {}["k"]
        except KeyError:
            1 / 0
    except ZeroDivisionError as error:
        return repr(error.__context__), repr(error.__context__.__context__)


def context_through_calls():
    def inner():
        raise ValueError("inner")

    def outer():
        try:
            raise KeyError("outer")
        except KeyError:
            inner()

    try:
        outer()
    except ValueError as error:
        return repr(error.__context__)


def context_of_three():
    try:
        try:
            try:
                raise KeyError(1)
            except KeyError:
                raise TypeError(2)
        except TypeError:
            int("x")
    except ValueError as error:
        return repr(error), repr(error.__context__), repr(error.__context__.__context__)


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


def context_ends_with_the_handler():
    try:
        raise KeyError
    except KeyError:
        pass
    try:
        raise ValueError
    except ValueError as error:
        return error.__context__


def raise_without_anything():
    raise


def raise_a_class():
    raise LookupError


def raise_what_is_no_exception():
    raise "a string"


def raise_from_what_is_no_exception():
    raise ValueError from 5


def catch_what_is_no_exception():
    try:
        1 / 0
    except "ZeroDivisionError":
        pass


def error_in_a_handler():
    try:
        1 / 0
    except ZeroDivisionError:
        [][1]


def error_in_finally():
    try:
        1 / 0
    finally:
        {}["x"]


def error_in_else():
    try:
        pass
    except KeyError:
        return "no"
    else:
        raise KeyError("from else")
    finally:
        print("finally")


def exception_class_of_its_own():
    class Oops(Exception):
        def __init__(self, code):
            super().__init__(f"code {code}")
            self.code = code

    class Worse(Oops):
        pass

    try:
        raise Worse(7)
    except Oops as error:
        return error.code, str(error), error.args


def uncaught_exception_of_its_own():
    class Oops(Exception):
        def __str__(self):
            return "said by itself"

    raise Oops(1)


def except_order():
    out = []
    for error in (KeyError("a"), IndexError("b"), ValueError("c"), KeyboardInterrupt()):
        try:
            raise error
        except KeyError:
            out.append("key")
        except LookupError:
            out.append("lookup")
        except Exception:
            out.append("exception")
        except:
            out.append("bare")
    return out


def exception_through_frames():
    log = []

    def a():
        try:
            b()
        finally:
            log.append("a")

    def b():
        try:
            c()
        except TypeError:
            log.append("never")
        finally:
            log.append("b")

    def c():
        raise ValueError("from c")

    try:
        a()
    except ValueError as error:
        return log, str(error)


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


def with_and_return():
    log = []

    @contextlib.contextmanager
    def manager(name):
        log.append(f"enter {name}")
        try:
            yield name
        finally:
            log.append(f"exit {name}")

    def f():
        for i in range(3):
            with manager(i) as n:
                if i == 1:
                    return n
                continue

    return f(), log


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


def with_enter_raises():
    class Bad:
        def __enter__(self):
            raise OSError("from enter")

        def __exit__(self, *args):
            print("never")

    with Bad():
        pass


def with_what_is_no_manager():
    with 5:
        pass


def with_half_a_manager():
    class Half:
        def __enter__(self):
            return self

    with Half():
        pass


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


def group():
    out = []
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as error:
        out.append(repr(error))
    except* (TypeError, KeyError) as error:
        out.append(repr(error))
    else:
        out.append("never")
    finally:
        out.append("finally")
    return out


def group_with_a_rest():
    try:
        try:
            raise ExceptionGroup(
                "g", [ValueError(1), ExceptionGroup("h", [TypeError(2), KeyError(3)])]
            )
        except* TypeError as error:
            print(repr(error))
    except ExceptionGroup as rest:
        return repr(rest)


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


def group_split():
    group = ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [KeyError(2)])])
    return repr(group.split(KeyError)), repr(group.subgroup(lambda e: isinstance(e, ValueError)))


def notes():
    try:
        error = ValueError("v")
        error.add_note("a note")
        raise error
    except ValueError as caught:
        return caught.__notes__


def stop_iteration_by_hand():
    it = iter([1, 2])
    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            break
    return out, next(it, "default")


def retry_loop():
    attempts = []

    def flaky():
        attempts.append(len(attempts))
        if len(attempts) < 3:
            raise OSError(f"attempt {len(attempts)}")
        return "done"

    for _ in range(5):
        try:
            result = flaky()
            break
        except OSError as error:
            last = str(error)
    return result, last, attempts


def error_in_a_c_callback():
    return sorted([3, 1, 2], key=lambda n: 1 // (n - 2))


def deep_unwinding():
    def down(n):
        try:
            if n == 0:
                raise ValueError("bottom")
            down(n - 1)
        except ValueError as error:
            raise ValueError(f"{n}") from error

    try:
        down(5)
    except ValueError as error:
        chain = []
        while error:
            chain.append(str(error))
            error = error.__cause__
        return chain


def keyboard_interrupt():
    try:
        raise KeyboardInterrupt("stop")
    except Exception:
        return "no"
    finally:
        print("cleaned")


def system_exit_caught():
    try:
        raise SystemExit(2)
    except SystemExit as error:
        return error.code


def unwinding_keeps_the_stack_below():
    def risky(n):
        if n % 2:
            raise ValueError
        return n

    out = []
    for i in [1, 2, 3, 4]:
        out += [10, *[j for j in (i, 5)], (i, [i] if i > 2 else None)]
        try:
            out.append(1 + (2 + risky(i)))
        except ValueError:
            out.append("odd")
    return out
