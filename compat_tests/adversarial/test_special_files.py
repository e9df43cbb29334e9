"""Every command with an input x everything that is no file; every `-o` x every destination."""

import contextlib
import gzip
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compat_tests.adversarial.generators.commands import actions, run_all
from compat_tests.adversarial.generators.special_files import INPUTS, OUTPUTS, make, snapshot
from portable.artifact import Artifact
from portable.containers import open_container
from portable.corpus import CorpusError, Tensor
from portable.corpus.tensors import load_tensor
from portable.system.files import FileError, InputFile, new_directory, read_file, write_file

DATA = Path(__file__).parents[1] / "data"
SAMPLE = DATA / "artifacts" / "add_f32+0.9.0.mlir.bc"
EXPORTED = DATA / "containers" / "gate-vjp2-jax-0.10.2.exported"

# Command lines for one input each, which is X; F is an artifact, P a policy.
TAKES_A_FILE = [
    "inspect X",
    "check X --for jaxlib>=0.5",
    "check X --for jaxlib>=0.5 --mode forward --format json",
    "minimum X",
    "explain X --target 1.0.0",
    "pin X --target 1.0.0 -o out",
    "serialize X --target 1.0.0 -o out",
    "deserialize X",
    "run X --random 0",
    "run F --inputs X",
    "verify X --against F",
    "verify F --against X",
    "verify F --against F --inputs X",
    "gate X --policy P",
    "gate X --policy P --depth header",
    "gate F --policy X",
    "matrix X --for jaxlib>=0.5 --cache store",
    "matrix F --for jaxlib>=0.5 --cache store --stage execute --inputs X",
    "matrix --merge X",
    "releases add X",
    "releases diff ./X jaxlib==0.9.1",
    "target --for ./X",
    "bundle X --for jaxlib>=0.5 -o out",
    "bundle --files X -o out",
    "pick X --for jaxlib>=0.5 -o out",
    "reduce X --check true -o out",
]
# `export saved-model` takes a directory, and needs TensorFlow before it looks. `env` and `corpus`
# take folders, of which every file is one of these below.
TAKES_NONE = {
    "completion bash", "completion zsh", "corpus new", "corpus run", "env clear", "env list",
    "env make", "env prune", "export jax", "export saved-model", "export torch",
    "releases list", "releases update", "schema", "verify-export", "versions", "fuzz generate",
    "fuzz hunt",
}  # fmt: skip
# They need extras that are not here; compat_tests/fleet and frameworks/oci walk them.
ELSEWHERE = {
    *("audit", "plan", "repin-all", "push"),
    *("attest sign", "attest verify", "attest attach"),
}
# What a corpus of one Case consists of, and the actions that read it.
CASE = Path(__file__).parents[2] / "corpus" / "shapes" / "broadcast_in_dim_f32"
PARTS = {
    "SEALS": ["verify", "seal"],
    "coverage.toml": ["coverage"],
    "one/case/case.toml": ["list", "show", "coverage", "seal"],
    "one/case/program.mlir": ["show"],
    "one/case/artifacts/1.0.0+jaxlib-0.4.29.mlir.bc": ["coverage"],
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return a folder with an artifact and a policy."""
    shutil.copy(SAMPLE, tmp_path / "F.mlir.bc")
    (tmp_path / "P.toml").write_text('[consumers]\na = ["jaxlib>=0.5"]\n')
    return tmp_path


def _words(line: str, x: str) -> list[str]:
    names = {"X": x, "./X": f"./{x}", "F": "F.mlir.bc", "P": "P.toml"}
    return [names.get(word, word) for word in line.split()]


def test_no_command_is_forgotten() -> None:
    """A new command or action is entered above, or said to take no file."""
    walked = {
        name for name in actions() for line in TAKES_A_FILE if f"{line} ".startswith(f"{name} ")
    }
    walked |= {f"corpus {action}" for parts in PARTS.values() for action in parts}
    assert walked | TAKES_NONE | ELSEWHERE == actions()
    assert not walked & (TAKES_NONE | ELSEWHERE)


@pytest.mark.parametrize("line", TAKES_A_FILE)
def test_what_is_no_file_is_refused_at_once(line: str, here: Path) -> None:
    """No command waits, reads without end, or takes it for something: one line, exit code 2."""
    paths = [make(kind, here / f"{kind}.mlir.bc") for kind in INPUTS]
    before = snapshot(here)
    for path, said in zip(paths, run_all([_words(line, p.name) for p in paths], here), strict=True):
        if line == "inspect X" and path.is_dir():
            continue  # it says what a directory is
        if line.startswith(("releases", "target")) and path.is_dir():
            assert said.code == 2  # a folder may hold a runtime; this one does not
            continue
        if line.endswith("--depth header") and path.stem == "sparse.mlir":
            continue  # its header is all that counts
        assert said.code == 2, (path.name, said)
        told = said.err or said.out  # a gate tells in its report
        assert path.name in told, said
        assert "Traceback" not in said.err
        assert said.err.count("\n") <= 1
    assert snapshot(here) == before


@pytest.mark.parametrize("part", PARTS)
def test_no_part_of_a_corpus_is_anything_but_a_file(part: str, here: Path) -> None:
    """No action waits for it, reads it without end, or takes it for something."""
    lines = []
    for kind in INPUTS:
        case = here / kind / "one" / "case"
        shutil.copytree(CASE, case, ignore=shutil.ignore_patterns("artifacts"))
        (case / "artifacts").mkdir()
        sealed = next(name for name in PARTS if name.endswith(".bc"))
        shutil.copy(CASE / "artifacts" / Path(sealed).name, here / kind / sealed)
        (here / kind / "SEALS").write_text("")
        (here / kind / "coverage.toml").write_text("")
        (here / kind / part).unlink()
        make(kind, here / kind / part)
        for action in PARTS[part]:
            name = ["case"] if action == "show" else []
            lines.append(["corpus", action, *name, "--corpus", kind])
    before = snapshot(here)
    for words, said in zip(lines, run_all(lines, here), strict=True):
        assert said.code == 2, (words, said)
        assert "Traceback" not in said.err
        assert "internal error" not in said.err
        assert said.err.count("\n") <= 1
    assert snapshot(here) == before


@pytest.mark.parametrize("kind", INPUTS)
def test_the_own_table_is_a_file(kind: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that needs the Releases reports at once what else is there."""
    monkeypatch.setenv("PORTABLE_CACHE", str(here))
    path = make(kind, here / "releases.toml")
    before = snapshot(here)
    lines = [["releases"], ["check", "F.mlir.bc", "--for", "jaxlib"], ["target", "--for", "jaxlib"]]
    for said in run_all(lines, here):
        assert (said.code, said.out) == (2, ""), said
        assert path.name in said.err
        assert "internal error" not in said.err
        assert said.err.count("\n") == 1
    assert snapshot(here) == before


@pytest.mark.parametrize("kind", INPUTS)
def test_the_marker_of_an_environment_is_a_file(
    kind: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment with anything else is broken, and nothing waits for it."""
    monkeypatch.setenv("PORTABLE_CACHE", str(here))
    home = here / "environments" / "one"
    home.mkdir(parents=True)
    make(kind, home / "portable-environment.json")
    lines = [["env", "list"], ["env", "prune", "--keep", "99999GB"], ["env", "clear", "one"]]
    listed, *others = run_all(lines, here)
    assert "one: unfinished or broken" in listed.out
    assert [said.code for said in (listed, *others)] == [0, 0, 0]
    assert not home.exists()


def test_a_case_is_read_like_everything_else(here: Path) -> None:
    """Folders of Cases too, and the files that a Case names."""
    (here / "cases" / "one").mkdir(parents=True)
    manifest = make("fifo", here / "cases" / "one" / "case.toml")
    lines = [["matrix", path, "--for", "jaxlib==0.10.2"] for path in ("cases", "cases/one")]
    for said in run_all(lines, here):
        assert said.code == 2
        assert "FIFO" in said.err
    tensor = Tensor("x", "float32", manifest)
    with pytest.raises(CorpusError, match="FIFO"):
        load_tensor(tensor)


def test_a_folder_full_of_them_is_searched(here: Path) -> None:
    """The artifact among them is judged; each of the others is told, and the exit code is 2."""
    (here / "tree").mkdir()
    shutil.copy(SAMPLE, here / "tree" / "good.mlir.bc")
    for kind in INPUTS:
        make(kind, here / "tree" / f"{kind}.mlir.bc")
    said, headers = run_all(
        [["gate", "tree", "--policy", "P.toml", *more] for more in ([], ["--depth", "header"])],
        here,
    )
    assert said.code == headers.code == 2
    searched = {"directory", "link-to-folder"}
    for kind in set(INPUTS) - searched - {"sparse"}:
        assert f"tree/{kind}.mlir.bc: not judged" in said.out, kind
    assert "tree/sparse.mlir.bc: artifact: " in said.out
    assert "1 pass" in said.out


# Command lines that write to X.
WRITES = [
    "gate F --policy P -o X",
    "gate F --policy P --format json -o X",
    "matrix --merge M -o X",
    "deserialize F -o X",
    "serialize F --target 1.0.0 -o X",
    "pin F --target 1.0.0 -o X",
    "pin C --target 1.9.0 -o X",
    "run F --random 0 -o X",
]


@pytest.mark.parametrize("line", WRITES)
def test_what_is_no_file_is_never_replaced(line: str, here: Path) -> None:
    """Devices, pipes, sockets and links are as they were, and nothing is left behind."""
    if not line.startswith("gate"):
        pytest.importorskip("jaxlib")
    shutil.copy(EXPORTED, here / "C.exported")
    (here / "M.json").write_text("{}")
    names = {"C": "C.exported", "M": "M.json"}
    paths = [make(kind, here / f"{kind}.out") for kind in OUTPUTS]
    before = snapshot(here)
    lines = [[names.get(w, w) for w in _words(line, path.name)] for path in paths]
    for path, said in zip(paths, run_all(lines, here, limit=60), strict=True):
        assert said.code == 2, (path.name, said)
        assert said.err.startswith(("error: ", '{"error":')), said
        assert said.err.count("\n") == 1
    assert snapshot(here) == before


def _portable(*words: object, **more: object) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "portable", *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False, timeout=60, **more)  # type: ignore[call-overload,no-any-return]  # as the caller says


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_streams_that_are_named_are_read(name: str, here: Path) -> None:
    """Standard input from a pipe, a file or nowhere, by any of its names."""
    with SAMPLE.open("rb") as opened:
        from_file = _portable("inspect", name, stdin=opened)
    from_pipe = _portable("inspect", name, input=SAMPLE.read_bytes())
    assert from_file.returncode == from_pipe.returncode == 0, from_pipe.stderr
    assert from_file.stdout == from_pipe.stdout
    nothing = _portable("check", name, "--for", "jaxlib>=0.5", stdin=subprocess.DEVNULL, cwd=here)
    assert nothing.returncode == 2
    assert b"empty" in nothing.stderr


@pytest.mark.parametrize("command", ["inspect {}", "check {} --for jaxlib>=0.5", "minimum {}"])
def test_process_substitution_is_read(command: str) -> None:
    """`<(cat FILE)` is a pipe that the user named."""
    line = command.format(f"<(cat {SAMPLE})").replace(">=", "'>='")
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m portable {line}"],
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_streams_that_are_named_are_written(here: Path) -> None:
    """`/dev/stdout`, `>(gzip)`, `/dev/null` and `/dev/fd/N` get the bytes that a file gets."""
    words = f"{sys.executable} -m portable gate F.mlir.bc --policy P.toml --format json -o"
    script = f"""
        {words} file
        {words} - > dash
        {words} /dev/stdout > stdout
        {words} /dev/stdout | cat > piped
        {words} /dev/fd/7 7> seven
        {words} >(gzip > zipped)
        {words} /dev/null
    """
    subprocess.run(["bash", "-ec", script], cwd=here, check=True, timeout=60)
    expected = (here / "file").read_bytes()
    assert expected.startswith(b"{")
    for name in ("dash", "stdout", "piped", "seven"):
        assert (here / name).read_bytes() == expected, name
    assert _unzipped(here / "zipped") == expected
    assert Path("/dev/null").is_char_device()


def _unzipped(path: Path) -> bytes:
    """Read what a shell that has ended already may still be writing."""
    for _ in range(100):
        with contextlib.suppress(EOFError, FileNotFoundError):
            if written := gzip.decompress(path.read_bytes()):  # of an empty file it is empty
                return written
        time.sleep(0.1)
    raise AssertionError(f"{path} is never whole")


def test_a_device_that_is_full_is_one_line(here: Path) -> None:
    """Whatever is written there, the error names it."""
    line = f"{sys.executable} -m portable gate F.mlir.bc --policy P.toml -o /dev/fd/7 7> /dev/full"
    done = subprocess.run(
        ["bash", "-c", line], cwd=here, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"no space left" in done.stderr


def test_a_disk_that_is_full_leaves_nothing(here: Path) -> None:
    """The old file is as it was, and no part of the new one is there."""
    (here / "old").write_bytes(b"old")
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "from portable.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    before = snapshot(here)
    for name in ("old", "new"):
        done = subprocess.run(
            [sys.executable, "-c", code, "gate", "F.mlir.bc", "--policy", "P.toml", "--format",
             "junit", "-o", name],
            cwd=here, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
        assert b"file too large" in done.stderr
    assert snapshot(here) == before


@pytest.mark.parametrize("way", ["itself", "dot", "link", "hard-link", "folder-link", "stdin"])
@pytest.mark.parametrize(
    "line",
    ["pin X --target 1.0.0 -o Y", "serialize X --target 1.0.0 -o Y", "deserialize X -o Y",
     "run X --random 0 -o Y", "gate X --policy P -o Y", "matrix X --for jaxlib==0.10.2 -o Y"],
)  # fmt: skip
def test_no_command_writes_over_its_input(line: str, way: str, here: Path) -> None:
    """By whatever name: nothing is read, made or written before it is refused."""
    original = (here / "F.mlir.bc").read_bytes()
    other = {"itself": "F.mlir.bc", "dot": "./F.mlir.bc", "stdin": "F.mlir.bc"}.get(way, "Y")
    if way == "link":
        (here / "Y").symlink_to("F.mlir.bc")
    elif way == "hard-link":
        os.link(here / "F.mlir.bc", here / "Y")
    elif way == "folder-link":
        (here / "Y").symlink_to(".")
        other = "Y/F.mlir.bc"
    program = "-" if way == "stdin" else "F.mlir.bc"
    if way == "stdin" and line.split(maxsplit=1)[0] in {"gate", "matrix"}:
        pytest.skip("takes no standard input")
    words = [{"X": program, "Y": other, "P": "P.toml"}.get(word, word) for word in line.split()]
    with (here / "F.mlir.bc").open("rb") as opened:
        done = _portable(*words, cwd=here, stdin=opened)
    assert done.returncode == 2, done.stdout
    assert done.stderr.count(b"\n") == 1
    assert b"destination is the input" in done.stderr or b"symbolic link" in done.stderr
    assert (here / "F.mlir.bc").read_bytes() == original


def test_a_file_that_shrinks_is_an_error(tmp_path: Path) -> None:
    """A mapped file would end the process; what was opened can be cut short at any time."""
    path = tmp_path / "a.exported"
    path.write_bytes(EXPORTED.read_bytes())
    with path.open("r+b") as stream:
        stream.seek(0, os.SEEK_END)
        stream.write(bytes(1 << 20))
    container = open_container(path)
    os.truncate(path, 1000)
    with pytest.raises(FileError, match="truncated"):
        [*map(bytes, container.artifacts())]
    file = InputFile(tmp_path / "a.exported")
    os.truncate(path, 10)
    with pytest.raises(FileError, match="truncated"):
        file.read()


def test_what_grows_is_read_as_it_was(tmp_path: Path) -> None:
    """Somebody may append faster than it is read."""
    path = tmp_path / "a"
    path.write_bytes(b"begin")
    file = InputFile(path)
    with path.open("ab") as stream:
        stream.write(b" and more")
    assert file.read() == b"begin"


def test_the_library_refuses_what_the_commands_refuse(tmp_path: Path) -> None:
    """One way in and one way out."""
    for kind in INPUTS:
        path = make(kind, tmp_path / kind)
        with pytest.raises(FileError):
            read_file(path)
    artifact = Artifact.load(SAMPLE)
    for kind in OUTPUTS:
        path = make(kind, tmp_path / f"{kind}-out")
        before = snapshot(tmp_path)
        with pytest.raises(FileError):
            artifact.save(path)
        if kind != "directory":
            with pytest.raises(FileError), new_directory(path):
                pass
        assert snapshot(tmp_path) == before
    write_file("/dev/null", b"anything")
    assert Path("/dev/null").is_char_device()
