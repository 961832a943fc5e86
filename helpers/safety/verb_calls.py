"""Check the arguments of a call of a verb against its signature; raise a clear TypeError.
A *verb* is a public function of this package, such as `show_bytecode`. Python's own message for a
wrong call does not say how the function is called, or which keyword was misspelt.
"""

import inspect
import re
from collections.abc import Callable
from inspect import Parameter, Signature

from .arguments import find_near_word, printable

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
# The beginning and the form of two messages of `inspect.Signature.bind`.
_TOO_MANY = "too many"
_MISSING = re.compile(r"missing a required (?:positional-only |keyword-only )?argument: '(\w+)'")


def require_valid_call(verb: Callable, args: tuple, kwargs: dict) -> None:
    """Raise TypeError, in one sentence, if `verb` does not accept these arguments.

    If the verb has an attribute `how_to_call`, that text is added to the sentence.
    """
    signature = inspect.signature(verb)
    _refuse_unknown_keyword(verb, signature, args, kwargs)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        sentence = _describe_failure(verb, signature, str(error), len(args))
        advice = getattr(verb, "how_to_call", "")
        raise TypeError(f"{sentence}; {advice}" if advice else sentence) from None


def _refuse_unknown_keyword(
    verb: Callable, signature: Signature, args: tuple, kwargs: dict
) -> None:
    """Raise TypeError for the first keyword of a call that the verb does not accept.

    A verb with **kwargs passes unknown keywords to a function of the user. Such a verb refuses only
    a keyword that looks like one of the verb's own, misspelt, and that the function does not accept
    either.
    """
    parameters = signature.parameters.values()
    own_names = [p.name for p in parameters if p.kind in _NAMED]
    if _count_self(signature):
        own_names = own_names[1:]  # without `self`
    unknown = [keyword for keyword in kwargs if keyword not in own_names]

    if any(p.kind is Parameter.VAR_KEYWORD for p in parameters):
        # The user's function is the first argument of such a verb.
        function = args[0] if args else next(iter(kwargs.values()), None)
        unknown = [
            keyword
            for keyword in unknown
            if find_near_word(keyword, own_names) and not _may_take(function, keyword)
        ]
    if not unknown:
        return

    sentence = f"{_name_verb(verb)} has no argument {printable(unknown[0])}="
    near_name = find_near_word(unknown[0], own_names)
    if near_name:
        raise TypeError(f"{sentence}; did you mean {near_name}=?")
    raise TypeError(f"{sentence}: the call is {_format_call(verb, signature)}")


def _describe_failure(verb: Callable, signature: Signature, message: str, count: int) -> str:
    """Return a sentence on why a verb does not accept the arguments of a call.

    `message` is the error message of `Signature.bind`. `count` is how many arguments the call has
    by position, `self` included.
    """
    call = _format_call(verb, signature)
    if message.startswith(_TOO_MANY):
        self_count = _count_self(signature)
        by_position = [p for p in signature.parameters.values() if p.kind in _BY_POSITION]
        limit = len(by_position) - self_count
        takes = "1 argument" if limit == 1 else f"{limit or 'no'} arguments"
        return f"{call} takes {takes} by position, and you passed {count - self_count}"

    missing = _MISSING.match(message)
    if missing:
        return f"{_name_verb(verb)} needs {missing[1]}: the call is {call}"
    return f"{_name_verb(verb)}: {message}"


def _count_self(signature: Signature) -> int:
    """Return 1 if a verb has the parameter `self`, as the `__init__` of a class has, else 0."""
    parameter = signature.parameters.get("self")
    return 1 if parameter is not None and parameter.kind in _NAMED else 0


def _may_take(function: object, keyword: str) -> bool:
    """Return whether a function may accept a keyword; True if its signature cannot be read."""
    try:
        parameters = inspect.signature(function).parameters
    except Exception:  # `inspect` runs code of the object, which may raise anything
        return True
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    return takes_any or keyword in parameters


def _format_call(verb: Callable, signature: Signature) -> str:
    """Return the name of a verb with its parameters, without types: "show_frame(fn, *args)"."""
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    plain = [p.replace(annotation=Parameter.empty) for p in parameters]
    shown = signature.replace(parameters=plain, return_annotation=Signature.empty)
    return f"{_name_verb(verb)}{shown}"


def _name_verb(verb: Callable) -> str:
    """Return the name by which users call a verb. For the `__init__` of a class, the class's."""
    return getattr(verb, "users_name", verb.__name__)
