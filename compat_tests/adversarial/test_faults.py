"""Whatever is wrong with the machine or an input: one line, an exit code, and no traceback."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.faults import (
    ADD,
    ARTIFACT,
    COMMANDS,
    COMPILING,
    CORPUS,
    FAULTS,
    WORDS,
    Ended,
    Fault,
    json_documents,
    start,
    toml_documents,
)
from compat_tests.helpers.matrices import sample
from compat_tests.helpers.thorough import pairs
from portable.cli import main
from portable.matrix.document import dump

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """module @m {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with what the commands take."""
    (tmp_path / "policy.toml").write_text('[consumers]\na = ["jaxlib==0.10.2"]\n')
    (tmp_path / "matrix.json").write_text(dump(sample()))
    (tmp_path / "program.mlir").write_text(PROGRAM)
    return tmp_path


def demand_clean(ended: Ended, fault: Fault = FAULTS["none"], *, as_json: bool = False) -> None:
    """Check how a process ended against the property that all of them have."""
    said = ended.err.decode()
    assert ended.code in {0, 1, 2}, ended
    assert "Traceback" not in said
    assert "internal error" not in said
    assert "Exception ignored" not in said
    errors = [row for row in said.splitlines() if row.startswith(("error: ", '{"error"'))]
    if ended.code == 2 and not fault.quiet:
        assert len(errors) == 1 or (not said and ended.out), ended
        assert not as_json or json.loads(errors[0])["what"]
    else:
        assert len(errors) <= (ended.code == 2)


@pytest.mark.parametrize(("command", "fault"), pairs(COMMANDS, FAULTS, each=4))
def test_every_command_with_every_fault(command: str, fault: str, folder: Path) -> None:
    """Streams, folders, locales, variables, limits; what cannot be told is not success."""
    words = COMMANDS[command].replace("FOLDER", str(folder)).split()
    wrong = FAULTS[fault]
    ended = start(words, wrong, folder)
    demand_clean(ended, wrong, as_json="json" in words)
    if 1 in {*wrong.closed, *wrong.full} and "file" not in command:
        assert ended.code == 2, "nobody was told"


@pytest.mark.parametrize(("command", "fault"), pairs(COMPILING, FAULTS, each=12))
def test_every_compiling_command_with_every_fault(command: str, fault: str, folder: Path) -> None:
    """The same where a child process does the work."""
    pytest.importorskip("jaxlib")
    words = COMPILING[command].replace("FOLDER", str(folder)).split()
    demand_clean(start(words, FAULTS[fault], folder), FAULTS[fault])


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Return what runs a command in this process."""

    def ran(*words: object) -> Ended:
        code = main([str(word) for word in words])
        said = capfd.readouterr()
        ended = Ended(code, said.out.encode(), said.err.encode())
        demand_clean(ended)
        return ended

    return ran


@pytest.mark.parametrize("kind", json_documents())
def test_no_json_ends_in_a_traceback(kind: str, run: Callable[..., Ended], tmp_path: Path) -> None:
    """Results of a matrix, descriptions in a directory of torch_xla, markers of environments."""
    document = json_documents()[kind]
    path = tmp_path / "document.json"
    path.write_bytes(document)
    assert run("matrix", "--merge", path).code == 2
    directory = shutil.copytree(next(CORPUS.rglob("torch_xla_2_9_0/container")), tmp_path / "d")
    (directory / "functions/forward.meta").write_bytes(document)
    for words in (["inspect"], ["check", "--for", "jaxlib"], ["minimum"]):
        assert run(words[0], directory, *words[1:]).code in {1, 2}


@pytest.mark.parametrize("kind", json_documents())
def test_no_marker_of_an_environment_ends_in_a_traceback(
    kind: str, run: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told as unfinished or broken."""
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path))
    home = tmp_path / "environments" / "one"
    home.mkdir(parents=True)
    (home / "portable-environment.json").write_bytes(json_documents()[kind])
    run("env", "list")
    run("env", "list", "--format", "json")


@pytest.mark.parametrize("name", ["portable.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", toml_documents())
def test_no_toml_ends_in_a_traceback(
    kind: str, name: str, run: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Policies that are named or found, and manifests of Cases."""
    document = toml_documents()[kind]
    if name == "pyproject.toml":
        document = b"[tool.portable]\n" + document if kind[:2] != "a " else document
    (tmp_path / name).write_bytes(document)
    assert run("gate", ARTIFACT, "--policy", tmp_path / name).code == 2 or kind == "many sets"
    monkeypatch.chdir(tmp_path)
    run("gate", ARTIFACT)
    case = tmp_path / "corpus" / "case"
    case.mkdir(parents=True)
    (tmp_path / "corpus" / "SEALS").write_text("")
    (case / "case.toml").write_bytes(document)
    assert run("corpus", "list", "--corpus", tmp_path / "corpus").code == 2
    assert run("matrix", case, "--for", "jaxlib==0.10.2").code == 2


A = str(ARTIFACT)
# `@` stands where a word of the user stands.
LINES = {
    "target": ["target", "--for", "@"],
    "target twice": ["target", "--for", "jaxlib>=0.5", "@"],
    "releases": ["releases", "@"],
    "check --for": ["check", A, "--for", "@"],
    "check file": ["check", "@", "--for", "jaxlib"],
    "check --timeout": ["check", A, "--for", "jaxlib", "--timeout", "@"],
    "check --mode": ["check", A, "--for", "jaxlib", "--mode", "@"],
    "inspect": ["inspect", "@"],
    "minimum": ["minimum", "--timeout", "1", "@"],
    "gate": ["gate", "@", "--policy", "FOLDER/policy.toml"],
    "gate --policy": ["gate", A, "--policy", "@"],
    "gate --on": ["gate", A, "--policy", "FOLDER/policy.toml", "--on", "@"],
    "gate -o": ["gate", A, "--policy", "FOLDER/policy.toml", "-o", "FOLDER/@"],
    "matrix": ["matrix", "@", "--for", "nothing"],
    "matrix --for": ["matrix", "FOLDER/none", "--for", "@"],
    "matrix --merge": ["matrix", "--merge", "@"],
    "matrix --random": ["matrix", "FOLDER/none", "--for", "jaxlib", "--random", "@"],
    "matrix --rtol": ["matrix", "FOLDER/none", "--for", "jaxlib", "--rtol", "@"],
    "env make": ["env", "make", "@"],
    "env clear": ["env", "clear", "@"],
    "env --unused-for": ["env", "clear", "--unused-for", "@"],
    "corpus": ["corpus", "list", "--corpus", "@"],
    "corpus show": ["corpus", "show", "@", "--corpus", str(CORPUS)],
    "export": ["export", "saved-model", "@", "-o", "FOLDER/new"],
    "export --target": ["export", "jax", "none:such", "--target", "@", "-o", "FOLDER/new"],
    "pin --target": ["pin", "FOLDER/none", "--target", "@", "-o", "FOLDER/new"],
    "pin --for": ["pin", "FOLDER/none", "--for", "@", "-o", "FOLDER/new"],
    "serialize": ["serialize", "FOLDER/none", "--target", "@"],
    "explain": ["explain", "FOLDER/none", "--target", "@"],
    "run": ["run", "FOLDER/none", "--on", "@"],
    "run --memory": ["run", "FOLDER/none", "--memory", "@"],
    "verify --ulps": ["verify", "FOLDER/none", "--against", "FOLDER/none", "--ulps", "@"],
    "command": ["@"],
}


@pytest.mark.parametrize("line", LINES)
def test_no_word_ends_in_a_traceback(
    line: str, run: Callable[..., Ended], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Huge and odd numbers, empty words, NUL, words of 100,000 characters, in every place."""
    monkeypatch.setenv("PORTABLE_CACHE", str(folder / "cache"))
    monkeypatch.setenv("PORTABLE_OFFLINE", "1")
    meaningful = {"installed", "-", "/", "..", "jaxlib<1!2"}
    for word in WORDS:
        if word in meaningful:
            continue
        run(*(one.replace("@", word).replace("FOLDER", str(folder)) for one in LINES[line]))


def _npy(shape: tuple[int, ...], descr: str = "<f4", data: bytes = b"") -> bytes:
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header = header.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + data


BOMB = bytes(256 << 20)
ARCHIVES: dict[str, dict[str, bytes]] = {
    "a bomb of another name": {"weights.npy": _npy((64 << 20,), data=BOMB)},
    "a bomb of another shape": {"0.npy": _npy((64 << 20,), data=BOMB)},
    "a bomb that is no array": {"0.npy": BOMB},
    # numpy reads the one whose name is what was asked for, whatever the other's header says.
    "a bomb beside an array of its name": {
        "0": _npy((64 << 20,), data=BOMB), "0.npy": _npy((2,), data=b"\0" * 8),
    },
    "a pickle": {"0.npy": _npy((1,), "|O", b"cos\nsystem\n(S'false'\ntR.")},
    "a header that lies": {"0.npy": _npy((1 << 40,), data=b"\0" * 8)},
    "a huge shape": {"0.npy": _npy((10**30,))},
    "a negative shape": {"0.npy": _npy((-1,))},
    "a huge name": {f"{'9' * 5000}.npy": _npy((2,), data=b"\0" * 8)},
    "no arrays": {"0.txt": b"x"},
    "nothing": {},
}  # fmt: skip


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.parametrize("command", ["run", "verify", "matrix"])
def test_inputs_are_judged_before_they_are_unpacked(
    kind: str, command: str, tmp_path: Path
) -> None:
    """Names, shapes, sizes and dtypes are in the headers; 256 MiB of zeros are not unpacked."""
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ARCHIVES[kind].items():
            archive.writestr(name, data)
    words = {
        "run": ["run", str(ADD)],
        "verify": ["verify", str(ADD), "--against", str(ADD)],
        "matrix": ["matrix", str(ADD), "--for", "jaxlib==0.10.2", "--stage", "execute"],
    }[command]
    limited = Fault(
        environment={"PORTABLE_OFFLINE": "1", "OPENBLAS_NUM_THREADS": "1"},
        limits={resource.RLIMIT_DATA: 250 << 20} if command != "matrix" else {},
    )
    ended = start([*words, "--inputs", str(path)], limited, tmp_path)
    demand_clean(ended)
    assert ended.code == 2
    assert b"out of memory" not in ended.err


def test_inputs_that_no_machine_holds_are_refused(tmp_path: Path) -> None:
    """Before numpy, or a compiler, tries."""
    pytest.importorskip("jaxlib")
    path = tmp_path / "huge.mlir"
    path.write_text(PROGRAM.replace("2xf32", "999999999999999999xf32"))
    ended = start(["run", str(path), "--random", "0"], Fault(), tmp_path)
    demand_clean(ended)
    assert b"random inputs would take" in ended.err


def test_too_little_memory_is_one_line(tmp_path: Path) -> None:
    """Whatever the operation that wanted it."""
    path = tmp_path / "large.json"
    path.write_bytes(b"[" + b"1.5," * (10 << 20) + b"1]")
    # Its values take 335 MB. The modules take 95: with hardly more, Python itself fails to import.
    limited = Fault(limits={resource.RLIMIT_DATA: 220 << 20})
    ended = start(["matrix", "--merge", str(path)], limited, tmp_path)
    demand_clean(ended)
    assert b"out of memory" in ended.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_quietly(number: signal.Signals, tmp_path: Path) -> None:
    """While it waits for its input: no traceback, and the code that a shell expects."""
    # What runs in the background of a shell inherits that SIGINT is ignored, under nohup SIGHUP;
    # what has a handler here has the default there.
    before = signal.signal(number, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "portable", "inspect", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    signal.signal(number, before)
    time.sleep(1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode in {128 + number, -number}
    assert (out, err) == (b"", b"")


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """`nohup portable ...` goes on when the terminal is closed, and what is in the background."""
    ignored = (signal.SIGHUP, signal.SIGINT)
    before = [signal.signal(number, signal.SIG_IGN) for number in ignored]
    process = subprocess.Popen(
        [sys.executable, "-m", "portable", "inspect", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    for number, handler in zip(ignored, before, strict=True):
        signal.signal(number, handler)
    for _ in range(20):
        time.sleep(0.05)
        for number in ignored:
            process.send_signal(number)
    out, err = process.communicate(b"no artifact", timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out


_INTERRUPTED = """
import signal, sys, threading
class Interrupts:
    def find_spec(self, name, *rest):
        if name == {name!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
sys.argv = ["portable", "versions"]
"""


@pytest.mark.parametrize("name", ["portable.cli", "portable.cli.parser", "portable.cli.versions"])
@pytest.mark.parametrize("way", ["from portable.__main__ import main; sys.exit(main())", "runpy"])
def test_an_interrupt_while_it_starts_is_quiet(way: str, name: str, tmp_path: Path) -> None:
    """Whichever of its modules is being imported, by the command and by `python -m`."""
    runpy = "import runpy; runpy.run_module('portable', run_name='__main__', alter_sys=True)"
    code = _INTERRUPTED.format(name=name) + way.replace("runpy", runpy)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    out, err = process.communicate(timeout=60)
    assert process.returncode in {130, -signal.SIGINT}
    assert (out, err) == (b"", b"")


def test_little_is_imported_before_signals_are_taken() -> None:
    """Until then an interrupt is a traceback: `typing` alone takes some milliseconds."""
    code = """
import sys
found, before = [], {*sys.modules}
class Imports:
    def find_spec(self, name, *rest):
        found.append(name)
sys.meta_path.insert(0, Imports())
import portable.__main__
print(*found[:found.index("portable.cli")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "signal" in done.stdout.split()
    assert {"typing", "re", "importlib"}.isdisjoint(done.stdout.split())


def test_the_command_starts_as_python_m_does() -> None:
    """What installers make of the project's script imports what takes signals first."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"portable": "portable.__main__:main"}
