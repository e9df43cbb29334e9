"""The rooms of docs/architecture.md: imports flow downward, and no compiler below the line."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import portable
from tools.architecture import House, circles

PACKAGE = Path(portable.__file__).parent
ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"

COMPILERS = {"jax", "jaxlib", "torch", "torch_mlir", "torch_xla", "mlir", "tensorflow", "iree"}


def _rooms() -> tuple[list[set[str]], int]:
    """Read the table of rooms: a set of names a row, top first; and how many are above the line."""
    rows, line = [], 0
    for text in ARCHITECTURE.read_text().splitlines():
        match = re.match(r"\| (.*?) \|", text)
        names = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)?)/?`", match[1])) if match else set()
        if names:
            rows.append(names)
        elif "above this line" in text:
            line = len(rows)
    return rows, line


ROOMS, LINE = _rooms()
RANK = {name: rank for rank, names in enumerate(ROOMS) for name in names}


def _room(module: str) -> str:
    parts = module.split(".")
    inner = "/".join(parts[1:3])  # a module may have a row of its own
    return inner if inner in RANK else parts[1] if len(parts) > 1 else ""


HOUSE = House(PACKAGE)
MODULES = HOUSE.modules


def test_no_module_is_in_a_circle() -> None:
    """Each module can be read, tested and imported before those that need it."""
    assert circles(HOUSE.graph) == set()


def test_no_room_is_in_a_circle() -> None:
    """Nor are rooms, which have rows of their own or are rows together."""
    rooms: dict[str, set[str]] = {}
    for module, needed in HOUSE.graph.items():
        rooms.setdefault(_room(module), set()).update(map(_room, needed))
    assert circles({room: needed - {room} for room, needed in rooms.items()}) == set()


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("import portable.system.worker.supervisor", "portable.system.worker.supervisor"),
        ("def f():\n    from portable import policy", "portable.policy"),
        ('__import__("portable.policy.gate")', "portable.policy.gate"),
        ('import_module(f"portable.policy.{name}")', "portable.policy"),
        ('Path(__file__).parent.parent / "system/worker"', "portable.system.worker"),
        ('Path(__file__).with_name("window.py")', "portable.releases.window"),
        (
            'f"{dirname(dirname(__file__))}/system/worker/supervisor.py"',
            "portable.system.worker.supervisor",
        ),
    ],
)
def test_nothing_is_hidden_from_these_tests(code: str, named: str) -> None:
    """A module is found however it is named: lazily, in a string, or by the path of its file."""
    found = {name for name, _ in HOUSE.imports(code)}
    assert named in found.union(HOUSE.named("portable.releases.plugin", code))


def test_a_class_name_means_one_thing() -> None:
    """Who searches for a class finds one, private ones included."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in re.findall(r"^ *class (\w+)[(:]", path.read_text(), re.MULTILINE):
            found.setdefault(name, []).append(str(path))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_every_module_has_a_room() -> None:
    """A new module is entered into docs/architecture.md, and no room stands there empty."""
    rooms = {_room(module) for module in MODULES} - {"", "__main__"}
    assert rooms == set(RANK)


# The facade names everything and imports it on first use.
HOUSED = sorted(module for module in MODULES if _room(module) not in {"", "__main__"})


@pytest.mark.parametrize("module", HOUSED)
def test_imports_flow_downward(module: str) -> None:
    """A room imports itself and the rooms below it, nothing else."""
    room = _room(module)
    for imported, line in HOUSE.imports(MODULES[module].read_text()):
        if imported.startswith("portable."):
            other = _room(imported)
            assert other == room or RANK[other] >= RANK[room], f"{module}:{line} imports {imported}"


@pytest.mark.parametrize("module", [name for name in HOUSED if RANK.get(_room(name), LINE) >= LINE])
def test_no_compiler_below_the_line(module: str) -> None:
    """Neither at import nor lazily."""
    for imported, line in HOUSE.imports(MODULES[module].read_text()):
        assert imported.partition(".")[0] not in COMPILERS, f"{module}:{line} imports {imported}"


def test_only_the_command_line_prints_or_exits() -> None:
    """Libraries return values and raise errors."""
    for module, path in MODULES.items():
        code = path.read_text()
        if _room(module) in {"cli", "__main__"} or not re.search(r"\b(print|exit)\b", code):
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"print", "exit", "sys.exit"}, f"{module}:{node.lineno}"


def test_one_module_makes_temporary_files_and_folders() -> None:
    """What a killed run leaves is swept by the next one, which knows that module's names alone."""
    makers = {"TemporaryDirectory", "NamedTemporaryFile", "mkdtemp", "mkstemp"}
    for module, path in MODULES.items():
        code = path.read_text()
        if module == "portable.system.scratch" or not any(name in code for name in makers):
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Attribute | ast.Name):
                name = ast.unparse(node).removeprefix("tempfile.")
                assert name not in makers, f"{module}:{node.lineno} makes one with {name}"


def test_one_module_makes_threads_that_wait_for_work() -> None:
    """Those of `concurrent.futures` do not know the table of Releases that their caller uses."""
    for module, path in MODULES.items():
        if module != "portable.system.shares":
            assert "ThreadPoolExecutor" not in path.read_text(), module


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "{artifact}"],
        ["check", "{artifact}", "--for", "jaxlib>=0.9"],
        ["target", "--for", "jaxlib>=0.5"],
    ],
    ids=lambda words: words[0],
)
def test_short_commands_load_no_compiler_and_no_numpy(words: list[str]) -> None:
    """`inspect`, `check` and `target` read bytes and tables; the rest would cost their start."""
    path = ARCHITECTURE.parents[1] / "compat_tests/data/artifacts/mesh_inline+1.16.0.mlir.bc"
    code = (
        "import sys; from portable.cli import main\n"
        "main(sys.argv[1:]); print(*{name.partition('.')[0] for name in sys.modules})"
    )
    command = [sys.executable, "-c", code, *(word.format(artifact=path) for word in words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert COMPILERS.union({"numpy"}).isdisjoint(done.stdout.splitlines()[-1].split())


def test_audits_and_plans_load_nothing_that_pins() -> None:
    """It would be half of what they import."""
    code = "import sys, portable.fleet; sys.exit('portable.pinning.pipeline' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_module_hides_a_call_of_the_package() -> None:
    """`portable.run` is the call whatever was imported before: no module has the name of one."""
    calls = set(portable.__all__)
    assert calls.isdisjoint({module.removeprefix("portable.") for module in MODULES})
