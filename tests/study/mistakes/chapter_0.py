"""The first notebook: a count of names, counted wrong."""

MISTAKES = {
    "warm_up": (
        ("the argument is looked up by name too", "= 2", "= 1"),
        ("write it without quotes", "= 2", "= '2'"),
        ("such as 7, not ['f', 'x'] (list)", "= 2", "= ['f', 'x']"),
        ("a whole number such as 7, not 2.0 (float)", "= 2", "= 2.0"),
        ("listed the names f, x", "= 2", "= 4"),
    )
}
