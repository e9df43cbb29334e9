"""A program over several processes of this machine, each with its devices of the CPU.

They find each other by jaxlib's coordination service, and exchange by gloo, over the loopback. This
process is the first; it starts the others and tells them what it does. They are of its group, which
ends with whoever started it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

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
        # What must live as long as the client does.
        self._held: list[Any] = []
        self._address = address or self._own_address()
        self._peers: list[subprocess.Popen[bytes]] = []

    def _own_address(self) -> str:
        """Choose a port, and hold it until the service listens there."""
        kept = socket.socket()
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # as gRPC does
        kept.bind((_HOST, 0))
        self._held.append(kept)
        return f"{_HOST}:{kept.getsockname()[1]}"

    def start(self, told: Payload) -> None:
        """Start the others."""
        folder = str(Path(__file__).parent.parent)
        for number in range(1, self.count):
            words = [self._address, str(number), json.dumps(told)]
            peer = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, folder, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._peers.append(peer)
            # While this process waits for what that one was to send.
            threading.Thread(target=_end_as, args=(peer,), daemon=True).start()

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
            try:
                pickle.dump((what, given), peer.stdin)
                peer.stdin.flush()
            except BrokenPipeError:
                _end_as(peer)

    def hear(self) -> list[Any]:
        """Return what the others returned, in order.

        Raises:
            Refused: One of them says no.
        """
        answers = []
        for peer in self._peers:
            assert peer.stdout is not None  # noqa: S101 - it is a pipe
            try:
                answers.append(pickle.load(peer.stdout))  # noqa: S301 - of a process of its own
            except (EOFError, pickle.UnpicklingError):
                _end_as(peer)
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


def _end_as(peer: subprocess.Popen[bytes]) -> NoReturn:
    """End this process as soon as another one has ended, and as that did.

    None of them can go on alone; whoever started this one starts another for the next job.
    """
    code = peer.wait()
    if code < 0:
        with contextlib.suppress(OSError, ValueError):  # of SIGKILL; in another thread
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code or 1)
