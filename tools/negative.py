"""Make the negative corpus: inputs that are wrong, each in one way, with what has to be said of it.

Everything is derived from one sealed artifact, or written by a Release that could still write it.
A file that is there is never written again. Run by the newest jaxlib, which is asked what it does
with each, in a process of its own: what one input does to the memory decides how the next one ends.

    python -m tools negative
    python -m tools negative --check    exit 1 if a file is missing or the manifest would change
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode import MalformedArtifact, read
from portable.corpus import find_case
from portable.inspection import inspect
from portable.pinning.pipeline import serialize
from portable.releases import find_release
from portable.runtime.environments import Environments
from tools.full_scan import Scanner
from tools.programs import load_programs

if TYPE_CHECKING:
    from collections.abc import Iterator


CORPUS = Path(__file__).parent.parent / "corpus"
NEGATIVE = CORPUS / "negative"
CRASHERS = Path(__file__).parent.parent / "compat_tests" / "data" / "crashers"
READER = "jaxlib 0.12.0.1"

UNRANKED = """
func.func @main(%a: tensor<*xf32>) -> tensor<*xf32> {
  %0 = stablehlo.abs %a : tensor<*xf32>
  return %0 : tensor<*xf32>
}
"""
TRACE = """
func.func @main(%a: tensor<f32>) {
  "stablehlo.trace"(%a) {tag = "x"} : (tensor<f32>) -> ()
  return
}
"""
RESHAPE_SHAPE = """
func.func @main(%n: index, %s: tensor<2xindex>) -> tensor<2xindex> {
  %0 = stablehlo.compute_reshape_shape %n, %s : (index, tensor<2xindex>) -> tensor<2xindex>
  return %0 : tensor<2xindex>
}
"""
OLD = "0.4.21"
# Who wrote it, for which target, and why newer ones refuse it.
WRITTEN = (
    ("removed_op_trace", OLD, TRACE, "0.14.0", "trace was removed within 0.19"),
    (
        "removed_op_compute_reshape_shape",
        OLD,
        RESHAPE_SHAPE,
        "0.14.0",
        "compute_reshape_shape was removed within 0.19",
    ),
    ("unranked_abs", OLD, UNRANKED, "0.14.0", "unranked operands were removed in 0.19"),
)


class Wrong(NamedTuple):
    """One wrong input."""

    name: str
    data: bytes
    reason: str


def derived(good: bytes) -> Iterator[Wrong]:
    """Damage one good artifact in every way that is easy to name.

    Args:
        good: The artifact of `tanh_result_accuracy_highest_f32` at 1.10.0.
    """
    end = good.index(b"\0", 4)
    yield Wrong("empty", b"", "no bytes at all")
    yield Wrong("text", b"module {\n}\n", "MLIR text")
    for name, size in (
        ("magic", 3),
        ("header", end - 2),
        ("tables", end + 9),
        ("last_byte", len(good) - 1),
    ):
        yield Wrong(f"truncated_in_{name}", good[:size], f"cut off after {size} bytes")
    yield Wrong("trailing_bytes", good + b"\0" * 8, "eight more bytes at the end")
    for offset in (4, end + 1, end + 3, len(good) // 2, len(good) - 30):
        flipped = bytearray(good)
        flipped[offset] ^= 0x40
        yield Wrong(f"bit_flipped_at_{offset}", bytes(flipped), f"bit 6 of byte {offset} flipped")
    future = good.replace(b"tanh_v2", b"tanx_v9")
    yield Wrong("future_op", future, "an op that no Version has yet")
    spoofed = good.replace(b"StableHLO_v1.10.0", b"StableHLO_v0.99.0")
    yield Wrong("spoofed_header_too_old", spoofed, "claims 0.99.0 and needs 1.10.0")
    spoofed = good.replace(b"StableHLO_v1.10.0", b"StableHLO_v9.10.0")
    yield Wrong("spoofed_header_unknown", spoofed, "claims a Version that does not exist")
    spoofed = good.replace(b"StableHLO_v1.10.0", b"StableHLO_v1.1x.0")
    yield Wrong("spoofed_header_garbage", spoofed, "claims what is no Version")
    yield Wrong("format_too_new", good[:4] + b"\x4f" + good[5:], "claims bytecode format 39")


CALL_SITE = """
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %a : tensor<f32> loc(callsite("callee" at "caller"))
  return %0 : tensor<f32>
}
"""


def location_in_itself() -> Wrong:
    """Make the callee of a location that location."""
    data = bytearray(serialize(CALL_SITE, "1.0.0").data)
    entries = read(bytes(data)).pool.attributes
    first = next(
        at for at in entries.pointing() if entries.size(at) == 3 and data[entries.starts[at]] == 21
    )
    data[entries.starts[first] + 1] = first << 1 | 1
    return Wrong("location_in_itself", bytes(data), "the callee of a location is that location")


def written_by_old_releases() -> Iterator[Wrong]:
    """Have old Releases write what newer ones no longer read."""
    programs = {program.name: program.text for program in load_programs()}
    mesh = re.sub(r"(?m)^ *sdy\.mesh .*\n", "", programs["all_reduce_mesh_symbol"])
    reason = "the mesh of the replica groups is not there: jaxlib 0.10.2 and later refuse"
    dangling = ("mesh_symbol_without_mesh", "0.10.0", mesh, "1.16.0", reason)
    for name, release, text, target, reason in (*WRITTEN, dangling):
        environment = Environments().get(find_release(f"jaxlib {release}"))
        with environment.worker() as worker:
            strip = release == "0.10.0"
            answer = worker.ask(
                {
                    "kind": "write",
                    "text": text,
                    "target": target,
                    "strip": strip,
                    "want": ["artifact"],
                }
            )
        if answer.ok:
            yield Wrong(name, base64.b64decode(answer.payload["artifact"]), reason)
        else:
            print(f"{name}: jaxlib {release} does not write it: {answer.reason}", file=sys.stderr)


def plain_bytecode(scanner: Scanner) -> Wrong:
    """Write StableHLO as MLIR bytecode, without the promise."""
    import io

    module = scanner.parse(next(p.text for p in load_programs() if p.name == "abs_f32"))
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return Wrong(
        "plain_bytecode", stream.getvalue(), "MLIR bytecode of StableHLO ops, not portable"
    )


def judged(data: bytes) -> str:
    """Return what `portable.inspect` says: the error, or the kind of input and its warnings."""
    try:
        found = inspect(data)
    except MalformedArtifact:
        return MalformedArtifact.__name__
    if found.damage:
        return f"{found.kind}: damaged"
    notes = list(found.warnings)
    if found.analysis is not None:
        notes += [f"unknown {name}" for name in found.analysis.unknown]
        notes += [f"removed {form.name}" for form in found.analysis.removed]
    return f"{found.kind}" + (": " + "; ".join(notes) if notes else "")


def main() -> int:
    """Write what is not there yet, and the manifest of all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    NEGATIVE.mkdir(exist_ok=True)
    case = find_case(CORPUS, "tanh_result_accuracy_highest_f32")
    good = next(sealed.path for sealed in case.artifacts if str(sealed.target) == "1.10.0")
    wrongs = [*derived(good.read_bytes()), plain_bytecode(Scanner()), *written_by_old_releases()]
    wrongs.append(location_in_itself())
    wrongs += [
        Wrong(
            f"native_crasher_{path.name.partition('.')[0]}", path.read_bytes(), "kills some readers"
        )
        for path in sorted(CRASHERS.iterdir())
    ]
    rows = []
    reader = Environments().get(find_release(READER))
    for wrong in sorted(wrongs):
        path = NEGATIVE / f"{wrong.name}.mlir.bc"
        if not path.exists():
            if check:
                print(f"{path.name} is missing", file=sys.stderr)
                return 1
            path.write_bytes(wrong.data)
        data = path.read_bytes()
        with reader.worker(limit=10) as worker:
            answer = worker.ask({"kind": "read", "data": base64.b64encode(data).decode()})
        rows.append(
            {
                "name": wrong.name,
                "reason": wrong.reason,
                "inspect": judged(data),
                "native": {"ok": "accepted"}.get(str(answer.status), str(answer.status)),
            }
        )
    text = (
        f"# What is wrong with each input, what `portable inspect` says and what {READER} does.\n"
        f'reader = "{READER}"\n'
    )
    for row in rows:
        text += "\n[[input]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in row.items())
    manifest = NEGATIVE / "negative.toml"
    if check:
        return int(manifest.read_text("utf-8") != text)
    manifest.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
