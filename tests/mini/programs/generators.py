"""Generators: send, throw, close, yield from, expressions, and what consumes them."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write


def throw():
    def g():
        while True:
            try:
                yield 1
            except ValueError as error:
                yield f"caught {error}"

    it = g()
    return next(it), it.throw(ValueError("v")), next(it), it.throw(ValueError("w"))


def close():
    log = []

    def g():
        try:
            yield 1
            yield 2
        except GeneratorExit:
            log.append("exit")
            raise
        finally:
            log.append("finally")

    it = g()
    next(it)
    it.close()
    return log, list(it)


def close_is_ignored():
    def g():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    it = g()
    next(it)
    it.close()


def yield_from_many():
    def flat(items):
        for item in items:
            if isinstance(item, list):
                yield from flat(item)
            else:
                yield item

    def chain(*iterables):
        for iterable in iterables:
            yield from iterable

    return list(flat([1, [2, [3, 4], []], 5])), list(chain("ab", [1], range(2)))


def yield_from_throws():
    def inner():
        try:
            yield 1
        except KeyError:
            yield "inner caught"
        return "inner done"

    def outer():
        try:
            result = yield from inner()
            yield result
            yield from inner()
        except ValueError as error:
            yield f"outer caught {error}"

    g = outer()
    return next(g), g.throw(KeyError()), next(g), next(g), g.throw(ValueError("v"))


def yield_from_throw_ends_inner():
    def inner():
        try:
            yield 1
        except KeyError:
            return "ended by throw"

    def outer():
        result = yield from inner()
        yield result

    g = outer()
    next(g)
    return g.throw(KeyError())


def yield_from_throw_into_a_list():
    def outer():
        try:
            yield from [1, 2, 3]
        except KeyError:
            yield "outer"

    g = outer()
    return next(g), g.throw(KeyError()), list(g)


def handled_exception_does_not_leak():
    def g():
        try:
            raise KeyError
        except KeyError:
            yield 1
            raise ValueError("after")

    it = g()
    next(it)
    try:
        next(it)
    except ValueError as error:
        a = repr(error.__context__)
    it = g()
    next(it)
    try:
        raise OSError
    except OSError as error:
        return a, error.__context__
