"""A learner's websocket to a kernel -> cells that are run, and widgets that are stepped."""

import asyncio
import json
import time
import uuid

import nbformat
from jupyter_server.services.kernels.connection.base import deserialize_binary_message
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

CELL_SECONDS = 600
LARGEST_MESSAGE = 200_000_000
OUTPUTS = ("stream", "display_data", "execute_result", "error")


class Lost(Exception):
    """The kernel's connection ended, or it no longer answers."""


class Kernel:
    """The channels of one kernel, as a notebook page opens them."""

    def __init__(self, socket, kernel_id: str):
        self.id, self._socket = kernel_id, socket
        self._session = uuid.uuid4().hex
        self.widgets = {}  # comm -> state at its opening

    @classmethod
    async def connected(cls, url: str, cookies: str, kernel_id: str) -> "Kernel":
        """Open the channels; `url` begins with ws, `cookies` are the learner's."""
        request = HTTPRequest(url, headers={"Cookie": cookies, "Sec-Fetch-Mode": "websocket"})
        request.headers["Origin"] = "http" + url.removeprefix("ws").partition("/user/")[0]
        socket = await websocket_connect(request, max_message_size=LARGEST_MESSAGE)
        return cls(socket, kernel_id)

    async def run(self, source: str) -> "Ran":
        """Run a cell to its end and return what came of it. Lost."""
        content = {"code": source, "silent": False, "allow_stdin": False, "stop_on_error": False}
        asked = await self._send("shell", "execute_request", content)
        ran, states = Ran(time.monotonic()), set()
        while not {"idle", "reply"} <= states:
            message = await self._receive()
            self._note_widget(message)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind = message["msg_type"]
            if kind == "execute_reply":
                states.add("reply")
            elif kind == "status" and message["content"]["execution_state"] == "idle":
                states.add("idle")
            elif kind in OUTPUTS:
                ran.add(message)
        return ran

    async def step(self, comm: str, index: int) -> int:
        """Move a stage to a step as its page does; return the step that the kernel has then."""
        update = {"method": "update", "state": {"index": index}, "buffer_paths": []}
        await self._send("shell", "comm_msg", {"comm_id": comm, "data": update})
        await self._send(
            "shell", "comm_msg", {"comm_id": comm, "data": {"method": "request_state"}}
        )
        while True:
            message = await self._receive()
            data = message["content"].get("data", {})
            ours = message["content"].get("comm_id") == comm and data.get("method") == "update"
            if ours and "script" in data["state"]:  # not the echo, which has only the index
                return data["state"]["index"]

    def stages(self) -> list[str]:
        """Return the comms of what can be stepped, in the order in which they came."""
        return [comm for comm, state in self.widgets.items() if {"script", "index"} <= set(state)]

    def close(self) -> None:
        """Close the page; the kernel keeps running."""
        self._socket.close()

    def _note_widget(self, message) -> None:
        if message["msg_type"] == "comm_open":
            state = message["content"]["data"].get("state", {})
            self.widgets[message["content"]["comm_id"]] = state

    async def _send(self, channel: str, kind: str, content: dict) -> str:
        number = uuid.uuid4().hex
        header = {
            "msg_id": number,
            "msg_type": kind,
            "session": self._session,
            "username": "",
            "version": "5.3",
            "date": "",
        }
        message = {
            "channel": channel,
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
            "buffers": [],
        }
        try:
            await self._socket.write_message(json.dumps(message))
        except Exception as error:
            raise Lost("the kernel's connection is closed") from error
        return number

    async def _receive(self) -> dict:
        try:
            data = await asyncio.wait_for(self._socket.read_message(), CELL_SECONDS)
        except TimeoutError:
            raise Lost(f"no answer for {CELL_SECONDS} s") from None
        if data is None:
            raise Lost("the kernel's connection was closed")
        message = deserialize_binary_message(data) if isinstance(data, bytes) else json.loads(data)
        if message["content"].get("execution_state") in ("restarting", "dead"):
            raise Lost("the kernel died")
        return message


class Ran:
    """What a cell gave: its outputs, its text, and seconds to its first output and to its end."""

    def __init__(self, start: float):
        self._start, self.outputs, self.first = start, [], None

    def add(self, message: dict) -> None:
        """Take an output."""
        self.first = self.first or time.monotonic() - self._start
        self.outputs.append(nbformat.v4.output_from_msg(message))

    @property
    def text(self) -> str:
        """Return what it printed and showed, as text."""
        return "".join(
            one.get("text") or one.get("evalue") or one.get("data", {}).get("text/plain", "")
            for one in self.outputs
        )
