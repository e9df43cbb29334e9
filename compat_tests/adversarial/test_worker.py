"""The supervisor, against real child processes that misbehave on purpose."""

from __future__ import annotations

import base64
import ctypes.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compat_tests.helpers import misbehaving
from portable.system.children import Limits
from portable.system.worker import Driver, Status, Worker, WorkerFailed
from portable.system.worker.answer import CouldNotObserve, printed
from portable.verdict import Outcome, Severity, Stage


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Return the path of the misbehaving extension."""
    return misbehaving.library(tmp_path)


@pytest.fixture
def worker(library: Path) -> Worker:
    """Return a worker for it, with a short limit."""
    return Worker(sys.executable, Driver("tensorflow"), library=library, limit=20.0)


def _read(text: str) -> dict[str, str]:
    return {"kind": "read", "text": text}


def test_jobs_are_answered_in_one_process(worker: Worker) -> None:
    """All the jobs of a batch are done by one process, and each answer belongs to its job."""
    with worker:
        answers = list(worker.ask_all([{"kind": "probe"}, _read("a"), _read("b")]))
        assert [answer.status for answer in answers] == [Status.OK] * 3
        assert answers[0].payload["current"] == "1.7.3"
        assert worker.starts == 1


@pytest.mark.parametrize(
    ("what", "error"), [("abort", "SIGABRT"), ("segfault", "SIGSEGV"), ("exit", "exit status 3")]
)
def test_a_crash_costs_one_job(worker: Worker, what: str, error: str) -> None:
    """The job that kills the process is crashed, with the signal; the jobs around it are done."""
    with worker:
        before, crashed, after = worker.ask_all([_read("a"), _read(what), _read("b")])
    assert (before.ok, after.ok) == (True, True)
    assert crashed.status is Status.CRASHED
    assert crashed.error == error
    assert crashed.verdict("tensorflow 1", Stage.DECODE).outcome is Outcome.CRASHED


def test_a_crash_is_never_that_of_an_earlier_job(worker: Worker) -> None:
    """A job that dies of what another did to the memory is done again, in a process of its own."""
    with worker:
        poison, good, after = worker.ask_all([_read("poison"), _read("good"), _read("after")])
        assert worker.starts == 2
    assert (poison.ok, good.ok, after.ok) == (True, True, True)


@pytest.mark.parametrize("what", ["hang", "deaf"])
def test_a_hang_is_ended_at_its_limit(worker: Worker, what: str) -> None:
    """A job past its limit is hung, even if it blocks every signal; the next one is done."""
    with worker:
        assert worker.ask(_read("a")).ok
        began = time.monotonic()
        hung = worker.ask(_read(what), limit=0.5)
        assert hung.status is Status.HUNG
        assert 0.5 <= time.monotonic() - began < 10
        assert worker.ask(_read("b")).ok
    assert hung.verdict("tensorflow 1", Stage.DECODE).outcome is Outcome.HUNG


def test_what_is_printed_is_not_an_answer(worker: Worker) -> None:
    """Whatever a Release prints to stdout goes to the diagnostics, not among the answers."""
    with worker:
        answer = worker.ask(_read("print"))
        assert answer.ok
        assert "garbage" in answer.stderr or "{}" in answer.stderr
        quiet = worker.ask(_read("a"))
        assert quiet.ok
        assert quiet.stderr == ""
        # What was said before is gone as a whole, not only overwritten.
        refusals = [worker.ask(_read("refuse")).stderr for _ in range(2)]
        assert all(said.startswith("loc(") for said in refusals)


@pytest.mark.parametrize("what", ["answer-itself", "answer-to-another"])
def test_garbage_on_the_private_descriptor_is_a_crash(worker: Worker, what: str) -> None:
    """A Release that writes over the answers, even with one, is ended and counted as crashed."""
    with worker:
        answer = worker.ask(_read(what))
        assert answer.status is Status.CRASHED
        assert "not an answer" in answer.error
        assert worker.ask(_read("a")).ok


def test_every_job_may_take_so_much_processor_time_and_memory(worker: Worker) -> None:
    """By default, and however much the jobs before have taken."""
    with worker:
        answers = [
            worker.ask({**_read(what), "want": ["module"]}, limit=5.0)
            for what in ("limits", "spend", "limits")
        ]
    cores = os.cpu_count() or 1
    for answer in (answers[0], answers[2]):
        told = base64.b64decode(answer.payload["module"]).removeprefix(b"module ")
        seconds, memory = map(int, told.split())
        assert 5 * cores - 1 <= seconds <= 5 * cores + 1
        assert 0 < memory < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_a_release_that_takes_all_memory_is_stopped(worker: Worker) -> None:
    """It gets no more than its limit; the jobs around it are done."""
    worker.limits = Limits(memory=1 << 28)
    with worker:
        before, grown, after = worker.ask_all([_read("a"), _read("grow"), _read("b")])
    assert (before.ok, after.ok) == (True, True)
    assert grown.status is Status.UNAVAILABLE
    assert "MemoryError" in grown.error


@pytest.mark.skipif(sys.platform != "linux", reason="stops a process that has a child")
def test_a_busy_job_ends_though_nobody_watches(library: Path, tmp_path: Path) -> None:
    """When its parent is stopped, and the alarm is blocked, it ends by its processor time."""
    told = tmp_path / "told"
    code = (
        "import sys; from portable.system.worker import Driver, Worker\n"
        "worker = Worker(sys.executable, Driver('tensorflow'), library=sys.argv[1], limit=0.5)\n"
        "worker.ask({'kind': 'read', 'text': 'busy ' + sys.argv[2]})\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, library, told])
    try:
        while not (told.exists() and told.read_text()):
            time.sleep(0.01)
        parent.send_signal(signal.SIGSTOP)
        ended = Path(f"/proc/{told.read_text()}/stat")
        deadline = time.monotonic() + 60
        # A zombie, since nobody takes notice.
        while ended.read_text().rpartition(")")[2].split()[0] != "Z":
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        parent.kill()
        parent.wait()


def test_a_release_that_fills_the_disk_is_stopped(worker: Worker) -> None:
    """No file grows beyond the limit, not even what it prints; the jobs around it are done."""
    worker.limits = Limits(file=10_000_000)
    with worker:
        before, flooded, after = worker.ask_all([_read("a"), _read("flood"), _read("b")])
    assert (before.ok, after.ok) == (True, True)
    assert flooded.status is Status.REFUSED
    assert "File too large" in flooded.error
    assert len(flooded.stderr) <= 10_000


def test_a_refusal_carries_what_was_printed(worker: Worker) -> None:
    """A Release without a diagnostic handler is heard through its standard error."""
    with worker:
        answer = worker.ask(_read("refuse"))
    verdict = answer.verdict("tensorflow 1", Stage.DECODE)
    assert verdict.outcome is Outcome.INCOMPATIBLE
    assert verdict.reason == "custom op 'x.y' is unknown"
    assert verdict.diagnostics[0].location == '"-":1:73'
    assert verdict.diagnostics[0].severity is Severity.ERROR


def test_a_defect_of_an_adapter_is_no_verdict(worker: Worker) -> None:
    """An exception that no Release raises to refuse is an error of the worker, not an answer."""
    with worker, pytest.raises(WorkerFailed, match="KeyError"):
        worker.ask(_read("defect"))


def test_large_jobs_and_large_answers_pass(worker: Worker) -> None:
    """Megabytes go through in both directions, whatever the size of a pipe."""
    with worker:
        sent = worker.ask({"kind": "read", "text": "y" * 3_000_000})
        returned = worker.ask({"kind": "read", "text": "big", "want": ["module"]})
    assert sent.ok
    assert returned.payload["module_size"] == 3_000_000
    assert len(returned.payload["module"]) == 4_000_000


def test_a_target_that_would_abort_is_not_passed_on(worker: Worker) -> None:
    """A component of 2**63 aborts every release: it never gets there. A patch becomes zero."""
    with worker:
        with pytest.raises(WorkerFailed, match="not a Version"):
            worker.ask({"kind": "write", "text": "", "target": f"1.{2**63}.0"})
        assert (
            worker.ask({"kind": "write", "text": "", "target": "1.5.3"}).payload["target"]
            == "1.5.0"
        )


def test_an_unknown_kind_is_unavailable(worker: Worker) -> None:
    """A family that cannot do a job says so, and that is no Verdict."""
    with worker:
        answer = worker.ask({"kind": "__init__"})
    assert answer.status is Status.UNAVAILABLE
    with pytest.raises(CouldNotObserve):
        answer.verdict("tensorflow 1", Stage.DECODE)


def test_a_python_that_does_not_run(tmp_path: Path) -> None:
    """A missing interpreter is a typed error that says what to do."""
    with (
        Worker(tmp_path / "python", Driver("jaxlib")) as worker,
        pytest.raises(WorkerFailed, match="environment"),
    ):
        worker.ask({"kind": "probe"})


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import os; os.abort()", Status.CRASHED),
        ("import time; time.sleep(1000)", Status.HUNG),
        ("raise ImportError('libcuda.so.1: cannot open')", Status.UNAVAILABLE),
        ("print('noise')\nimport nowhere_at_all", Status.UNAVAILABLE),
    ],
)
def test_a_release_that_dies_while_loading(tmp_path: Path, source: str, status: Status) -> None:
    """A crash, a hang or an error at import is how a probe ends, and no Verdict on an artifact.

    One attempt: what does not load once does not load for the next job.
    """
    path = tmp_path / "extension.py"
    path.write_text(source, encoding="utf-8")
    with Worker(sys.executable, Driver("tensorflow"), library=path, load_limit=2.0) as worker:
        probed = worker.ask({"kind": "probe"})
        answers = [worker.ask(_read("a")) for _ in range(3)]
        assert worker.starts == 1
    assert probed.status is status
    assert {answer.status for answer in answers} == {Status.UNAVAILABLE}
    if status is not Status.UNAVAILABLE:
        assert {one.error for one in answers} == {f"does not load: {status} {probed.error}"}
    with pytest.raises(CouldNotObserve):
        answers[0].verdict("a release", Stage.DECODE)


@pytest.mark.parametrize("kind", ["missing", "text", "no entry"])
def test_a_plugin_that_cannot_be_used(tmp_path: Path, kind: str) -> None:
    """A plugin that is missing, no library, or a library of something else is unavailable."""
    path = tmp_path / "plugin.so"
    if kind == "text":
        path.write_text("not a library", encoding="utf-8")
    if kind == "no entry":
        path = Path(ctypes.util.find_library("c") or "libc.so.6")
    with Worker(None, Driver("plugin"), library=path) as worker:
        answer = worker.ask({"kind": "probe"})
    assert answer.status is Status.UNAVAILABLE
    assert ("GetPjrtApi" in answer.error) == (kind == "no entry")


def test_the_child_needs_nothing_of_the_package(library: Path) -> None:
    """The child runs with the standard library alone: `portable` is not importable in it."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import inside.main, inside.bindings,"
        "inside.jaxlib_adapter, inside.tensorflow_adapter, inside.torch_mlir_adapter,"
        "inside.iree_adapter, inside.plugin_adapter;"
        "assert not [m for m in sys.modules if m.startswith('portable')]"
    )
    folder = Path(__file__).parents[2] / "portable" / "system" / "worker"
    subprocess.run([sys.executable, "-I", "-S", "-c", code, str(folder)], check=True)
    assert library.exists()


def test_nothing_is_left_behind(worker: Worker) -> None:
    """Closing the worker ends its process, and a second close is harmless."""
    with worker:
        worker.ask(_read("a"))
        child = worker._child
        assert child is not None
    worker.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, signal.SIGTERM)


def test_printed_diagnostics_are_found_among_noise() -> None:
    """Only lines that MLIR prints count, with and without a `loc(...)` around the place."""
    heard = printed('WARNING: All log messages\n<unknown>:0: error: no\nloc("a":1:2): note: here\n')
    assert [(d.severity, d.location, d.message) for d in heard] == [
        (Severity.ERROR, "<unknown>:0", "no"),
        (Severity.NOTE, '"a":1:2', "here"),
    ]
