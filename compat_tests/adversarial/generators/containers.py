"""Containers that are small and try to take much time, memory or output to read.

Each generator takes one parameter, to which the size of what it writes is about proportional, and
an empty folder; it returns the container, in that folder. There is one for everything of each kind
that can be many, long, shared or deep.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import flatbuffers

from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

__all__ = ["CONTAINERS", "call", "field"]


def _artifact(operations: Sequence[bytes] = (), text: str = "") -> bytes:
    """Return an artifact of a module with operations inside, and a text that nothing uses."""
    return bytes(
        Artifact(
            names=("builtin.module", "vhlo.return_v1"),
            attributes=[("builtin", entry(15))],
            properties=[entry(0, 0)],
            operations=[operation(0, properties=0, regions=[region(operations)], isolated=True)],
            strings=[text],
        )
    )


_ARTIFACT = _artifact()


# SavedModel: field numbers as in portable.containers.saved_model, from TensorFlow's .proto files.


def _number(value: int) -> bytes:
    """Return a varint as protobuf writes it."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, value: bytes | int) -> bytes:
    """Return a field of protobuf: a number, or bytes with their length."""
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    return _number(number << 3 | 2) + _number(len(value)) + value


def _attribute(key: str, value: bytes) -> bytes:
    return field(5, field(1, key.encode()) + field(2, value))


def call(name: str, more: bytes = b"", artifact: bytes | None = None) -> bytes:
    """Return a node of a SavedModel with an artifact."""
    data = _artifact(text=name[:20]) if artifact is None else artifact
    module = _attribute("module", field(2, data))
    return field(1, name.encode()) + field(2, b"XlaCallModule") + module + more


def _function(name: str, nodes: Iterable[bytes]) -> bytes:
    signature = field(1, field(1, name.encode()))
    return field(1, signature + b"".join(field(3, node) for node in nodes))


def _graph(content: bytes) -> bytes:
    return field(2, field(2, content))


def _saved_model(folder: Path, *graphs: bytes) -> Path:
    (folder / "saved_model.pb").write_bytes(field(1, 1) + b"".join(graphs))
    return folder


def saved_model_functions_many(n: int, folder: Path) -> Path:
    """Many functions of the library, with a call in each."""
    functions = b"".join(_function(f"f{at}", [call(f"c{at}")]) for at in range(n))
    return _saved_model(folder, _graph(field(2, functions)))


def saved_model_nodes_many(n: int, folder: Path) -> Path:
    """Many calls in the graph itself."""
    return _saved_model(folder, _graph(b"".join(field(1, call(f"c{at}")) for at in range(n))))


def saved_model_nodes_other(n: int, folder: Path) -> Path:
    """Many nodes of other ops, as small as they can be, before one call."""
    others = field(1, field(2, b"")) * n
    return _saved_model(folder, _graph(others + field(1, call("c"))))


def saved_model_nodes_without_artifact(n: int, folder: Path) -> Path:
    """Many calls whose module is elsewhere, each of them worth a warning."""
    nodes = b"".join(field(1, call(f"c{at}", artifact=b"")) for at in range(n))
    return _saved_model(folder, _graph(nodes + field(1, call("c"))))


def saved_model_artifacts_tiny(n: int, folder: Path) -> Path:
    """Many calls with one byte that is no artifact."""
    nodes = b"".join(field(1, call(f"{at}", artifact=b"x")) for at in range(n))
    return _saved_model(folder, _graph(nodes))


def saved_model_graphs_many(n: int, folder: Path) -> Path:
    """Many graphs, with a call in each."""
    return _saved_model(folder, *(_graph(field(1, call(f"c{at}"))) for at in range(n)))


def saved_model_attributes_many(n: int, folder: Path) -> Path:
    """One call with many attributes."""
    more = b"".join(_attribute(f"a{at}", b"") for at in range(n))
    return _saved_model(folder, _graph(field(1, call("c", more))))


def saved_model_name_long(n: int, folder: Path) -> Path:
    """A call with a long name."""
    return _saved_model(folder, _graph(field(1, call("c" * 100 * n))))


def saved_model_name_long_shared(n: int, folder: Path) -> Path:
    """A function with a long name and many calls in it."""
    calls = [call(f"c{at}") for at in range(n)]
    return _saved_model(folder, _graph(field(2, _function("f" * 100 * n, calls))))


def saved_model_key_long(n: int, folder: Path) -> Path:
    """An attribute with a long name."""
    more = _attribute("a" * 100 * n, b"")
    return _saved_model(folder, _graph(field(1, call("c", more))))


def saved_model_deep(n: int, folder: Path) -> Path:
    """Messages in messages, in an attribute that nobody looks into."""
    inner = b""
    for _ in range(n):
        inner = field(1, inner)
    return _saved_model(folder, _graph(field(1, call("c", _attribute("a", inner)))))


# torch_xla directory


def _torch_xla(
    folder: Path,
    names: Iterable[str],
    locations: Iterable[dict[str, object]] = (),
    **more: object,
) -> Path:
    places = [*locations]
    signature = [{"shape": [1], "dtype": "float32", "dynamic_dims": []}] * len(places)
    (folder / "functions").mkdir()
    for name in names:
        meta = {
            "name": name, "stablehlo_version": "0.0.0", "input_signature": signature,
            "output_signature": [], "input_locations": places, "unused_inputs": [],
        }  # fmt: skip
        (folder / "functions" / f"{name}.meta").write_text(json.dumps(meta | more))
        (folder / "functions" / f"{name}.bytecode").write_bytes(_artifact(text=name))
    return folder


def _weight(folder: Path, name: str, header: str = "") -> None:
    header = header or "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
    text = header.encode()
    length = len(text).to_bytes(4, "little")
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / name).write_bytes(b"\x93NUMPY\x02\0" + length + text + bytes(4))


def _parameter(name: str) -> dict[str, object]:
    return {"type_": "parameter", "position": -1, "name": name}


def torch_xla_functions_many(n: int, folder: Path) -> Path:
    """Many functions."""
    return _torch_xla(folder, (f"f{at}" for at in range(n)))


def torch_xla_odd_many(n: int, folder: Path) -> Path:
    """Many functions with two warnings each."""
    _torch_xla(folder, (f"f{at}" for at in range(n)), stablehlo_version="1.2.3")
    for path in (folder / "functions").glob("*.meta"):
        path.write_text(path.read_text().replace(', "unused_inputs": []', ""))
    return folder


def torch_xla_weights_many(n: int, folder: Path) -> Path:
    """One function with many weights."""
    for at in range(n):
        _weight(folder, f"w{at}")
    return _torch_xla(folder, ["f"], (_parameter(f"w{at}") for at in range(n)))


def torch_xla_weight_shared(n: int, folder: Path) -> Path:
    """One weight, with the longest header that is read, which every input of a function is."""
    fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), " + "1:1," * 2400 + "}"
    _weight(folder, "w", fields)
    return _torch_xla(folder, ["f"], [_parameter("w")] * n)


def torch_xla_signature_long(n: int, folder: Path) -> Path:
    """One function with many inputs that its caller passes."""
    return _torch_xla(folder, ["f"], [{"type_": "input_arg", "position": 0, "name": ""}] * n)


def torch_xla_text_long(n: int, folder: Path) -> Path:
    """A function whose description holds a long text."""
    return _torch_xla(folder, ["f"], input_pytree_spec="a" * 100 * n)


def torch_xla_meta_deep(n: int, folder: Path) -> Path:
    """A function whose description nests."""
    _torch_xla(folder, ["f"], output_pytree_spec="DEEP")
    path = folder / "functions" / "f.meta"
    path.write_text(path.read_text().replace('"DEEP"', "[" * n + "]" * n))
    return folder


def torch_xla_artifact_shared(n: int, folder: Path) -> Path:
    """One artifact of some size, to which the functions are links."""
    _torch_xla(folder, (f"f{at}" for at in range(n)))
    (folder / "functions" / "f0.bytecode").write_bytes(_artifact([operation(1)] * n))
    for at in range(1, n):
        path = folder / "functions" / f"f{at}.bytecode"
        path.unlink()
        path.symlink_to("f0.bytecode")
    return folder


# npy: the header of a weight


def npy_shape_wide(n: int, folder: Path) -> Path:
    """A shape of many dimensions."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * n + ")}"
    return _with_weight(folder, header)


def npy_header_long(n: int, folder: Path) -> Path:
    """A header with much behind its end."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"
    return _with_weight(folder, header + " " * 100 * n)


def npy_header_deep(n: int, folder: Path) -> Path:
    """A header that nests."""
    return _with_weight(folder, "(" * n + ")" * n)


def npy_number_long(n: int, folder: Path) -> Path:
    """A shape with a number of many digits."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * n + ",)}"
    return _with_weight(folder, header)


def _with_weight(folder: Path, header: str) -> Path:
    _weight(folder, "w", header)
    return _torch_xla(folder, ["f"], [_parameter("w")])


# jax.export.Exported: slots as in portable.containers.exported


def _exported(folder: Path, modules: list[bytes], slots: int = 27, more: int = 0) -> Path:
    """Write one with a table for each module, each of them the derivative of the one before."""
    builder = flatbuffers.Builder(1024)
    inner = None
    for module in reversed(modules):
        data = builder.CreateByteVector(module)
        names = builder.CreateString("a" * more) if more else None
        builder.StartObject(slots)
        builder.PrependUint16Slot(0, 3, 0)
        builder.PrependUint16Slot(slots - 1, 1, 0)  # a vtable ends with the last that is used
        builder.PrependUOffsetTRelativeSlot(13, data, 0)
        if names is not None:
            builder.PrependUOffsetTRelativeSlot(1, names, 0)
        if inner is not None:
            builder.PrependUOffsetTRelativeSlot(17, inner, 0)
        inner = builder.EndObject()
    builder.Finish(inner)
    path = folder / "container.exported"
    path.write_bytes(bytes(builder.Output()))
    return path


def exported_derivatives(n: int, folder: Path) -> Path:
    """Derivatives of derivatives."""
    return _exported(folder, [_ARTIFACT] * n)


def exported_slots_many(n: int, folder: Path) -> Path:
    """A table with as many fields as there can be."""
    return _exported(folder, [_ARTIFACT], slots=min(n, 30_000))


def exported_name_long(n: int, folder: Path) -> Path:
    """A function with a long name."""
    return _exported(folder, [_ARTIFACT], more=100 * n)


CONTAINERS: dict[str, Callable[[int, Path], Path]] = {
    made.__name__: made
    for made in (
        saved_model_functions_many, saved_model_nodes_many, saved_model_nodes_other,
        saved_model_nodes_without_artifact, saved_model_artifacts_tiny, saved_model_graphs_many,
        saved_model_attributes_many, saved_model_name_long, saved_model_name_long_shared,
        saved_model_key_long, saved_model_deep, torch_xla_functions_many, torch_xla_odd_many,
        torch_xla_weights_many, torch_xla_weight_shared, torch_xla_signature_long,
        torch_xla_text_long, torch_xla_meta_deep, torch_xla_artifact_shared, npy_shape_wide,
        npy_header_long, npy_header_deep, npy_number_long, exported_derivatives,
        exported_slots_many, exported_name_long,
    )
}  # fmt: skip
"""Every class of container by its name, each made from one parameter."""
