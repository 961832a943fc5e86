"""The first notebook: a count of names, counted wrong."""

MISTAKES = {
    "warm_up": (
        ("the argument is looked up by name too", "= 2", "= 1"),
        ("whole number", "= 2", "= 'f and x'"),
        ("listed the names f, x", "= 2", "= 4"),
    ),
}
