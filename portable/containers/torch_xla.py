"""torch_xla directory: what `StableHLOGraphModule.save` writes.

`functions/NAME.bytecode` is an artifact, `functions/NAME.meta` describes it, `functions/NAME.mlir`
may hold its text; weights are `numpy.save` files in `data/` and `constants/`. torch_xla writes
"0.0.0" as `stablehlo_version` whatever it wrote; a copy says the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from portable.bytecode import HEADER_BYTES
from portable.containers.container import Entry, MalformedContainer, Opener, demanded, shown
from portable.containers.kind import Kind
from portable.containers.npy import read_array
from portable.containers.rewriting import Rewritable
from portable.system.documents import demand_form, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from portable.artifact import Artifact
    from portable.containers.container import Edits
    from portable.containers.folder import Folder
    from portable.containers.npy import Array
    from portable.containers.source import Source
    from portable.system.files import InputFile

__all__ = ["TorchXla", "open_container"]

_UNKNOWN = "0.0.0"
_MEASURED = "==2.9.*"
_SPEC = frozenset({str, type(None)})
# torch_xla before 2.3 writes no dynamic_dims.
_SIGNATURE = {"shape": [int], "dtype": str, "dynamic_dims?": [int]}
_META = {
    "name": str,
    "stablehlo_version": str,
    "input_signature": [_SIGNATURE],
    "output_signature": [_SIGNATURE],
    "input_locations": list,
    "unused_inputs?": [(dict, _SIGNATURE)],
    "input_pytree_spec?": _SPEC,
    "output_pytree_spec?": _SPEC,
}
_LOCATION = {"type_", "position", "name"}
_LARGEST_META = 64 << 20


@dataclass(frozen=True, slots=True)
class _Function:
    """One function: its description and its artifact."""

    name: str
    meta: dict[str, Any]
    source: Source


class TorchXla(Rewritable):
    """A directory of torch_xla. As `Container` describes."""

    kind = Kind.TORCH_XLA

    def __init__(self, folder: Folder) -> None:
        self.path = path = folder.path
        self._folder = folder
        self.versions: Mapping[str, str] = {}
        try:
            self._functions = {one.name: one for one in _functions(folder)}
            functions = tuple(self._functions.values())
            _demand_apart(functions)
            _demand_weights(folder, functions)
        except MalformedContainer as error:
            raise error.at(path) from None
        self.warnings = tuple(_odd(functions))
        self.files = tuple(f"functions/{name}.bytecode" for name in self._functions)
        # Measured on 2026-11-21 with 2.9.0 alone.
        whole = all("unused_inputs" in function.meta for function in functions)
        opens, refuses = (_MEASURED, "") if whole else ("", _MEASURED)
        form = f"{self.kind} " + ("with" if whole else "without") + " unused_inputs"
        self.opener: Opener | None = Opener("torch_xla", opens, refuses, form, alone=False)

    __repr__ = shown

    def artifacts(self) -> tuple[Entry, ...]:
        """Return the artifact of each function, by name."""
        return tuple(
            Entry(
                function.name,
                function.source,
                0,
                len(function.source),
                {"stablehlo_version": function.meta["stablehlo_version"]},
                has_text=self._folder.has_file(f"functions/{function.name}.mlir"),
                opener=self.opener,
            )
            for function in self._functions.values()
        )

    def widened(self) -> str:
        """Return that there is one form only."""
        return "torch_xla directories have one form"

    def edits(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        texts: Mapping[str, str] = {},
        widen: bool = False,  # noqa: ARG002 - as `widened`
    ) -> Edits:
        """Return what is different in a copy with other artifacts inside. As `Container.edits`."""
        replaced = {}
        for name, data in demanded(self, artifacts).items():
            described = _described(self._functions[name].meta, data)
            contents = {"bytecode": data, "meta": described, "mlir": None}
            if name in texts:
                contents["mlir"] = texts[name].encode()
            for suffix, content in contents.items():
                write = content if content is None else partial(_write, content)
                replaced[f"functions/{name}.{suffix}"] = write
        return replaced


def open_container(folder: Folder) -> TorchXla:
    """Open a directory of torch_xla.

    Args:
        folder: The directory.

    Raises:
        MalformedContainer: It is half written, has a description that no torch_xla writes, or a
            weight that is no array of the described shape.
        FileError: It cannot be read.
    """
    return TorchXla(folder)


def _functions(folder: Folder) -> Iterator[_Function]:
    names = folder.names("functions")
    described = dict.fromkeys(
        name.removesuffix(".meta") for name in names if name.endswith(".meta")
    )
    for name in names:
        stem, dot, suffix = name.rpartition(".")
        if dot and suffix == "bytecode" and stem not in described:
            raise MalformedContainer(
                f"no functions/{stem}.meta beside it", where=f"functions/{name}"
            )
    for name in described:
        where = f"functions/{name}.meta"
        described_by = folder.open(where)
        source = folder.source(f"functions/{name}.bytecode")
        meta = _meta(described_by, where)
        if meta["name"] != name:
            raise MalformedContainer(f"describes {meta['name']!r}", where=where)
        yield _Function(name, meta, source)


def _meta(file: InputFile, where: str) -> dict[str, Any]:
    text = file.read(0, min(len(file), _LARGEST_META))
    try:
        meta: dict[str, Any] = parse_json(text)
        demand_form(meta, _META)
    except ValueError as error:
        raise MalformedContainer(str(error), where=where) from None
    _demand_known(meta, _META, where)
    for signature in (*meta["input_signature"], *meta["output_signature"]):
        _demand_known(signature, _SIGNATURE, where)
    for location, signature in meta.get("unused_inputs", ()):
        _demand_known(location, _LOCATION, where)
        _demand_known(signature, _SIGNATURE, where)
    signatures, locations = len(meta["input_signature"]), len(meta["input_locations"])
    if signatures != locations:
        raise MalformedContainer(
            f"input_signature has {signatures} entries, input_locations has {locations}",
            where=where,
        )
    return meta


def _demand_known(value: object, keys: Iterable[str], where: str) -> None:
    if not isinstance(value, dict):
        raise MalformedContainer(f"not an object: {value!r:.40}", where=where)
    unknown = sorted(value.keys() - {key.removesuffix("?") for key in keys})
    if unknown:
        raise MalformedContainer(
            f"an unknown key {unknown[0]!r}",
            where=where,
            hint="written by no torch_xla up to 2.9; its effect on the artifact is unknown",
        )


def _demand_apart(functions: tuple[_Function, ...]) -> None:
    """Refuse links between artifacts: a few bytes would have one read any number of times."""
    owners: dict[object, str] = {}
    for function in functions:
        name = owners.setdefault(function.source.identity, function.name)
        if name != function.name:
            raise MalformedContainer(
                f"is the same file as functions/{name}.bytecode",
                where=f"functions/{function.name}.bytecode",
                hint="give each function its own file",
            )


def _demand_weights(folder: Folder, functions: tuple[_Function, ...]) -> None:
    """Compare every weight that functions take with what their descriptions say."""
    # torch_xla can leave the weights out; then there is no folder, not an empty one.
    with_data = folder.has("data")
    arrays: dict[str, list[int]] = {}
    known: dict[object, Array] = {}
    for function in functions:
        where = f"functions/{function.name}.meta"
        for signature, location in zip(
            function.meta["input_signature"], function.meta["input_locations"], strict=True
        ):
            _demand_known(location, _LOCATION, where)
            file = _weight(location, where, with_data=with_data)
            if file is None:
                continue
            if file not in arrays:
                arrays[file] = list(read_array(folder, file, known).shape)
            shape = arrays[file]
            if shape != signature.get("shape"):
                raise MalformedContainer(
                    f"has shape {shape}, but {where} says {signature.get('shape')}", where=file
                )


def _weight(location: Mapping[str, object], where: str, *, with_data: bool) -> str | None:
    """Return the file that an input comes from; None for one that the caller passes."""
    kind, name = location.get("type_"), location.get("name", "")
    position = location.get("position", -1)
    if not isinstance(name, str) or type(position) is not int:
        raise MalformedContainer(f"an input at {position!r:.40} named {name!r:.40}", where=where)
    if kind == "input_arg" or (kind == "parameter" and not with_data):
        return None
    if kind == "constant" and position >= 0:
        return f"constants/{position}"
    if kind == "parameter":
        if name in {"", ".", ".."} or any(mark in name for mark in "/\\\0"):
            raise MalformedContainer(
                f"a parameter named {name!r}, which is not a valid file name", where=where
            )
        return f"data/{name}"
    raise MalformedContainer(
        f"an input from {kind!r:.40}, which is unknown to torch_xla", where=where
    )


def _claimed(data: Any) -> str:
    """Return the Version in the header of an artifact; nothing when there is none."""
    from portable.bytecode import MalformedArtifact, read_header

    try:
        return str(read_header(data).version or "")
    except MalformedArtifact:
        return ""


def _described(meta: Mapping[str, Any], data: bytes) -> bytes:
    import json

    return json.dumps({**meta, "stablehlo_version": _claimed(data) or _UNKNOWN}).encode()


def _odd(functions: tuple[_Function, ...]) -> Iterator[str]:
    for function in functions:
        says, claims = function.meta["stablehlo_version"], _claimed(function.source[:HEADER_BYTES])
        if says not in {_UNKNOWN, claims}:
            yield f"{function.name}.meta says {says}, but the artifact {claims or 'nothing'}"
        if "unused_inputs" not in function.meta:
            yield f"{function.name}.meta has no unused_inputs: torch_xla 2.9 cannot load it"


def _write(content: bytes, target: Any) -> None:
    from portable.containers.copying import write_bytes

    write_bytes(target, content)
