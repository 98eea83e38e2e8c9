"""A bad network: a TCP proxy that loses requests or replies, or holds them back."""

import contextlib
import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """In front of one server, on threads of its own.

    What happens to a request is decided by ``fate``, called with the request's bytes: ``"pass"``; ``"lose request"``
    and ``"lose reply"`` end the connection; ``"hold reply"`` never answers.
    """

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = [self._listening]
        self._threads = [threading.Thread(target=self._accept)]
        self.fate: Callable[[bytes], str] = lambda request: "pass"
        self.lost = 0

    @property
    def url(self) -> str:
        port = self._listening.getsockname()[1]
        place = f"{self._url.netloc.rpartition(':')[0]}:{port}"
        return urlunsplit((self._url.scheme, place, self._url.path, "", ""))

    def __enter__(self) -> "Proxy":
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._sockets:
            _end(each)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listening.accept()
                there = socket.create_connection((self._url.hostname or "", self._url.port or 0))
                self._sockets += [here, there]
                fates = ["pass"]
                for pump in (self._requests, self._replies):
                    thread = threading.Thread(target=self._pump, args=(pump, here, there, fates))
                    self._threads.append(thread)
                    thread.start()

    def _pump(
        self,
        pump: Callable[[socket.socket, socket.socket, list[str]], None],
        here: socket.socket,
        there: socket.socket,
        fates: list[str],
    ) -> None:
        with contextlib.suppress(OSError):
            pump(here, there, fates)
        _end(here)
        _end(there)

    def _requests(self, here: socket.socket, there: socket.socket, fates: list[str]) -> None:
        while request := here.recv(1 << 16):
            fates[0] = self.fate(request)
            if fates[0] != "pass":
                self.lost += 1
            if fates[0] == "lose request":
                return
            there.sendall(request)

    def _replies(self, here: socket.socket, there: socket.socket, fates: list[str]) -> None:
        while reply := there.recv(1 << 16):
            if fates[0] == "lose reply":
                return
            if fates[0] == "pass":
                here.sendall(reply)


def _end(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
