"""Chapter 1: mutants that do what the solution does, and why."""

SAME: dict[str, dict[str, str]] = {
    "default_finder": {
        "+ values = fn.__defaults__ or () | - values = fn.__defaults__ or ()": (
            "the two lines read the function and not each other"
        ),
        "- if type(fn) is FunctionType: | + if type(fn) == FunctionType:": (
            "classes are compared by identity, unless a metaclass says otherwise"
        ),
    },
    "rebinding": {
        "- places = [(s, key) for s in spaces for key, value in list(s.items()) if value is old] | "
        "+ places = [(s, key) for s in spaces for key, value in s.items() if value is old]": (
            "the comprehension writes nothing and runs no code of what it meets"
        ),
    },
}
