"""One run of an answer -> what it shows: plain data, or the error that it raised."""

from collections.abc import Callable
from dataclasses import dataclass, field

from helpers.capture.text.error import describe_error
from helpers.study.answers import InvalidAnswer, NotAttempted, require_attempt
from helpers.study.sentences import where_raised


class RaisedByCheck(BaseException):
    """An error that a judge raises inside a learner's block, like that of Ctrl-C."""


@dataclass(frozen=True)
class Raised:
    """An observation: the case raised this kind of error. Message and line do not matter."""

    #: The type of the error, which alone is compared.
    kind: type[BaseException]
    #: The error itself.
    error: BaseException = field(compare=False, repr=False)

    def __str__(self):
        return f"raises {self._describe_error()}"

    @property
    def sentence(self) -> str:
        """Return the message for an answer if there is nothing else to say."""
        return f"your code raised {self._describe_error()}"

    def _describe_error(self) -> str:
        return f"{describe_error(self.error)}{where_raised(self.error)}"


def observe(run: Callable, answer) -> object:
    """Return `run(answer)`, or Raised if that raises an Exception, which is a result, too.

    NotAttempted and InvalidAnswer pass, because then there is nothing to compare.
    """
    try:
        return require_attempt(run(answer))
    except (NotAttempted, InvalidAnswer):
        raise
    except Exception as error:
        return Raised(type(error), error)
