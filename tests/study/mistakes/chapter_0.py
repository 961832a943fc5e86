"""The first notebook: a count of names, counted wrong."""

LYING = """
class Count(int):
    def __eq__(self, other):
        return other == 2

    def __ne__(self, other):
        return False


names_looked_up = Count(9)
"""

MISTAKES = {
    "warm_up": (
        ("the argument is looked up by name too", "= 2", "= 1"),
        ("whole number", "= 2", "= 'f and x'"),
        ("listed the names f, x", "= 2", "= 4"),
        ("listed the names f, x", LYING),
    ),
}
