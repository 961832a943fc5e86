"""A name -> a learner with a browser's cookies: log in, open a chapter, save, leave, come back."""

import asyncio
import time
from urllib.parse import quote, urlsplit

import httpx
import nbformat

from hub.trial.kernel import Kernel
from hub.trial.links import CHAPTERS, link
from hub.trial.server import Hub

PATIENCE_SECONDS = 300


class Refused(Exception):
    """The hub or a learner's server did not do what it should."""


class Learner:
    """One learner of a hub; all of it by HTTP and websockets through the proxy."""

    def __init__(self, hub: Hub, name: str):
        self.hub, self.name, self._token = hub, name, None
        self._http = httpx.AsyncClient(
            base_url=hub.url, follow_redirects=True, timeout=PATIENCE_SECONDS
        )

    async def log_in(self) -> None:
        """Fill in the form of the login page."""
        page = await self._visit("/hub/login")
        form = {"username": self.name, "password": self.hub.password, "_xsrf": self._xsrf("/hub/")}
        answer = await self._http.post("/hub/login", data=form)
        if answer.status_code != 200 or not self._xsrf("/hub/"):
            raise Refused(f"{self.name} could not log in: {page.status_code}, {answer.status_code}")

    async def enter(self, path: str = "lab") -> float:
        """Follow a link into the server, which starts if need be; return the seconds. Refused."""
        began = time.monotonic()
        until = began + PATIENCE_SECONDS
        while time.monotonic() < until:
            page = await self._visit(f"/hub/user-redirect/{path}")
            if urlsplit(str(page.url)).path.startswith(f"/user/{self.name}/") and page.is_success:
                return time.monotonic() - began
            if page.status_code >= 500 or page.status_code == 429:
                raise Refused(f"{self.name}'s server: {page.status_code}, {_title(page)}")
            await self._wait_until_ready()
        raise Refused(f"{self.name}'s server did not start in {PATIENCE_SECONDS} s")

    async def come_back(self, path: str = "lab") -> float:
        """Enter again after the server, the hub or the proxy died; return the seconds. Refused."""
        began = time.monotonic()
        while True:
            try:
                await self.enter(path)
                return time.monotonic() - began
            except (Refused, httpx.HTTPError):
                if time.monotonic() - began > PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(1)

    async def leave(self) -> None:
        """Stop the server, as the button of the hub's page does."""
        await self._ask("DELETE", f"/hub/api/users/{self.name}/server", "/hub/")
        while (await self._status()) is not None:
            await asyncio.sleep(0.1)

    async def pull(self, branch: str = "main") -> str:
        """Follow the nbgitpuller link in a running server; return what it told. Refused."""
        repo, first = self.hub.upstream.url, "00_start_here.ipynb"
        page = await self._visit(link("", repo, branch, first))
        words = f"repo={quote(repo, '')}&branch={branch}&targetpath=course"
        told = await self._ask("GET", f"/user/{self.name}/git-pull/api?{words}")
        if not page.is_success or '"phase": "finished"' not in told.text:
            raise Refused(f"the pull ended with: {told.text[-300:]}")
        return told.text

    async def read(self, chapter: str) -> nbformat.NotebookNode:
        """Return a chapter of work/ as the server gives it."""
        model = (await self._ask("GET", self._contents(chapter))).json()
        return nbformat.from_dict(model["content"])

    async def save(self, chapter: str, notebook) -> None:
        """Save a chapter, as Ctrl-S does."""
        model = {"type": "notebook", "format": "json", "content": notebook}
        await self._ask("PUT", self._contents(chapter), json=model)

    async def kernel(self, chapter: str) -> Kernel:
        """Start a kernel for a chapter and open its channels."""
        path = f"{CHAPTERS}/{chapter}"
        wish = {"path": path, "name": chapter, "type": "notebook", "kernel": {"name": "python3"}}
        session = (await self._ask("POST", f"/user/{self.name}/api/sessions", json=wish)).json()
        number, place = session["kernel"]["id"], f"/user/{self.name}/api/kernels/"
        url = self.hub.url.replace("http", "ws", 1) + place + number + "/channels"
        request = self._http.build_request("GET", place)
        return await Kernel.connected(url, request.headers.get("Cookie", ""), number)

    async def close(self) -> None:
        """Close the browser; the server goes on."""
        await self._http.aclose()

    def _contents(self, chapter: str) -> str:
        return f"/user/{self.name}/api/contents/{CHAPTERS}/{quote(chapter)}"

    async def _visit(self, path: str) -> httpx.Response:
        return await self._http.get(path, headers={"Sec-Fetch-Mode": "navigate"})

    async def _wait_until_ready(self) -> None:
        """Listen to the start of the server, as the page with the progress bar does."""
        place = f"/hub/api/users/{self.name}/server/progress?_xsrf={self._xsrf('/hub/')}"
        headers = {"Accept": "text/event-stream", "Referer": f"{self.hub.url}/hub/spawn-pending"}
        async with self._http.stream("GET", place, headers=headers) as events:
            async for line in events.aiter_lines():
                if '"ready": true' in line or '"failed": true' in line:
                    return
        await asyncio.sleep(0.5)  # there is no start to listen to

    async def _status(self):
        answer = await self._ask("GET", f"/hub/api/users/{self.name}", "/hub/")
        return answer.json().get("servers", {}).get("") or answer.json().get("pending")

    async def _ask(self, method: str, path: str, place: str = "", **more) -> httpx.Response:
        headers = {
            "X-XSRFToken": self._xsrf(place or f"/user/{self.name}/"),
            "Sec-Fetch-Mode": "same-origin",
            "Referer": f"{self.hub.url}{path}",
        }
        answer = await self._http.request(method, path, headers=headers, **more)
        if not answer.is_success:
            raise Refused(f"{method} {path}: {answer.status_code}, {answer.text[:200]}")
        return answer

    def _xsrf(self, place: str) -> str:
        found = [
            one.value for one in self._http.cookies.jar if (one.name, one.path) == ("_xsrf", place)
        ]
        return found[0] if found else ""


def _title(page: httpx.Response) -> str:
    return page.text.partition("<title>")[2].partition("</title>")[0].strip()
