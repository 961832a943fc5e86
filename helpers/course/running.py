"""The JupyterLab that already runs on a folder -> found in Jupyter's own list, and opened."""

import os
import ssl
import urllib.request
import webbrowser
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode, urljoin

from helpers.course.terminal import say

NO_BROWSER = "--no-browser"
PATIENCE_SECONDS = 3
# Words that ask JupyterLab about itself and start no server.
ASKS = {
    "-h",
    "--help",
    "--help-all",
    "--version",
    "--show-config",
    "--show-config-json",
    "--generate-config",
}


def server_on(folder: Path) -> dict | None:
    """Return what Jupyter says of a server that runs on this folder and answers, or None."""
    with suppress(Exception):  # a list that cannot be read is one that names no server
        from jupyter_core.paths import jupyter_runtime_dir

        if not any(Path(jupyter_runtime_dir()).glob("jpserver-*.json")):
            return None  # the next import takes as long as all the rest
        from jupyter_server.serverapp import list_running_servers

        for server in list_running_servers():
            with suppress(Exception):  # an entry of another shape
                if os.path.samefile(server["root_dir"], folder) and _answers(server):
                    return server
    return None


def open_server(server: dict, page: str, words: list[str]) -> None:
    """Say where a server is, open its page in a browser, and say which words were not needed."""
    address = urljoin(server["url"], page)
    token = server.get("token")
    if token:
        address = f"{address}?{urlencode({'token': token})}"
    say(f"JupyterLab already runs on work/, and this is its address: {address}")
    others = [word for word in words if word != NO_BROWSER]
    if others:
        say(
            f"A server that already runs is not changed by these words: {' '.join(others)}. "
            "Stop it with Ctrl-C in its terminal first if you need them."
        )
    if NO_BROWSER not in words:
        with suppress(webbrowser.Error, OSError):
            webbrowser.open(_start_page(server) or address)


def _answers(server: dict) -> bool:
    """Return whether a server lets its own token in; the machine's proxies are not asked."""
    request = urllib.request.Request(urljoin(server["url"], "api/status"))
    token = server.get("token")
    if token:
        request.add_header("Authorization", f"token {token}")
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}),
        urllib.request.HTTPSHandler(context=ssl._create_unverified_context()),  # on this machine
    )
    try:
        with opener.open(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.status == 200
    except urllib.error.HTTPError as error:
        return error.code == 403 and bool(server.get("password"))  # it asks for its password
    except (OSError, ValueError):
        return False


def _start_page(server: dict) -> str:
    """Return the address of the file with which Jupyter hides its token from others, or ""."""
    from jupyter_core.paths import jupyter_runtime_dir

    page = Path(jupyter_runtime_dir(), f"jpserver-{server.get('pid')}-open.html")
    return page.as_uri() if page.is_file() else ""
