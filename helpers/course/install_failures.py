"""Explain in one sentence why an installer failed, by what it printed."""

import platform
import re
import sys

from helpers.course import checkout
from helpers.course.terminal import DISK_FULL

LOG_NAME = "course-install.log"
LAST_LINES = 8  # how many lines of an unexplained output the message shows

NO_NETWORK = (
    "No network: the package index cannot be reached. Connect (behind a proxy, set HTTPS_PROXY; "
    "for an index of your own, PIP_INDEX_URL) and run the same command again."
)
# Pairs (pattern, sentence). The first pattern that is found in the output counts. The order
# matters, because without a network pip also prints that it finds no version.
EXPLANATIONS = (
    (
        r"No space left on device|\[Errno 28\]|os error (28|112)\b|not enough space on the disk",
        DISK_FULL,
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|UnknownIssuer",
        "This machine does not trust the certificate of the package index, as happens behind some "
        "company proxies. Put the company's certificate file into PIP_CERT and run the same "
        "command again.",
    ),
    (
        r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|NameResolutionError"
        r"|getaddrinfo failed|Name or service not known|Temporary failure in name resolution"
        r"|Network is unreachable|Connection refused|dns error|tcp connect error"
        r"|error sending request|operation timed out|Connection reset|Failed to establish",
        NO_NETWORK,
    ),
    (
        r"No matching distribution found for (?P<pip_name>[^\s;]+)"
        r"|Because (?P<uv_name>\S+) has no wheels with a matching",
        "The course needs {package}, but no index offers a build of it for this machine "
        "({machine}).",
    ),
)


class InstallFailed(Exception):
    """An installer failed. `why` is the message; `known` says whether it explains the cause."""

    def __init__(self, why: str, known: bool):
        """Make the error with the message `why`."""
        super().__init__(why)
        self.why = why
        self.known = known


def explain(output: str) -> InstallFailed:
    """Return the exception to raise for a failed install, by the installer's output.

    Its message is the first of `EXPLANATIONS` whose pattern is in the output. If there is none, the
    message has the last lines of the output.
    """
    for pattern, sentence in EXPLANATIONS:
        match = re.search(pattern, output)
        if match:
            # The name of the package, if the pattern has a group for it: pip_name or uv_name.
            package = next(filter(None, match.groupdict().values()), "")
            python = f"{sys.version_info.major}.{sys.version_info.minor}"
            machine = f"Python {python} {platform.system()} {platform.machine()}"
            return InstallFailed(sentence.format(package=package, machine=machine), known=True)
    noise = ("[notice]", "WARNING: Location", "Looking in ")
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith(noise)]
    first = f"The install failed. The end of {checkout.NEW.name}/{LOG_NAME} shows why:"
    return InstallFailed("\n  ".join([first, *lines[-LAST_LINES:]]), known=False)
