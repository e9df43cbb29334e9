"""TensorFlow SavedModel: the artifact is the attribute `module` of each op `XlaCallModule`.

jax2tf, torch_xla and stablehlo-to-saved-model write such ops, in the graph or in the functions of
its library. Only `saved_model.pb` is looked into; variables and assets are never read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.containers.container import (
    Entry,
    MalformedContainer,
    NoArtifact,
    Opener,
    TooLarge,
    demanded,
    shown,
)
from portable.containers.kind import Kind
from portable.containers.protobuf import Field, fields, number, only, relengthened, text
from portable.containers.rewriting import Rewritable
from portable.containers.source import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from portable.artifact import Artifact
    from portable.bytecode.encoding import Buffer
    from portable.containers.container import Edits
    from portable.containers.folder import Folder

__all__ = ["SavedModel", "open_container"]

_FILE = "saved_model.pb"
# Hashes of what is rewritten. TensorFlow loads a model without it and never checks it.
_FINGERPRINT = "fingerprint.pb"
_OP = b"XlaCallModule"
# Field numbers of tensorflow/core/protobuf/{saved_model,meta_graph}.proto and framework/*.proto.
_SCHEMA, _META_GRAPHS = 1, 2
_META_INFO, _GRAPH = 1, 2
_TENSORFLOW = 5
_GRAPH_NODES, _LIBRARY = 1, 2
_FUNCTIONS = 1
_SIGNATURE, _FUNCTION_NODES = 1, 3
_NAME = 1  # of a signature and of a node
_NODE_OP, _ATTRIBUTES = 2, 5
_KEY, _VALUE = 1, 2
_LIST, _STRING, _INTEGER, _BOOLEAN = 1, 2, 3, 5
# Versions of XlaCallModule up to this one -> the releases that open it, and those that do not.
# Measured on 2026-11-21: 2.14.1 to 2.21.0 run 6; 2.16.2 runs 9 and says "must be <= 9" of 10, which
# 2.20.0 runs.
_OPENED = {6: (">=2.14", ""), 9: (">=2.16.2", ""), 10: (">=2.20", "<=2.16.2")}
# Version 10 says more than 9 which partitioner to use; without shardings there is nothing to part.
_PARTITIONED_BY, _UNPARTITIONED = "use_shardy_partitioner", 9
_PARTITIONER = "sdy"
# For which platforms a program is, and which of TensorFlow's checks are not made.
_PLATFORMS, _DISABLED, _OF_PLATFORM = "platforms", "disabled_checks", "platform"
# Names of functions stand before those of their nodes, so that a long one would be kept many times.
_LONGEST_NAME = 1000
# What protobuf allows.
_LARGEST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class _Call:
    """One XlaCallModule.

    Args:
        name: Of the node, and of the function that it is in.
        version: Its version.
        path: The fields that lead to its artifact.
        numbers: What is in place another in an older version: the fields of its version, and of
            whether it is partitioned by Shardy.
        platforms: Which TensorFlow demands, as `cpu`; none where it does not look at them.
    """

    name: str
    version: int
    path: tuple[Field, ...]
    numbers: tuple[Field | None, Field | None]
    platforms: tuple[str, ...]


class SavedModel(Rewritable):
    """A directory that TensorFlow loads. As `Container` describes."""

    kind = Kind.SAVED_MODEL
    files: tuple[str, ...] = (_FILE,)

    def __init__(self, folder: Folder) -> None:
        self.path = path = folder.path
        try:
            self._source = folder.source(_FILE)
            data = self._source.load()
            self._calls, self.warnings = _calls(data)
            self.versions: Mapping[str, str] = _versions(data)
        except MalformedContainer as error:
            raise error.at(f"{path}/{_FILE}" if error.offset is not None else path) from None
        self._newest = max((call.version for call in self._calls), default=0)
        self.opener: Opener | None = _opener(self._newest)
        if not self._calls:
            raise NoArtifact(
                "no portable artifact in this SavedModel: it has no op XlaCallModule",
                where=path,
                hint="export the model to StableHLO again, for example by jax2tf.convert",
            )

    __repr__ = shown

    def artifacts(self) -> tuple[Entry, ...]:
        """Return the artifact of each XlaCallModule, in the order of the file."""
        return tuple(
            Entry(
                call.name,
                self._source,
                call.path[-1].start,
                call.path[-1].stop,
                {
                    "XlaCallModule": str(call.version),
                    **({"platforms": ", ".join(call.platforms)} if call.platforms else {}),
                },
                opener=self.opener and replace(self.opener, platforms=call.platforms),
            )
            for call in self._calls
        )

    def widened(self) -> Opener | str:
        """Return who opens a copy with version 9 instead of 10, or why there is none."""
        if self._newest not in _OPENED or self._newest <= _UNPARTITIONED:
            return f"XlaCallModule {self._newest} cannot be written as an older one"
        for entry in self.artifacts():
            if _PARTITIONER in {dialect.name for dialect in read(entry.data).dialects}:
                return f"{entry.name} has shardings of Shardy, which XlaCallModule 9 does not know"
        return _opener(_UNPARTITIONED)

    def edits(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        texts: Mapping[str, str] = {},  # noqa: ARG002 - a SavedModel keeps no text
        widen: bool = False,
    ) -> Edits:
        """Return what is different in a copy with other artifacts inside. As `Container.edits`.

        `fingerprint.pb` is left out: it holds hashes of the old graph.
        """
        new = demanded(self, artifacts)
        edits = relengthened(
            (call.path, new[call.name]) for call in self._calls if call.name in new
        )
        if widen:
            edits += [edit for call in self._calls for edit in _unpartitioned(call)]
        size = len(self._source) + sum(len(edit.data) - (edit.stop - edit.start) for edit in edits)
        if size > _LARGEST:
            raise TooLarge(f"{size} bytes exceed the {_LARGEST} of a protobuf", where=self.path)
        return {_FILE: partial(self._source.write, edits), _FINGERPRINT: None}


def open_container(folder: Folder) -> SavedModel:
    """Open a SavedModel.

    Args:
        folder: Its directory.

    Raises:
        MalformedContainer: Its saved_model.pb is damaged.
        NoArtifact: It has no XlaCallModule.
        FileError: It cannot be read.
    """
    return SavedModel(folder)


def _opener(version: int) -> Opener:
    opens, refuses = next((_OPENED[most] for most in _OPENED if version <= most), ("", ""))
    return Opener("tensorflow", opens, refuses, f"{Kind.SAVED_MODEL} with XlaCallModule {version}")


def _unpartitioned(call: _Call) -> Iterator[Edit]:
    """Yield what makes a call of version 10 one of 9; both numbers take one byte."""
    if call.version > _UNPARTITIONED:
        for field, value in zip(call.numbers, (_UNPARTITIONED, 0), strict=True):
            if field is not None:
                yield Edit(field.start, field.stop, bytes([value]))


def _whole(data: Buffer) -> Field:
    return Field(0, 2, 0, 0, len(data))


def _all(data: Buffer, field: Field, number: int) -> Iterator[Field]:
    for inner in fields(data, field.start, field.stop):
        if inner.number == number:
            if inner.wire != 2:
                raise MalformedContainer(f"field {number} has wire type {inner.wire}", inner.start)
            yield inner


def _versions(data: Buffer) -> dict[str, str]:
    schema = only(data, _whole(data), _SCHEMA, 0)
    found = {"schema": str(number(data, schema))}
    for graph in _all(data, _whole(data), _META_GRAPHS):
        tensorflow = text(data, only(data, only(data, graph, _META_INFO), _TENSORFLOW))
        if tensorflow:
            found["TensorFlow"] = tensorflow
    return found


def _calls(data: Buffer) -> tuple[tuple[_Call, ...], tuple[str, ...]]:
    """Return every XlaCallModule, and what is odd."""
    found: dict[str, _Call] = {}
    odd = []
    graphs = [*_all(data, _whole(data), _META_GRAPHS)]
    for index, meta_graph in enumerate(graphs):
        before = f"{index}:" if len(graphs) > 1 else ""
        for scope, path in _nodes(data, meta_graph):
            call = _call(data, before + scope, path)
            if call is None:
                continue
            if call.name in found:
                raise MalformedContainer(f"two nodes are named {call.name!r}", path[-1].start)
            if call.path[-1].start == call.path[-1].stop:
                odd.append(f"{call.name} has no artifact: its module is not a constant of the node")
            else:
                found[call.name] = call
    return tuple(found.values()), tuple(odd)


def _nodes(data: Buffer, meta_graph: Field) -> Iterator[tuple[str, tuple[Field, ...]]]:
    """Yield every node as the function it is in (with a colon), and the fields that lead to it."""
    graph = only(data, meta_graph, _GRAPH)
    if graph is None:
        return
    library = None
    for field in fields(data, graph.start, graph.stop):
        if field.number == _GRAPH_NODES:
            yield "", (meta_graph, graph, field)
        elif field.number == _LIBRARY:
            if library is not None:
                raise MalformedContainer("two function libraries in one graph", field.start)
            library = field
    if library is None:
        return
    for function in _all(data, library, _FUNCTIONS):
        name = None
        for node in _all(data, function, _FUNCTION_NODES):
            if name is None:
                name = _named(data, only(data, function, _SIGNATURE))
            yield f"{name}:", (meta_graph, graph, library, function, node)


def _named(data: Buffer, message: Field | None) -> str:
    """Return the name of a signature or of a node."""
    field = only(data, message, _NAME)
    if field is not None and (size := field.stop - field.start) > _LONGEST_NAME:
        raise MalformedContainer(
            f"a name of {size:,} bytes, above the limit of {_LONGEST_NAME:,}",
            field.start,
            hint="rename the function or node, and save the model again",
        )
    return text(data, field)


def _call(data: Buffer, scope: str, path: tuple[Field, ...]) -> _Call | None:
    """Return a node as a call; None when its op is another, as its first fields show."""
    node = path[-1]
    for field in fields(data, node.start, node.stop):
        if field.number == _NODE_OP:
            break
    else:
        return None
    # Of several TensorFlow takes the last. Few nodes have the word in them at all.
    if data[field.start : field.stop] != _OP and _OP not in bytes(data[field.stop : node.stop]):
        return None
    op = only(data, node, _NODE_OP)
    if op is None or data[op.start : op.stop] != _OP:
        return None
    attributes: dict[str, Field] = {}
    for entry in _all(data, node, _ATTRIBUTES):
        key = text(data, only(data, entry, _KEY))
        if key in attributes:
            raise MalformedContainer(f"attribute {key!r:.60} is duplicated", entry.start)
        attributes[key] = entry
    name = scope + _named(data, node)
    holder = attributes.get("module")
    value = only(data, holder, _VALUE)
    module = only(data, value, _STRING)
    if holder is None or value is None or module is None:
        raise MalformedContainer(f"{name}: an XlaCallModule without a module", node.start)
    version = only(data, only(data, attributes.get("version"), _VALUE), _INTEGER, 0)
    by_shardy = only(data, only(data, attributes.get(_PARTITIONED_BY), _VALUE), _BOOLEAN, 0)
    fields_ = (*path, holder, value, module)
    checked = _OF_PLATFORM not in _strings(data, attributes.get(_DISABLED))
    platforms = _strings(data, attributes.get(_PLATFORMS)) if checked else ()
    return _Call(name, number(data, version), fields_, (version, by_shardy), platforms)


def _strings(data: Buffer, attribute: Field | None) -> tuple[str, ...]:
    """Return an attribute that is a list of strings, in small letters; none if there is none."""
    listed = only(data, only(data, attribute, _VALUE), _LIST)
    if listed is None:
        return ()
    return tuple(text(data, one).lower() for one in _all(data, listed, _STRING))
