"""A program over several processes of this machine, each with its devices of the CPU.

They find each other by jaxlib's coordination service, and exchange by gloo, over the loopback. This
process is the first; it starts the others and tells them what it does. They are of its group, which
ends with whoever started it.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import resource
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .answer import Refused

if TYPE_CHECKING:
    from .answer import Payload

__all__ = ["Processes", "serve"]

_HOST = "127.0.0.1"
_PATIENCE_S = 60
_MESSAGE_LIMIT = 2000
# `-I` leaves out the folder that this package is in.
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from inside.processes import serve; serve()"


class Processes:
    """The processes of a program, as one of them sees them.

    Args:
        count: How many there are.
        number: Which this one is.
        address: Where the first one coordinates them.
    """

    def __init__(self, count: int, number: int = 0, address: str = "") -> None:
        self.count = count
        self._number = number
        self._address = address or _free_address()
        # What must live as long as the client does.
        self._held: list[Any] = []
        self._peers: list[subprocess.Popen[bytes]] = []

    def start(self, told: Payload) -> None:
        """Start the others."""
        folder = str(Path(__file__).parent.parent)
        for number in range(1, self.count):
            words = [self._address, str(number), json.dumps(told)]
            self._peers.append(
                subprocess.Popen(
                    [sys.executable, "-I", "-c", _BOOT, folder, *words],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )

    def joined(self, native: Any, devices: int) -> dict[str, Any]:
        """Find the others; return what the client of this process is made with.

        Args:
            native: What jaxlib has the coordination service in.
            devices: How many devices all processes have.
        """
        if self._number == 0:
            serving = native.get_distributed_runtime_service
            self._held.append(serving(self._address, self.count))
        find = native.get_distributed_runtime_client
        client = find(self._address, self._number, init_timeout=_PATIENCE_S)
        client.connect()
        self._held.append(client)
        return {
            "distributed_client": client,
            "node_id": self._number,
            "num_nodes": self.count,
            "collectives": native.make_gloo_tcp_collectives(client, hostname=_HOST),
            "num_devices": devices // self.count,
        }

    def tell(self, what: str, *given: Any) -> None:
        """Have the others do something, while this process does it."""
        for peer in self._peers:
            assert peer.stdin is not None  # noqa: S101 - it is a pipe
            pickle.dump((what, given), peer.stdin)
            peer.stdin.flush()

    def hear(self) -> list[Any]:
        """Return what the others returned, in order.

        Raises:
            Refused: One of them says no, or has ended.
        """
        answers = []
        for peer in self._peers:
            assert peer.stdout is not None  # noqa: S101 - it is a pipe
            try:
                answers.append(pickle.load(peer.stdout))  # noqa: S301 - of a process of its own
            except EOFError:
                raise Refused(f"a process of {self.count} ended") from None
        for refusal, _ in answers:
            if refusal:
                raise Refused(refusal)
        return [answer for _, answer in answers]


def serve() -> None:
    """Do what the first process does, until that ends."""
    address, number, told = sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    home = importlib.import_module(".pjrt", __package__)
    peer = home.Pjrt.peer(told, Processes(int(told["processes"]), number, address))
    while True:
        try:
            what, given = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the first process
        except EOFError:
            return
        try:
            answer = ("", peer.do(what, *given))
        except Exception as refusal:  # noqa: BLE001 - the first process reports it
            answer = (f"{type(refusal).__name__}: {refusal}"[:_MESSAGE_LIMIT], None)
        pickle.dump(answer, answers)
        answers.flush()


def _free_address() -> str:
    with socket.socket() as listening:
        listening.bind((_HOST, 0))
        return f"{_HOST}:{listening.getsockname()[1]}"
