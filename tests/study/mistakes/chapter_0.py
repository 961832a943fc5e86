"""The first notebook: a count of names, counted wrong."""

MISTAKES = {
    "warm_up": (
        ("1 leaves out a name", "= 2", "= 1"),
        ("Write it without quotes", "= 2", "= '2'"),
        ("such as 7, not ['f', 'x'] (list)", "= 2", "= ['f', 'x']"),
        ("a whole number such as 7, not 2.0 (float)", "= 2", "= 2.0"),
        ("4 is not the number of names", "= 2", "= 4"),
    )
}
