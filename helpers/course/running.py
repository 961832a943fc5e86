"""Find a JupyterLab server that already runs on a folder, and open it in a browser."""

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
# Arguments with which JupyterLab only prints something about itself, and starts no server.
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
    """Return Jupyter's record of a server that runs on a folder and answers; None if none does.

    The record is a dict with keys such as "url", "token" and "root_dir".
    """
    with suppress(Exception):  # if the records cannot be read, no server is known
        from jupyter_core.paths import jupyter_runtime_dir

        if not any(Path(jupyter_runtime_dir()).glob("jpserver-*.json")):
            return None  # without a record, the next import can be saved, which is slow
        from jupyter_server.serverapp import list_running_servers

        for server in list_running_servers():
            with suppress(Exception):  # a record without these keys
                if os.path.samefile(server["root_dir"], folder) and _answers(server):
                    return server
    return None


def open_server(server: dict, page: str, arguments: list[str]) -> None:
    """Print the address of a server, open a page of it in a browser, and name unused arguments.

    `page` is the path of the page, and `arguments` are those that were meant for a new server.
    """
    address = urljoin(server["url"], page)
    token = server.get("token")
    if token:
        address = f"{address}?{urlencode({'token': token})}"
    say(f"JupyterLab already runs on work/, and this is its address: {address}")
    unused = [word for word in arguments if word != NO_BROWSER]
    if unused:
        say(
            f"A server that already runs is not changed by these words: {' '.join(unused)}. "
            "Stop it with Ctrl-C in its terminal first if you need them."
        )
    if NO_BROWSER not in arguments:
        with suppress(webbrowser.Error, OSError):
            webbrowser.open(_start_page(server) or address)


def _answers(server: dict) -> bool:
    """Return whether a server answers a request that has the token of its record.

    The request goes to this machine. So it uses no proxy, and accepts any certificate.
    """
    request = urllib.request.Request(urljoin(server["url"], "api/status"))
    token = server.get("token")
    if token:
        request.add_header("Authorization", f"token {token}")
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}),
        urllib.request.HTTPSHandler(context=ssl._create_unverified_context()),
    )
    try:
        with opener.open(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.status == 200
    except urllib.error.HTTPError as error:
        # A server with a password refuses the token, and asks for the password in the browser.
        return error.code == 403 and bool(server.get("password"))
    except (OSError, ValueError):
        return False


def _start_page(server: dict) -> str:
    """Return the address of the file that Jupyter opens in a browser at its start; "" if missing.

    The file leads to the server with its token. So the token is in no command line, which other
    users could see.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    page = Path(jupyter_runtime_dir(), f"jpserver-{server.get('pid')}-open.html")
    return page.as_uri() if page.is_file() else ""
