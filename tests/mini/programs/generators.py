"""Generators: send, throw, close, yield from, expressions, and what consumes them."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write

# ruff: noqa - programs for a machine use every form, also those that nobody should write
import itertools


def counting():
    def count(n):
        for i in range(n):
            yield i

    return list(count(4)), sum(count(5)), [*count(2)], max(count(3)), dict(zip("ab", count(9)))


def infinite():
    def naturals():
        n = 0
        while True:
            yield n
            n += 1

    return list(itertools.islice(naturals(), 5)), next(n for n in naturals() if n > 10)


def throw():
    def g():
        while True:
            try:
                yield 1
            except ValueError as error:
                yield f"caught {error}"

    it = g()
    return next(it), it.throw(ValueError("v")), next(it), it.throw(ValueError("w"))


def throw_uncaught():
    def g():
        yield 1

    it = g()
    next(it)
    it.throw(KeyError("out"))


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


def dropped_generator_is_closed():
    log = []

    def g():
        try:
            yield 1
        finally:
            log.append("closed")

    for x in g():
        break
    it = g()
    next(it)
    del it
    return log


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


def next_inside_a_generator():
    def g(it):
        while True:
            yield next(it)

    try:
        list(g(iter([1, 2])))
    except RuntimeError as error:
        return str(error), repr(error.__cause__)


def generator_in_a_handler():
    def g():
        try:
            yield 1
        except KeyError as error:
            yield repr(error.__context__)
            try:
                raise ValueError("mine")
            except ValueError as mine:
                yield repr(mine.__context__)

    it = g()
    next(it)
    try:
        raise OSError("outside")
    except OSError:
        return it.throw(KeyError("k")), next(it)


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


def generator_methods():
    class Tree:
        def __init__(self, value, left=None, right=None):
            self.value, self.left, self.right = value, left, right

        def __iter__(self):
            if self.left:
                yield from self.left
            yield self.value
            if self.right:
                yield from self.right

    return list(Tree(2, Tree(1), Tree(4, Tree(3)))), [x for x in Tree(9)]


def iterator_class():
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    return [x for x in Count(3)], list(Count(2)), [a for a in Count(1)], 2 in Count(5)


def bad_iterator():
    class Bad:
        def __iter__(self):
            return 5

    for x in Bad():
        pass


def primes():
    def sieve():
        found = []
        for n in itertools.count(2):
            if all(n % p for p in found):
                found.append(n)
                yield n

    return list(itertools.islice(sieve(), 10))
