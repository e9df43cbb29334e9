"""No command runs code from where the data is, whatever lies in the working directory."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import portable
from compat_tests.adversarial.generators.hijack import hostile_folder

ROOT = Path(__file__).parents[2]
PACKAGE = Path(portable.__file__).parent
ARTIFACT = ROOT / "compat_tests/data/artifacts/mesh_inline+1.16.0.mlir.bc"
PROGRAM = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
LIMIT_S = 300

# Each command that starts a child, and what it ends with where all is well.
COMMANDS = {
    "pin": ("pin m.mlir --target 1.9.0 -o out.bc", 0),
    "pin --verify": ("pin m.mlir --target 1.9.0 --verify -o out.bc", 0),
    "serialize": ("serialize m.mlir --target 1.9.0 -o out.bc", 0),
    "minimum": ("minimum m.mlir", 0),
    "explain": ("explain m.mlir --target 1.9.0", 0),
    "check --observe": ("check tanh.bc --observe", 0),
    "deserialize": ("deserialize tanh.bc", 0),
    "run": ("run m.mlir --random 1", 0),
    "verify": ("verify tanh.bc --against m.mlir", 0),
    "export": ("export jax mine:f --args f32[2] --target 1.9.0 -o out.bc", 0),
    "env make": ("env make jaxlib==0.0.1", 2),
    "matrix": ("matrix tanh.bc --for jaxlib==0.10.2", 2),
    "target plugin": ("target plugin:./m.mlir", 2),
}
SOURCE = "import jax.numpy as jnp\ndef f(x):\n    return jnp.tanh(x)\n"


@pytest.fixture(scope="module")
def artifact() -> bytes:
    """Return an artifact of `PROGRAM`."""
    pytest.importorskip("jaxlib")
    return portable.serialize(PROGRAM, "1.9.0").data


@pytest.fixture
def hostile(tmp_path: Path, artifact: bytes) -> Path:
    """Return a working directory with the inputs of the commands between hostile modules."""
    folder = hostile_folder(tmp_path / "work", tmp_path / "trace")
    (folder / "m.mlir").write_text(PROGRAM)
    (folder / "tanh.bc").write_bytes(artifact)
    (folder / "mine.py").write_text(SOURCE)
    return folder


def _run(words: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command, as users do, with nothing to fetch from."""
    command = Path(sys.executable).with_name("portable")
    closed = {
        "PIP_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(folder.parent / "uv"),
        "PORTABLE_OFFLINE": "1",
        "PORTABLE_CACHE": str(folder.parent / "cache"),
        "JAX_PLATFORMS": "cpu",
    }
    return subprocess.run(
        [str(command), *words.split()],
        cwd=folder,
        env={**os.environ, **closed, **variables},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def _trace(folder: Path) -> str:
    trace = folder.parent / "trace"
    return trace.read_text() if trace.exists() else ""


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_runs_what_lies_in_the_working_directory(name: str, hostile: Path) -> None:
    """It does its work, and not one of some hundred hostile modules was run."""
    words, code = COMMANDS[name]
    if name == "export":
        pytest.importorskip("jax")
    done = _run(words, hostile)
    assert not _trace(hostile), done.stderr[-500:]
    assert done.returncode == code, done.stderr[-500:]


def test_pip_is_not_taken_from_the_working_directory(hostile: Path) -> None:
    """What fetches wheels is the installed package client, not a `pip.py` beside the data."""
    code = (
        "from portable.runtime.environments.installer import EnvironmentFailed\n"
        "from portable.runtime.environments.installer import PipInstaller, download\n"
        "import sys, pathlib\n"
        "sys.path.insert(0, '')\n"
        "where = pathlib.Path('made')\n"
        "for action in (lambda: download('none==1', '3.11', where, offline=False),\n"
        "               lambda: PipInstaller().create(where, '3.11'),\n"
        "               lambda: PipInstaller().install(where, ['none==1'], dependencies=False)):\n"
        "    try: action()\n"
        "    except EnvironmentFailed as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=hostile,
        env={**os.environ, "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert not _trace(hostile), done.stderr[-500:]
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONPATH": "/nonexistent"},
        {"PYTHONSTARTUP": "json.py"},
        {"PYTHONUSERBASE": "."},
        {"PYTHONINSPECT": "", "PYTHONDONTWRITEBYTECODE": "1"},
    ],
    ids=str,
)
def test_variables_of_python_do_not_let_it_in(variables: dict[str, str], hostile: Path) -> None:
    """Children ignore `PYTHON*`; the path that the parent found by them is handed on."""
    assert _run("minimum m.mlir", hostile, **variables).returncode == 0
    assert not _trace(hostile)


_LIBRARY = """
#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { fclose(fopen("%s", "a")); }
"""
_LOAD = """
import ctypes, os
from portable.system.children import ChildFailed, call
try:
    call(ctypes.CDLL, "libnowhere-else.so", timeout=60)
except ChildFailed as error:
    print(error)
print(call(os.getenv, "PATH", timeout=60))
print(call(os.getenv, "LD_LIBRARY_PATH", timeout=60))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the loader of Linux")
@pytest.mark.parametrize(
    ("entries", "left"),
    [
        *((":", None), ("/nowhere:", "/nowhere"), (":/nowhere", "/nowhere"), (".", None)),
        *(("/a::/b", "/a:/b"), ("lib;/a", "/a"), ("", None)),
    ],
)
def test_no_library_is_taken_from_a_relative_entry(
    entries: str, left: str | None, tmp_path: Path
) -> None:
    """A colon at an end of `LD_LIBRARY_PATH`, as images of CUDA have it, is the current folder."""
    if shutil.which("cc") is None:
        pytest.skip("no compiler of C")
    (tmp_path / "lib").mkdir()
    (tmp_path / "a.c").write_text(_LIBRARY % (tmp_path / "trace"))
    library = tmp_path / "libnowhere-else.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "a.c"], check=True)
    shutil.copy(library, tmp_path / "lib")
    done = subprocess.run(
        [sys.executable, "-P", "-c", _LOAD],
        cwd=tmp_path,
        env={**os.environ, "LD_LIBRARY_PATH": entries, "PATH": f"{entries}:/bin"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert "cannot open shared object file" in done.stdout, done.stdout + done.stderr
    assert done.stdout.splitlines()[-2:] == [f"{left}:/bin" if left else "/bin", str(left)]
    assert not (tmp_path / "trace").exists()


_FOUND = """
from portable.runtime.environments.interpreter import PythonMissing, find_python, find_uv
import sys
sys.modules["uv"] = None  # there is none beside this Python
for version in ("3.10", "3.11", "3.12", "3.13", "3.14"):
    try:
        find_python(version)
    except PythonMissing:
        pass
print(find_uv())
"""


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_no_program_is_taken_from_a_relative_entry_of_path(entry: str, tmp_path: Path) -> None:
    """As a colon at an end of PATH makes of the current folder, often by mistake."""
    (tmp_path / "bin").mkdir()
    for name in ("uv", *(f"python3.{minor}" for minor in range(10, 15))):
        for folder in (tmp_path, tmp_path / "bin"):
            (folder / name).write_text('#!/bin/sh\necho "$0" >> "$(dirname "$0")/trace"\n')
            (folder / name).chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-P", "-c", _FOUND],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{entry}:/nowhere"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.stdout == "None\n", done.stderr
    assert not [*tmp_path.rglob("trace")]


@pytest.mark.parametrize("entry", ["", "."])
def test_children_of_a_python_that_imports_from_here_do_not(entry: str, hostile: Path) -> None:
    """`python -c` has the working directory on its own path; its children have not."""
    code = (
        "import sys; sys.path = [p for p in sys.path if p]\n"
        "import portable, portable.pinning.pipeline, portable.system.children\n"
        "import subprocess, tempfile, pickle\n"
        f"sys.path.insert(0, {entry!r})\n"
        "print(portable.serialize(open('m.mlir').read(), '1.9.0').version)\n"
        "import os; print(os.getpid())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=hostile, capture_output=True, text=True,
        timeout=LIMIT_S, check=False, env={**os.environ, "PYTHONSAFEPATH": "1"},
    )  # fmt: skip
    # The parent's own imports are Python's business: only what a child ran counts.
    parent = done.stdout.split()[-1] if done.returncode == 0 else "?"
    assert done.stdout.startswith("1.9.0"), done.stderr[-500:]
    assert [line for line in _trace(hostile).splitlines() if line.split()[0] != parent] == []


def test_a_module_is_not_taken_from_the_working_directory_by_python_m(hostile: Path) -> None:
    """`python -m portable` runs what Python itself looks for there before us, and nothing else."""
    code = "import runpy, portable, sys; print(*sys.modules)"
    first = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    spared = {name.partition(".")[0] for name in first.stdout.decode().split()} | {"portable"}
    for name in spared:
        (hostile / f"{name}.py").unlink(missing_ok=True)
    command = [sys.executable, "-m", "portable", "minimum", "m.mlir"]
    done = subprocess.run(command, cwd=hostile, capture_output=True, timeout=LIMIT_S, check=False)
    assert (_trace(hostile), done.returncode) == ("", 0), done.stderr


def test_a_project_with_a_portable_of_its_own_can_pin(tmp_path: Path) -> None:
    """The package is loaded from where the parent has it, whatever else has its name."""
    pytest.importorskip("jaxlib")
    (tmp_path / "portable.py").write_text("raise SystemExit('the project of a user')")
    (tmp_path / "m.mlir").write_text(PROGRAM)
    done = _run("pin m.mlir --target 1.9.0 -o out.bc", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = _run("pin m.mlir --target 1.9.0 -o out.bc", tmp_path, PYTHONPATH=str(PACKAGE.parent))
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_parent_found_by_its_path_is_found_by_the_child(tmp_path: Path) -> None:
    """`PYTHONPATH` and `--user` installs still work: absolute entries are handed on, in order."""
    pytest.importorskip("jaxlib")
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "jaxlib.py").write_text(
        f"open({str(tmp_path / 'trace')!r}, 'a').write('0 extra\\n')\nraise ImportError\n"
    )
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "m.mlir").write_text(PROGRAM)
    _run("minimum m.mlir", tmp_path / "work", PYTHONPATH=str(tmp_path / "extra"))
    assert "extra" in (tmp_path / "trace").read_text()


def test_export_looks_in_the_folder_of_the_user_last(hostile: Path) -> None:
    """The module that was named is found there, and hides nothing that is installed."""
    pytest.importorskip("jax")
    (hostile / "mine.py").write_text(
        SOURCE + "import sys, os\nassert os.path.samefile(sys.path[-1], os.getcwd())\n"
    )
    done = _run("export jax mine:f --args f32[2] --target 1.9.0 -o out.bc", hostile)
    assert (done.returncode, _trace(hostile)) == (0, ""), done.stderr[-500:]


def _modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


# Runs in the environment of a Release, where nothing of the package can be imported; its one child
# is a compiler of that environment, in the process group and under the limits of its worker.
STARTS_BY_ITSELF = {PACKAGE / "system" / "worker" / "inside" / "iree_adapter.py"}
STARTERS = {"subprocess", "multiprocessing", "pty", "concurrent.futures.process"}
CALLS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}


@pytest.mark.parametrize(
    "path", [p for p in _modules(PACKAGE) if p not in STARTS_BY_ITSELF], ids=lambda p: p.stem
)
def test_only_one_room_starts_processes(path: Path) -> None:
    """Outside `portable/system` nothing imports what starts a process, or calls it in `os`."""
    if path.is_relative_to(PACKAGE / "system"):
        return
    for node in ast.walk(ast.parse(path.read_text())):
        found: set[str] = set()
        if isinstance(node, ast.Import):
            found = {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found = {node.module or ""}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os":
            called = node.attr in CALLS or node.attr.startswith(("exec", "spawn"))
            assert not called, f"{path}:{node.lineno} calls os.{node.attr}"
        assert not STARTERS & found, f"{path}:{getattr(node, 'lineno', 0)} imports {found}"


@pytest.mark.parametrize("path", _modules(ROOT / "tools"), ids=lambda p: p.stem)
def test_every_python_of_the_tools_is_isolated(path: Path) -> None:
    """A command line that begins with the running Python goes on with `-I`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
            words = [ast.unparse(word) for word in node.elts]
            if "sys.executable" in words[0]:
                assert words[1:2] == ["'-I'"], f"{path}:{node.lineno}"
