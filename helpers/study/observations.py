"""Run a learner's answer, and return its result, or a record of the error that it raised."""

from collections.abc import Callable
from dataclasses import dataclass, field

from helpers.capture.text.error import describe_error
from helpers.study.answers import InvalidAnswer, NotAttempted, require_no_stub
from helpers.study.sentences import describe_raising_line


class RaisedByCheck(BaseException):
    """An error that a judge raises on purpose in a learner's `with` block.

    Like KeyboardInterrupt, it is no Exception, so that `except Exception` does not catch it.
    """


@dataclass(frozen=True)
class Raised:
    """Stands for the result of a run that raised an error.

    Two of them are equal if the errors have the same type, whatever their messages and lines.
    """

    #: The type of the error, which alone is compared.
    kind: type[BaseException]
    #: The error itself.
    error: BaseException = field(compare=False, repr=False)

    def __str__(self):
        return f"raises {self._describe_error()}"

    @property
    def sentence(self) -> str:
        """Return the error as a message to the learner: "your code raised ValueError: …"."""
        return f"your code raised {self._describe_error()}"

    def _describe_error(self) -> str:
        return f"{describe_error(self.error)}{describe_raising_line(self.error)}"


def observe(run: Callable, answer) -> object:
    """Return the result of `run(answer)`, or a `Raised` if that raises an Exception.

    Raise NotAttempted if the result is still `...`. NotAttempted and InvalidAnswer that `run`
    raises are raised again, because then there is no result to compare.
    """
    try:
        return require_no_stub(run(answer))
    except (NotAttempted, InvalidAnswer):
        raise
    except Exception as error:
        return Raised(type(error), error)
