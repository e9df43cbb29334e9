"""An audit on a cluster: what one machine finds, whoever of the cluster is killed."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import distributed
import pyarrow.parquet
import pytest

from compat_tests.fleet.conftest import Bucket, killed_audit
from portable.cli import main
from portable.cli.matrix import ClusterUnreachable
from portable.cli.matrix import cluster as connected
from portable.fleet import Audit, audit

CORPUS = Path(__file__).parents[2] / "corpus"
FAMILY = CORPUS / "collectives"


def _rows(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pyarrow.parquet.read_table(path).to_pylist()
    return found


@pytest.fixture
def cluster() -> Iterator[distributed.LocalCluster]:
    """A Dask scheduler on this machine, with two workers that are processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


def test_a_worker_that_is_killed_costs_nothing(
    cluster: distributed.LocalCluster, tmp_path: Path
) -> None:
    """Every object has the rows that one machine finds, once and in the same order."""
    alone, fleet = tmp_path / "alone.parquet", tmp_path / "fleet.parquet"
    audit([str(CORPUS)], alone, depth="content")
    killed: list[int] = []

    def kill_once(done: Audit) -> None:
        assert done.objects
        if not killed:
            killed.append(cluster.workers[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    with distributed.Client(cluster) as client:
        done = audit(
            [str(CORPUS)], fleet, depth="content", executor=client.get_executor(), tell=kill_once
        )
    assert killed
    assert done.objects == len(_rows(alone)) > 2000
    assert _rows(fleet) == _rows(alone)


def test_a_client_that_is_killed_goes_on(cluster: distributed.LocalCluster, tmp_path: Path) -> None:
    """Whenever it is killed: nothing is lost or twice, and nothing is left behind."""
    alone, fleet = tmp_path / "alone.parquet", tmp_path / "fleet.parquet"
    audit([str(CORPUS)], alone)
    for parts in (1, 2):
        status = killed_audit(str(CORPUS), fleet, parts, cluster.scheduler_address)
        assert status == -signal.SIGKILL
        assert not fleet.exists()
    words = ["audit", str(CORPUS), "-o", str(fleet), "--cluster", cluster.scheduler_address]
    assert main(words) == 2  # the corpus has damage
    assert _rows(fleet) == _rows(alone)
    assert set(tmp_path.iterdir()) == {fleet, alone}


def test_a_cluster_without_workers_is_given_up(
    cluster: distributed.LocalCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A scheduler keeps its tasks for workers that may come; with some the audit goes on."""
    monkeypatch.setattr("portable.cli.matrix._ALONE_S", 1)
    monkeypatch.setattr("portable.cli.matrix._LOOK_S", 0.1)
    cluster.scale(0)
    while cluster.scheduler_info["workers"]:
        time.sleep(0.1)
    fleet, address = tmp_path / "fleet.parquet", cluster.scheduler_address
    assert main(["audit", str(FAMILY), "-o", str(fleet), "--cluster", address]) == 2
    assert f"{address}: no workers for 1 s" in capsys.readouterr().err
    assert not fleet.exists()
    cluster.scale(1)
    cluster.wait_for_workers(1)
    assert main(["audit", str(FAMILY), "-o", str(fleet), "--cluster", address]) == 0


def test_a_bucket_is_read_by_the_workers(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the environment that the workers have; a second audit has nothing left for them."""
    bucket.fill(FAMILY)
    alone, fleet = tmp_path / "alone.parquet", tmp_path / "fleet.parquet"
    audit([bucket.url], alone)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        words = ["audit", bucket.url, "-o", str(fleet), "--cluster", cluster.scheduler_address]
        assert main(words) == 0
        assert "of which 0 are unchanged" in capsys.readouterr().out
    assert _rows(fleet) == _rows(alone)


def test_a_cluster_that_is_not_there_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and nothing is written."""
    fleet = tmp_path / "fleet.parquet"
    words = ["audit", str(FAMILY), "-o", str(fleet), "--cluster", "tcp://127.0.0.1:9"]
    assert main(words) == 2
    assert "cannot reach a Dask scheduler" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(["audit", "x.parquet", "--query", "damaged", "--cluster", "tcp://x:1"]) == 2


@pytest.mark.parametrize(
    "address", ["ucx://127.0.0.1:1", "tls://127.0.0.1:1", "inproc://x", "file:///x"]
)
def test_what_is_no_scheduler_is_told(address: str) -> None:
    """Whatever Dask raises over an address."""
    with pytest.raises(ClusterUnreachable), connected(address):
        pass


def test_a_server_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the connection, and Dask alone waits for its answer without a limit."""
    monkeypatch.setattr("portable.cli.matrix._CONNECT_S", 2)
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterUnreachable, match="no answer within 2 s"), connected(address):
            pass
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad\r\n\r\n", b"\xff" * 4096])
def test_a_server_that_is_no_scheduler_is_told(answer: bytes) -> None:
    """Whatever Dask takes its answer for: also a message of any size."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        port = server.getsockname()[1]
        with pytest.raises(ClusterUnreachable), connected(f"tcp://127.0.0.1:{port}"):
            pass
        server.shutdown(socket.SHUT_RDWR)
