"""Measure what `portable` promises about speed, as ratios inside one run.

Absolute times differ by machine and hour; a ratio to something everybody knows (the bare binding,
`jax.extend.mlir`, `python -c pass`) does not. Every figure is the best of several rounds that
alternate between the two sides.

  python tools/bench.py                 everything that is installed
  python tools/bench.py serialize read  chosen groups
  python tools/bench.py --format json   for machines
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.policy import Policy

ROOT = Path(__file__).parent.parent
TARGET = "1.8.0"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured promise.

    Args:
        name: What was measured.
        value: The figure, in `unit`.
        limit: What is promised.
        unit: `x` for a ratio, else a unit of time, size or rate.
        floor: Whether `limit` is a minimum.
        detail: Both sides of a ratio, in milliseconds.
    """

    name: str
    value: float
    limit: float
    unit: str = "x"
    floor: bool = False
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether the promise holds."""
        return self.value >= self.limit if self.floor else self.value <= self.limit

    def __str__(self) -> str:
        mark, bound = "ok  " if self.holds else "MISS", "at least" if self.floor else "at most"
        value = f"{self.value:9.2f} {self.unit:<3}"
        return f"{mark} {self.name:<58} {value} ({bound} {self.limit:g}) {self.detail}"


def compare(*sides: Callable[[], Callable[[], object]], rounds: int) -> list[float]:
    """Time several sides in turn.

    Args:
        sides: Each prepares, untimed, and returns what is timed.
        rounds: How often.

    Returns:
        The best time of each side, in seconds.
    """
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        for at, side in enumerate(sides):
            action = side()
            gc.collect()
            gc.disable()  # as timeit does: collecting depends on what else is loaded
            began = time.perf_counter()
            action()
            best[at] = min(best[at], time.perf_counter() - began)
            gc.enable()
    return best


def ratio(name: str, limit: float, ours: float, theirs: float) -> Figure:
    """Make the figure for one ratio of two times in seconds."""
    return Figure(
        name, ours / theirs, limit, detail=f"{ours * 1e3:.2f} ms against {theirs * 1e3:.2f} ms"
    )


def program(ops: int) -> str:
    """Write a program of `ops` ops over tensor<64x64xf32>, each with its own location range."""
    kinds = ("add", "multiply", "tanh", "subtract", "dot_general")
    lines = ["func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {"]
    last = "%x"
    for number in range(ops):
        kind = kinds[number % len(kinds)]
        where = f'loc("model.py":{number}:4 to :{number % 80 + 5})'
        shape = "tensor<64x64xf32>"
        if kind == "tanh":
            right = f"{last} : {shape}"
        elif kind == "dot_general":
            right = f"{last}, %y, contracting_dims = [1] x [0] : ({shape}, {shape}) -> {shape}"
        else:
            right = f"{last}, %y : {shape}"
        lines.append(f"%{number} = stablehlo.{kind} {right} {where}")
        last = f"%{number}"
    lines += [f"return {last} : tensor<64x64xf32>", "}"]
    return "\n".join(lines)


def bench_serialize() -> Iterator[Figure]:
    """Time `portable.serialize` against the bindings it protects from."""
    from jax.extend import mlir
    from jaxlib.mlir import passmanager
    from jaxlib.mlir.dialects import stablehlo

    import portable
    from portable import libstablehlo
    from portable.pin import pin

    library = libstablehlo.find("jaxlib")
    expand = f"builtin.module(stablehlo-compatibility-expander{{target={TARGET}}})"
    # A small program is serialized several times in a row: once would measure a cold cache, and too
    # long a row is never left alone by what else the machine does.
    for ops, rounds, calls in ((10, 100, 8), (1_000, 20, 4), (50_000, 6, 1)):
        module = library.parse(program(ops), library.context())
        text = str(module).encode()

        def bare(module: Any = module, calls: int = calls) -> Callable[[], object]:
            copies = [library.clone(module) for _ in range(calls)]

            def action() -> None:
                for copy in copies:
                    passes = passmanager.PassManager.parse(expand, context=copy.context)
                    passes.run(copy.operation)
                    stablehlo.serialize_portable_artifact(copy, TARGET)

            return action

        def ours(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [portable.serialize(module, TARGET) for _ in range(calls)]

        def pinned(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [pin(module, TARGET) for _ in range(calls)]

        def extend(text: bytes = text, calls: int = calls) -> Callable[[], object]:
            return lambda: [mlir.serialize_portable_artifact(text, TARGET) for _ in range(calls)]

        mine, strict, theirs, jax = compare(ours, pinned, bare, extend, rounds=rounds)
        yield ratio(f"serialize {ops} ops / expander + bare binding", 1.5, mine, theirs)
        yield ratio(f"serialize {ops} ops / jax.extend.mlir", 0.45, mine, jax)
        yield ratio(f"pin, strictly re-read, {ops} ops / jax.extend.mlir", 0.6, strict, jax)


def bench_minimum() -> Iterator[Figure]:
    """Time `portable.minimum` against one bare serialize."""
    from jaxlib.mlir.dialects import stablehlo

    import portable
    from portable import libstablehlo

    library = libstablehlo.find("jaxlib")
    module = library.parse(program(50_000), library.context())

    def bare() -> Callable[[], object]:
        copy = library.clone(module)
        current = stablehlo.get_current_version()
        return lambda: stablehlo.serialize_portable_artifact(copy, current)

    mine, theirs = compare(lambda: lambda: portable.minimum(module), bare, rounds=6)
    yield ratio("minimum of 50k ops / one bare serialize", 2.2, mine, theirs)


def _composites(ops: int, every: int) -> str:
    """Write `program(ops)` with a composite behind each `every` ops."""
    shape = "tensor<64x64xf32>"
    lines, count = [], 0
    for line in program(ops).splitlines():
        lines.append(line)
        if line.startswith("%") and not int(line[1 : line.index(" ")]) % every:
            lines.append(
                f'%c{count} = stablehlo.composite "my.op" {line.split()[0]} '
                f"{{decomposition = @impl}} : ({shape}) -> {shape}"
            )
            count += 1
    body = f"%0 = stablehlo.tanh %x : {shape}\nreturn %0 : {shape}"
    return f"func.func private @impl(%x: {shape}) -> {shape} {{\n{body}\n}}\n" + "\n".join(lines)


def bench_downgrade() -> Iterator[Figure]:
    """Time a serialize with rewrites against one for a target that needs none."""
    import portable
    from portable import libstablehlo

    library = libstablehlo.find("jaxlib")
    for ops, rounds, calls in ((300, 15, 10), (50_000, 8, 1)):
        module = library.parse(_composites(ops, 100), library.context())

        def plain(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [portable.serialize(module, TARGET) for _ in range(calls)]

        def rewritten(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [
                portable.serialize(module, "0.9.0", allow=["exact"]) for _ in range(calls)
            ]

        base, ours = compare(plain, rewritten, rounds=rounds)
        yield ratio(f"serialize with rewrites / without, {ops} ops", 1.5, ours, base)


def bench_read() -> Iterator[Figure]:
    """Time the reading of 50k ops against jaxlib's deserialize of the same bytes."""
    from jaxlib.mlir.dialects import stablehlo

    from portable import libstablehlo
    from portable.bytecode import read
    from portable.features import analyze
    from portable.pin import serialize

    library = libstablehlo.find("jaxlib")
    for target in (TARGET, "current"):
        data = serialize(program(50_000), target).data
        context = library.context()

        def theirs(data: bytes = data, context: Any = context) -> Callable[[], object]:
            return lambda: stablehlo.deserialize_portable_artifact(context, data)

        def ours(data: bytes = data) -> Callable[[], object]:
            return lambda: analyze(read(data))

        mine, native = compare(ours, theirs, rounds=8)
        yield ratio(f"required + minimum of 50k ops at {target} / deserialize", 1.0, mine, native)


_HEADER = b"ML\xefR\rStableHLO_v1.9.0\0"


def bench_header() -> Iterator[Figure]:
    """Time the header, from bytes and from a path, for a small and a huge file."""
    from portable.artifact import peek
    from portable.bytecode import read_header

    def from_bytes() -> Callable[[], object]:
        return lambda: [read_header(_HEADER) for _ in range(1000)]

    yield Figure("header from bytes", compare(from_bytes, rounds=20)[0] * 1e3, 10, "us")
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("1 KB", 1 << 10), ("1 GB", 1 << 30)):
            path = f"{folder}/a"
            with open(path, "wb") as stream:  # noqa: PTH123 - as the timed code does
                stream.write(_HEADER)
                stream.truncate(size)

            def many(path: str = path) -> Callable[[], object]:
                return lambda: [peek(path) for _ in range(1000)]

            best = compare(many, rounds=20)[0]
            yield Figure(f"header from a path, {name}", best * 1e3, 25, "us")


def bench_constant() -> Iterator[Figure]:
    """Read an artifact that holds one constant of 512 MB."""
    import numpy as np
    from jaxlib.mlir import ir

    from portable import libstablehlo
    from portable.pin import serialize

    library = libstablehlo.find("jaxlib")
    words = np.arange(1 << 27, dtype=np.int32)
    text = "func.func @main() -> tensor<{0}xi32> {{\n{1}\nreturn %0 : tensor<{0}xi32>\n}}\n"
    body = "%0 = stablehlo.constant dense<7> : tensor<{0}xi32>"
    module = library.parse(text.format(words.size, body.format(words.size)), library.context())
    with module.context, tempfile.TemporaryDirectory() as folder:
        constant = module.body.operations[0].regions[0].blocks[0].operations[0]
        constant.operation.attributes["value"] = ir.DenseElementsAttr.get(words)
        path = Path(folder, "big.mlir.bc")
        path.write_bytes(serialize(module, "1.9.0").data)
        yield from _constant_figures(path)


def _constant_figures(path: Path) -> Iterator[Figure]:
    code = (
        "import mmap, re, sys, time\n"
        "from portable.bytecode import read\nfrom portable.features import analyze\n"
        "stream = open(sys.argv[1], 'rb')\n"
        "view = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "best = 9\n"
        "for _ in range(20):\n"
        "    began = time.perf_counter(); analyze(read(view))\n"
        "    best = min(best, time.perf_counter() - began)\n"
        "peak = re.search('VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]\n"
        "print(best * 1e3, int(peak) / 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True, check=True
    )
    milliseconds, megabytes = map(float, done.stdout.split())
    yield Figure("required + minimum beside a 512 MB constant", milliseconds, 1, "ms")
    yield Figure("resident memory of that", megabytes, 30, "MB")


def bench_process() -> Iterator[Figure]:
    """Time `portable inspect` as a process against a bare Python."""
    from portable.files import write_file

    example = ROOT / "docs" / "examples" / "encoder.mlir"
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.mlir.bc"
        if importlib.util.find_spec("jaxlib"):
            from portable.pin import serialize

            serialize(example, TARGET).save(path)
        else:
            write_file(path, _HEADER)
        # An installed package has its modules compiled; a checkout gets there in the first round.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "env": environment}

        def run(*words: str) -> Callable[[], Callable[[], object]]:
            return lambda: lambda: subprocess.run([sys.executable, *words], check=True, **quiet)

        # The command as pip and uv install it; `python -m` adds what importing `runpy` takes.
        command = str(Path(sys.executable).with_name("portable"))
        base, inspect = compare(run("-c", "pass"), run(command, "inspect", path), rounds=40)
        yield ratio("portable inspect / python -c pass", 2.5, inspect, base)
        resolve = "import portable; portable.resolve_target('jaxlib>=0.5')"
        yield Figure(
            "resolve_target as a process", compare(run("-c", resolve), rounds=20)[0] * 1e3, 60, "ms"
        )


def bench_resolve() -> Iterator[Figure]:
    """Time `resolve_target` after import."""
    import portable

    portable.resolve_target("jaxlib>=0.5")
    best = compare(lambda: lambda: portable.resolve_target("jaxlib>=0.5,<0.11", "180d"), rounds=50)[
        0
    ]
    yield Figure("resolve_target after import", best * 1e3, 1, "ms")


_GATE_FILES = 10_000


def bench_execute() -> Iterator[Figure]:
    """A compiled program with 100 MB of inputs, in the child and by the same calls in here."""
    import numpy as np

    from portable.executors import find_executor
    from portable.pin import serialize
    from portable.worker.inside.pjrt import Pjrt

    activations = np.random.default_rng(0).standard_normal((25_600, 1024), np.float32)
    weights = activations[:1024].copy()
    for name, layers in (("one dense layer", 1), ("four dense layers", 4)):
        big, small = "tensor<25600x1024xf32>", "tensor<1024x1024xf32>"
        lines, last = [], "%x"
        for layer in range(layers):
            lines.append(
                f"%d{layer} = stablehlo.dot_general {last}, %w, contracting_dims = [1] x [0]"
                f" : ({big}, {small}) -> {big}\n%t{layer} = stablehlo.tanh %d{layer} : {big}"
            )
            last = f"%t{layer}"
        text = "\n".join(lines)
        head = f"func.func @main(%x: {big}, %w: {small}) -> {big}"
        artifact = serialize(f"{head} {{\n{text}\nreturn {last} : {big} }}", "1.0.0")
        client = Pjrt(bytes, "cpu")
        client.compile(artifact.data)
        with find_executor("pjrt") as executor:
            executable = executor.compile(artifact)
            inputs = [activations, weights]

            def direct() -> Callable[[], object]:
                return lambda: client.run(artifact.data, inputs, [])  # noqa: B023 - called at once

            def child() -> Callable[[], object]:
                return lambda: executable.run(inputs)  # noqa: B023 - called at once

            theirs, ours = compare(direct, child, rounds=5)
        yield ratio(f"run / the PJRT client itself, 100 MB, {name}", 1.1, ours, theirs)


def bench_gate() -> Iterator[Figure]:
    """Time the gate over a tree of small artifacts, by headers and by content."""
    from portable.policy import gate, parse_policy

    samples = sorted((ROOT / "compat_tests" / "data" / "artifacts").glob("*.bc"))
    contents = [path.read_bytes() for path in samples]
    consumers = {"all": ["jaxlib>=0.5", "tensorflow>=2.18", "iree-base-compiler>=3.4"]}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(_GATE_FILES):
            path = Path(folder, f"{number % 100}", f"{number}.mlir.bc")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(contents[number % len(contents)])
        for depth, limit in (("header", 2000), ("content", 200)):
            policy = parse_policy({"consumers": consumers, "rules": {"depth": depth}})

            def gated(policy: Policy = policy, folder: str = folder) -> Callable[[], object]:
                return lambda: gate([folder], policy)

            rate = _GATE_FILES / compare(gated, rounds=2)[0]
            yield Figure(f"gate over {_GATE_FILES} files, {depth}", rate, limit, "/s", floor=True)


_WEIGHTS = 1 << 30
_REPLACE = """
import re, sys
from portable.containers import open_container
container = open_container(sys.argv[1])
name = container.artifacts()[0].name
container.replace({name: bytes(container.artifacts()[0])}, to=sys.argv[2])
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""
_PIN = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "portable", "pin", *sys.argv[1:]], check=True, stdout=2)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def bench_containers() -> Iterator[Figure]:
    """Write containers with 1 GB of weights anew."""
    small = {
        "torch_xla directory": ROOT / "corpus" / "torch_xla_2_9_0" / "container",
        "SavedModel": _CONTAINERS / "graph-tensorflow-2.20.0",
        "Exported": _CONTAINERS / "gate-vjp2-jax-0.10.2.exported",
    }
    weights = {"torch_xla directory": "data/large", "SavedModel": "variables/large"}
    with tempfile.TemporaryDirectory() as folder:
        for kind, original in small.items():
            path, copy = Path(folder, "original"), Path(folder, "copy")
            if original.is_dir():
                shutil.copytree(original, path)
                path.joinpath(weights[kind]).parent.mkdir(exist_ok=True)
                with path.joinpath(weights[kind]).open("wb") as stream:
                    stream.truncate(_WEIGHTS)
            else:
                _large_exported(original, path)
            peak = _peak(_REPLACE, path, copy)
            yield Figure(f"memory to write {kind} with 1 GB anew", peak, 64, "MB")
            yield Figure(f"size of that copy / {kind}", _size(copy) / _size(path), 1.01)
            _remove(copy)
            if kind == "torch_xla directory" and importlib.util.find_spec("jaxlib"):
                words = "--target", "0.9.0", "-o"
                heavy = _peak(_PIN, path, *words, copy)
                light = _peak(_PIN, original, *words, Path(folder, "light"))
                detail = f"{heavy:.0f} MB against {light:.0f} MB"
                yield Figure("memory to pin with 1 GB / without", heavy / light, 1.1, detail=detail)
                _remove(copy)
            _remove(path)


_CONTAINERS = ROOT / "compat_tests" / "data" / "containers"


def _peak(code: str, *words: str | Path) -> float:
    """Run a program that prints kilobytes; return megabytes."""
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout) / 1024


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _large_exported(original: Path, to: Path) -> None:
    """Give the derivative an artifact of 1 GB, which only begins as one."""
    from portable.bytecode import MAGIC
    from portable.containers import open_container

    container = open_container(original)
    container.replace({"vjp": MAGIC + bytes(5_000_000)}, to=to)
    data = to.read_bytes()
    at = data.rindex(MAGIC + bytes(16)) - 4
    with to.open("r+b") as stream:
        stream.seek(at)
        stream.write(_WEIGHTS.to_bytes(4, "little"))
        stream.truncate(at + 4 + _WEIGHTS)


def bench_export() -> Iterator[Figure]:
    """Time `export_torch` of a ResNet-18 against torchax's own call."""
    import warnings

    import torch

    from tools.zoo import ResNet18

    warnings.simplefilter("ignore")  # PyTorch warns of itself
    traced = torch.export.export(ResNet18().eval(), (torch.randn(4, 3, 224, 224),))

    from torchax import default_env
    from torchax.export import exported_program_to_stablehlo

    from portable.exporters import export_torch

    default_env()
    mine, theirs = compare(
        lambda: lambda: export_torch(traced, target=TARGET),
        lambda: lambda: exported_program_to_stablehlo(traced),
        rounds=5,
    )
    yield ratio("export_torch of ResNet-18 / torchax's own call", 1.3, mine, theirs)


GROUPS: dict[str, tuple[Callable[[], Iterator[Figure]], tuple[str, ...]]] = {
    "header": (bench_header, ()),
    "process": (bench_process, ()),
    "resolve": (bench_resolve, ()),
    "gate": (bench_gate, ()),
    "containers": (bench_containers, ()),
    "constant": (bench_constant, ("jaxlib",)),
    "read": (bench_read, ("jaxlib",)),
    "minimum": (bench_minimum, ("jaxlib",)),
    "downgrade": (bench_downgrade, ("jaxlib",)),
    "serialize": (bench_serialize, ("jaxlib", "jax")),
    "export": (bench_export, ("torch", "torchax", "jax")),
    "execute": (bench_execute, ("jaxlib", "numpy")),
}


def main() -> int:
    """Measure the chosen groups; exit with 1 when a promise does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=" ".join(GROUPS))
    parser.add_argument("--format", choices=("text", "json"), default="text")
    chosen = parser.parse_args()
    unknown = set(chosen.groups) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    figures = []
    for name in chosen.groups or GROUPS:
        bench, needs = GROUPS[name]
        missing = [package for package in needs if importlib.util.find_spec(package) is None]
        if missing:
            print(f"{name}: left out, needs {', '.join(missing)}", file=sys.stderr)
            continue
        for figure in bench():
            figures.append(figure)
            if chosen.format == "text":
                print(figure, flush=True)
    if chosen.format == "json":
        print(
            json.dumps([asdict(figure) | {"holds": figure.holds} for figure in figures], indent=2)
        )
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
