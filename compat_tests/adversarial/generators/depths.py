"""Programs that nest: each generator takes how deep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat_tests.helpers.bytecode_writer import (
    IR,
    Artifact,
    entry,
    operation,
    region,
    section,
    varint,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ARTIFACTS", "TEXTS"]

_UNKNOWN = ("builtin", entry(15))
_STRING = ("builtin", entry(2, 0))
_MODULE = entry(0, 0)  # the properties of builtin.module: no name, no visibility

# How an entry points to the one inside of it.
_TYPES: dict[str, Callable[[int], tuple[str, bytes]]] = {
    "tuple": lambda inner: ("vhlo", entry(23, 1, inner)),
    "complex": lambda inner: ("vhlo", entry(1, inner)),
    "function": lambda inner: ("vhlo", entry(8, 1, inner, 0)),
    "tensor": lambda inner: ("vhlo", entry(20, 0, inner)),
    "MLIR tuple": lambda inner: ("builtin", entry(15, 1, inner)),
}
_ATTRIBUTES: dict[str, Callable[[int], tuple[str, bytes]]] = {
    "array": lambda inner: ("vhlo", entry(1, 1, inner)),
    "dictionary": lambda inner: ("vhlo", entry(6, 1, 1, inner)),
    "MLIR array": lambda inner: ("builtin", entry(0, 1, inner)),
    "MLIR dictionary": lambda inner: ("builtin", entry(1, 1, 1, inner)),
    "array of a code that takes two bytes": lambda inner: (
        "vhlo", ((1 << 1 | 1) << 1).to_bytes(2, "little") + entry(1, inner)),
}  # fmt: skip
_LOCATIONS: dict[str, Callable[[int], tuple[str, bytes]]] = {
    "name": lambda inner: ("builtin", entry(14, 1, inner)),
    "callee": lambda inner: ("builtin", entry(10, inner, 0)),
    "caller": lambda inner: ("builtin", entry(10, 0, inner)),
    "fused": lambda inner: ("builtin", entry(12, 1, inner)),
    "file": lambda inner: ("builtin", entry(11, inner, 1, 1)),
}


def _modules(depth: int) -> bytes:
    innermost = operation(0, properties=0, regions=[region([])], isolated=True)
    heads, size = [], len(innermost)
    for _ in range(depth - 1):
        block = varint(1) + varint(0) + varint(1 << 1)
        mask = bytes([16 | 64])
        head = varint(0) + mask + varint(0) + varint(0) + varint(1 << 1 | 1)
        heads.append(head + bytes([IR]) + varint(len(block) + size) + block)
        size += len(heads[-1])
    data = b"".join(reversed(heads)) + innermost
    return bytes(Artifact(attributes=[_UNKNOWN], properties=[_MODULE], operations=[data]))


def _regions(depth: int) -> bytes:
    head = varint(1) + bytes([16]) + varint(0) + varint(1 << 1)
    head += varint(1) + varint(0) + varint(1 << 1)
    body = head * (depth - 1) + operation(1)
    inside = varint(1) + varint(0) + varint(1 << 1) + body
    module = operation(0, properties=0, regions=[inside], isolated=True)
    return bytes(
        Artifact(
            names=("builtin.module", "vhlo.case_v1"),
            attributes=[_UNKNOWN],
            properties=[_MODULE],
            operations=[module],
        )
    )


def _chain(
    depth: int, first: int, leaf: tuple[str, bytes], link: Callable[[int], tuple[str, bytes]]
) -> list[tuple[str, bytes]]:
    """Return entries from number `first` on, the innermost first."""
    return [leaf, *[link(first + at) for at in range(depth - 1)]]


def _held(attributes: list[tuple[str, bytes]], types: list[tuple[str, bytes]] = []) -> bytes:  # noqa: B006 - not changed
    """Return a module with the last of some attributes as its own, by the name m.x."""
    last = len(attributes) + 1
    named = "builtin", entry(1, 1, 1, last)
    module = operation(0, attributes=last + 1, properties=0, regions=[region([])], isolated=True)
    return bytes(
        Artifact(
            attributes=[_UNKNOWN, _STRING, *attributes, named],
            types=types,
            properties=[_MODULE],
            operations=[module],
            strings=["m.x"],
        )
    )


def _of_types(link: Callable[[int], tuple[str, bytes]]) -> Callable[[int], bytes]:
    return lambda depth: _held(
        [("vhlo", entry(17, depth - 1))], _chain(depth, 0, ("vhlo", entry(4)), link)
    )


def _of_attributes(link: Callable[[int], tuple[str, bytes]]) -> Callable[[int], bytes]:
    return lambda depth: _held(_chain(depth, 2, ("vhlo", entry(2, 1)), link))


def _of_locations(link: Callable[[int], tuple[str, bytes]]) -> Callable[[int], bytes]:
    def made(depth: int) -> bytes:
        chain = _chain(depth, 2, ("builtin", entry(11, 1, 1, 1)), link)
        mask = bytes([16 | 64])
        module = varint(0) + mask + varint(len(chain) + 1) + varint(0) + varint(1 << 1 | 1)
        module += section(IR, region([]))
        return bytes(
            Artifact(
                attributes=[_UNKNOWN, _STRING, *chain],
                properties=[_MODULE],
                operations=[module],
                strings=["m.x"],
            )
        )

    return made


ARTIFACTS: dict[str, Callable[[int], bytes]] = {
    "modules": _modules,
    "regions": _regions,
    **{f"type {name}": _of_types(link) for name, link in _TYPES.items()},
    **{f"attribute {name}": _of_attributes(link) for name, link in _ATTRIBUTES.items()},
    **{f"location {name}": _of_locations(link) for name, link in _LOCATIONS.items()},
}
"""Artifacts by what nests in them."""


def _around(
    before: str, opening: str, inner: str, closing: str, after: str
) -> Callable[[int], str]:
    return lambda depth: f"{before}{opening * depth}{inner}{closing * depth}{after}"


def _aliases(kind: str, first: str, link: str, after: str) -> Callable[[int], str]:
    def made(depth: int) -> str:
        lines = [f"{kind}0 = {first}"]
        lines += [f"{kind}{at} = {link.format(f'{kind}{at - 1}')}" for at in range(1, depth)]
        return "\n".join([*lines, after.format(f"{kind}{depth - 1}")])

    return made


TEXTS: dict[str, Callable[[int], str]] = {
    "modules": _around("", "module {", "", "}", ""),
    "arrays": _around("module attributes {m.x = ", "[", "1 : i32", "]", "} {}"),
    "dictionaries": _around("module attributes {m.x = ", "{m.x = ", "1 : i32", "}", "} {}"),
    "tuples": _around("module attributes {m.x = ", "tuple<", "i32", ">", "} {}"),
    "complex": _around("module attributes {m.x = ", "complex<", "f32", ">", "} {}"),
    "functions": _around("module attributes {m.x = ", "(", "", ") -> ()", "} {}"),
    "locations": _around("module {} loc(", 'callsite("a" at ', '"a"', ")", ")"),
    "location aliases": _aliases("#l", 'loc("a")', 'loc("a"({}))', "module {{}} loc({})"),
    "type aliases": _aliases("!t", "i32", "tuple<{}>", "module attributes {{m.x = {}}} {{}}"),
    "attribute aliases": _aliases("#a", "[]", "[{}]", "module attributes {{m.x = {}}} {{}}"),
}
"""MLIR text by what nests in it."""
