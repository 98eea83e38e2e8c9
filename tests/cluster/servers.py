"""A Redis Cluster on this machine: masters and replicas as processes, made, killed, stopped and started again."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import redis

from brelan.eventlog.cluster import SlotRange, slot_of_shard, slot_ranges
from brelan.eventlog.keys import SLOTS
from tests.processes import start, wait_until

NODE_TIMEOUT_MS = 1_000
START_SECONDS = 30.0


class Server:
    """One node. Its port stays over ``kill`` and ``start``."""

    def __init__(self, program: str, folder: Path, password: str) -> None:
        self.port = _free_port()
        self._program = program
        self._folder = folder
        self._password = password
        self._process: subprocess.Popen[str] | None = None
        folder.mkdir(parents=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        options = {
            "port": self.port,
            "bind": "127.0.0.1",
            "cluster-enabled": "yes",
            "cluster-config-file": "nodes.conf",
            "cluster-node-timeout": NODE_TIMEOUT_MS,
            "cluster-require-full-coverage": "no",
            "cluster-port": self.port - 10_000,
            "requirepass": self._password,
            "masterauth": self._password,
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            "repl-diskless-sync-delay": 0,
            "maxmemory-policy": "noeviction",
        }
        arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
        with (self._folder / "server.log").open("ab") as log:
            self._process = start(
                [self._program, *arguments], cwd=self._folder, stdout=log, stderr=log, start_new_session=True
            )

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, password=self._password, protocol=2, socket_timeout=5)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """As ``kill -9`` does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()


class ClusterServers:
    """Three masters, and as many replicas for each as asked for."""

    def __init__(self, program: str, folder: Path, *, masters: int = 3, replicas: int = 1) -> None:
        self.password = secrets.token_urlsafe(12)
        self._masters, self._replicas = masters, replicas
        count = masters * (1 + replicas)
        self.servers = [Server(program, folder / str(number), self.password) for number in range(count)]

    @property
    def url(self) -> str:
        """Names two of the nodes, as one would: the others are found."""
        nodes = ",".join(server.address for server in self.servers[:2])
        return f"redis+cluster://:{self.password}@{nodes}"

    def __enter__(self) -> "ClusterServers":
        with contextlib.ExitStack() as undo:
            undo.callback(self._stop)
            for server in self.servers:
                server.start()
            self._form()
            undo.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stop()

    def _stop(self) -> None:
        for server in self.servers:
            server.stop()

    def _form(self) -> None:
        first, *others = self.servers
        for server in self.servers:
            wait_until(partial(_answers, server), START_SECONDS, f"{server.address} answers")
        masters = self.servers[: self._masters]
        for number, server in enumerate(self.servers):
            with server.client() as client:
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
                if server in masters:
                    slots = number * SLOTS // self._masters, (number + 1) * SLOTS // self._masters - 1
                    client.execute_command("CLUSTER", "ADDSLOTSRANGE", *slots)
        with first.client() as client:
            for server in others:
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", server.port, server.port - 10_000)
        wait_until(self._all_know_all, START_SECONDS, "all nodes know each other")
        for number, server in enumerate(self.servers[self._masters :]):
            with server.client() as client, masters[number % self._masters].client() as master:
                client.execute_command("CLUSTER", "REPLICATE", master.execute_command("CLUSTER", "MYID"))
        wait_until(self.healthy, START_SECONDS, "every master has its replicas")

    def _all_know_all(self) -> bool:
        return all(self._knows_all(server) for server in self.servers)

    def _knows_all(self, server: Server) -> bool:
        with server.client() as client:
            info = _cluster_info(client)
            return info["cluster_known_nodes"] == str(len(self.servers)) and info["cluster_state"] == "ok"

    def healthy(self) -> bool:
        """Every master has as many replicas as at the beginning, and they have acknowledged what they were sent."""
        try:
            masters = self.masters()
            return len(masters) == self._masters and all(self._followed(self.server(master)) for master in masters)
        except redis.RedisError:
            return False

    def _followed(self, server: Server) -> bool:
        with server.client() as client:
            replication: dict[str, Any] = client.info("replication")
        following = [replication.get(f"slave{number}", {}) for number in range(self._replicas)]
        return all(replica.get("state") == "online" and replica.get("offset") for replica in following)

    def ranges(self) -> list[SlotRange]:
        """As one of the nodes that live says."""
        for server in self.servers:
            with contextlib.suppress(redis.RedisError), server.client() as client:
                return slot_ranges(client.execute_command("CLUSTER", "SLOTS", NEVER_DECODE=True), server.address)
        raise AssertionError("no node lives")

    def masters(self) -> list[str]:
        return sorted({one.master for one in self.ranges()})

    def server(self, address: str) -> Server:
        return next(server for server in self.servers if server.address == address)

    def master_of(self, shard: str) -> Server:
        slot = slot_of_shard(shard)
        return self.server(next(one.master for one in self.ranges() if one.first <= slot <= one.last))

    def flush(self) -> None:
        for master in self.masters():
            with self.server(master).client() as client:
                client.flushall()


def _answers(server: Server) -> bool:
    try:
        with server.client() as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def _cluster_info(client: Any) -> dict[str, str]:
    answer: Any = client.execute_command("CLUSTER INFO")
    return answer if isinstance(answer, dict) else {}


_given: set[int] = set()


def _free_port() -> int:
    """One whose neighbour 10,000 below, for the cluster's bus, is free too; never the same twice."""
    while True:
        with socket.socket() as probe, socket.socket() as bus:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
            if port < 20_000 or port in _given:
                continue
            with contextlib.suppress(OSError):
                bus.bind(("127.0.0.1", port - 10_000))
                _given.add(port)
                return port
