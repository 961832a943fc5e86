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
    "one_more_holder": {
        '- """A function for each place that holds old; it writes a value there.""" | + \''
        "A function for each place that holds old; it writes a value there.'": (
            "a text on a line of its own does nothing"
        ),
        "+ if type(holder) is dict: | + return [partial(holder.__setitem__, k) for k, v i"
        "n holder.items() if v is old] | - if type(holder) is dict: | - return [partial(h"
        "older.__setitem__, k) for k, v in holder.items() if v is old]": (
            "the branches exclude each other"
        ),
        "- if type(holder) is dict: | - return [partial(holder.__setitem__, k) for k, v i"
        "n holder.items() if v is old] | + if type(holder) is dict: | + return [partial(h"
        "older.__setitem__, k) for k, v in holder.items() if v is old]": (
            "the branches exclude each other"
        ),
        "- if type(holder) is CellType: | - here = holder.cell_contents is old | - return"
        " [partial(setattr, holder, 'cell_contents')] if here else [] | + if type(holder)"
        " is CellType: | + here = holder.cell_contents is old | + return [partial(setattr"
        ", holder, 'cell_contents')] if here else []": ("the branches exclude each other"),
        "- if type(holder) is list: | + if type(holder) == list:": (
            "classes are compared by identity"
        ),
        "- if type(holder) is dict: | + if type(holder) == dict:": (
            "classes are compared by identity"
        ),
        "- if type(holder) is CellType: | + if type(holder) == CellType:": (
            "classes are compared by identity"
        ),
        "- if type(holder) is FunctionType: | + if type(holder) == FunctionType:": (
            "classes are compared by identity"
        ),
    },
}
