"""Reading artifacts: the header, the whole program, and past a huge constant."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.benches.figure import ROOT, TARGET, Figure, compare, program, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = [
    "HEADER",
    "bench_constant",
    "bench_examine",
    "bench_header",
    "bench_read",
    "bench_runtime",
]

HEADER = b"ML\xefR\rStableHLO_v1.9.0\0"


def bench_read() -> Iterator[Figure]:
    """Time the reading of 50k ops against jaxlib's deserialize of the same bytes."""
    from jaxlib.mlir.dialects import stablehlo

    from portable import bindings
    from portable.bytecode import read
    from portable.features import analyze
    from portable.pinning.pipeline import serialize

    library = bindings.find("jaxlib")
    for target in (TARGET, "current"):
        data = serialize(program(50_000), target).data
        context = library.context()

        def theirs(data: bytes = data, context: Any = context) -> Callable[[], object]:
            return lambda: stablehlo.deserialize_portable_artifact(context, data)

        def ours(data: bytes = data) -> Callable[[], object]:
            return lambda: analyze(read(data))

        mine, native = compare(ours, theirs, rounds=8)
        yield ratio(f"required + minimum of 50k ops at {target} / deserialize", 1.0, mine, native)


def bench_header() -> Iterator[Figure]:
    """Time the header, from bytes and from a path, for a small and a huge file."""
    from portable.artifact import peek
    from portable.bytecode import read_header

    def from_bytes() -> Callable[[], object]:
        return lambda: [read_header(HEADER) for _ in range(1000)]

    yield Figure("header from bytes", compare(from_bytes, rounds=20)[0] * 1e3, 10, "us")
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("1 KB", 1 << 10), ("1 GB", 1 << 30)):
            path = f"{folder}/a"
            with open(path, "wb") as stream:  # noqa: PTH123 - as the timed code does
                stream.write(HEADER)
                stream.truncate(size)

            def many(path: str = path) -> Callable[[], object]:
                return lambda: [peek(path) for _ in range(1000)]

            best = compare(many, rounds=20)[0]
            yield Figure(f"header from a path, {name}", best * 1e3, 25, "us")


def bench_examine() -> Iterator[Figure]:
    """Time what `predict` reads of an artifact against `inspect`, over a tenth of the corpus."""
    from portable.artifact import Artifact
    from portable.errors import PortableError
    from portable.inspection import inspect
    from portable.prediction.subject import examine

    best: dict[str, list[float]] = {}
    for path in sorted((ROOT / "corpus").rglob("*.mlir.bc"))[::10]:
        data = path.read_bytes()
        try:
            examine(artifact := Artifact.from_bytes(data))
        except PortableError:
            continue  # sealed as what readers refuse

        # The last one is kept for the next Consumer of it: it would be found, not read.
        def examined(artifact: Artifact = artifact) -> Callable[[], object]:
            return lambda: examine.__wrapped__(artifact)

        def inspected(data: bytes = data) -> Callable[[], object]:
            return lambda: inspect(data)

        best[str(path)] = compare(examined, inspected, rounds=4, clock=time.process_time)
    sums = [sum(side) for side in zip(*best.values(), strict=True)]
    yield ratio(f"examining for predict / inspect, {len(best):,} artifacts", 1.2, *sums)


def bench_constant() -> Iterator[Figure]:
    """Read an artifact that holds one constant of 512 MB."""
    import numpy as np
    from jaxlib.mlir import ir

    from portable import bindings
    from portable.pinning.pipeline import serialize

    library = bindings.find("jaxlib")
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
        [sys.executable, "-I", "-c", code, str(path)], stdout=subprocess.PIPE, text=True, check=True
    )
    milliseconds, megabytes = map(float, done.stdout.split())
    yield Figure("required + minimum beside a 512 MB constant", milliseconds, 1, "ms")
    yield Figure("resident memory of that", megabytes, 30, "MB")


def bench_runtime() -> Iterator[Figure]:
    """Time the reading of a runtime's names out of a wheel against unpacking the wheel."""
    import jaxlib

    from portable.inspection import read_runtime

    library = max(Path(jaxlib.__file__).parent.rglob("*.so"), key=lambda path: path.stat().st_size)
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder, "runtime.whl")
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(library, library.name)

        def unpack() -> None:
            with zipfile.ZipFile(wheel) as archive, archive.open(library.name) as member:
                while member.read(1 << 18):
                    pass

        ours, theirs = compare(lambda: lambda: read_runtime(wheel), lambda: unpack, rounds=5)
        yield ratio("names of a runtime against unpacking its wheel", 1.5, ours, theirs)
