"""Programs of functions that call each other by name, in modules: also such as readers refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from compat_tests.helpers.bytecode_writer import Artifact as Written
from compat_tests.helpers.bytecode_writer import entry, operation, region, varint
from compat_tests.helpers.written import Program
from portable.artifact import Artifact
from portable.bytecode.vhlo import op as row_of

__all__ = ["CRASHING", "PROGRAMS", "REFUSED", "UNUSED", "Function", "Module", "written"]

_STRING_OF_MLIR, _INTEGER, _TYPE, _ARRAY, _DICTIONARY, _STRING = 2, 9, 17, 1, 6, 14
_FUNCTION_TYPE = 8
_T = TypeVar("_T")


class Function(NamedTuple):
    """A function that takes and gives a tensor<2xf32>.

    Args:
        name: Its name.
        ops: What it computes one after another, each of what the one before gives: `add` of that
            and itself, `multiply`, `call NAME`, `composite NAME`.
        visibility: Its visibility.
    """

    name: str
    ops: Sequence[str] = ()
    visibility: str = ""


class Module(NamedTuple):
    """A module.

    Args:
        inner: What stands in it.
        name: Its name; empty for none.
    """

    inner: Sequence[Function | Module]
    name: str = ""


_MAIN = Function("main", ["call f"])
_F = Function("f", ["add"], "private")
_G = Function("g", ["add"])
# All that are read add; what is not to be taken for it multiplies.
_OTHER = Function("f", ["multiply"])
PROGRAMS = {
    "one function": [Module([_MAIN, _F])],
    "a composite": [Module([Function("main", ["composite f"]), _F])],
    "an inner function of the same name": [Module([_MAIN, _F, Module([_OTHER])])],
    "an inner function that calls its own": [
        Module([_MAIN, _F, Module([_OTHER, Function("g", ["call f"])], "m")])
    ],
    "an inner main before main": [
        Module([Module([Function("main", ["multiply"])], "m"), _MAIN, _F])
    ],
    "an inner main after main": [Module([_MAIN, _F, Module([Function("main", ["multiply"])])])],
    "an inner module inside an inner module": [
        Module([_MAIN, Module([_OTHER, Module([_OTHER, _MAIN])]), _F])
    ],
    "an inner main alone": [Module([_F, Module([Function("main", ["add"])])])],
    "two modules": [Module([_MAIN, _F]), Module([Function("main", ["multiply"])])],
    "recursion": [Module([_MAIN, Function("f", ["call f"])])],
    "recursion by a composite": [Module([_MAIN, Function("f", ["composite f"])])],
    "recursion by both": [
        Module([_MAIN, Function("f", ["composite g"]), Function("g", ["call f"])])
    ],
    "recursion of a public function that nothing calls": [
        Module([Function("main", ["add"]), Function("f", ["call f"])])
    ],
    "a private function that calls itself": [
        Module([Function("main", ["add"]), Function("f", ["call f"], "private")])
    ],
    "two functions of one name": [Module([_MAIN, _F, _OTHER])],
    "two functions of one name that nothing calls": [Module([_MAIN, _F, _G, _G])],
    "two mains": [Module([_MAIN, _F, Function("main", ["multiply"])])],
    "two modules of one name": [Module([_MAIN, _F, Module([_G], "m"), Module([_G], "m")])],
    "a function and a module of one name": [Module([_MAIN, _F, Module([_G], "f")])],
    "two inner functions of one name": [Module([_MAIN, _F, Module([_G, _G])])],
    "a call of nothing": [Module([Function("main", ["call g"]), _F])],
    "a composite of nothing": [Module([Function("main", ["composite g"]), _F])],
    "a call of nothing in what nothing calls": [
        Module([Function("main", ["add"]), Function("f", ["call g"], "private")])
    ],
    "a call of what stands around": [Module([_MAIN, _F, Module([Function("g", ["call f"])], "m")])],
    "a call of what stands inside": [Module([_MAIN, Module([_F], "m")])],
    "a call of a module": [Module([_MAIN, Module([_G], "f")])],
}
"""Programs by what is in them, of modules one beside the other."""

REFUSED = frozenset([*PROGRAMS][[*PROGRAMS].index("two functions of one name") :])
"""Those that no reader reads."""
CRASHING = frozenset(name for name in PROGRAMS if name.startswith("recursion"))
"""Those of which compiling never ends."""
UNUSED = "a private function that calls itself"
"""What ends only the jaxlibs before 0.5.3: later ones leave it out first."""


def written(name: str) -> Artifact:
    """Return the artifact of one of `PROGRAMS`."""
    return Artifact.from_bytes(bytes(_Writer().artifact(PROGRAMS[name])))


class _Writer:
    """Numbers what operations refer to."""

    def __init__(self) -> None:
        self._program = Program()
        self._tensor = self._program.tensor(self._program.scalar("f32_v1"), 2)
        one = (1, self._tensor)
        self._type = self._program._type(entry(_FUNCTION_TYPE, *one, *one))
        self._names: list[str] = []
        self._strings: list[str] = []
        self._properties: list[bytes] = []

    def artifact(self, tops: Sequence[Module]) -> Written:
        operations = [self._module(one) for one in tops]
        program = self._program
        return Written(
            self._names,
            program.attributes,
            program.types,
            self._properties,
            operations,
            self._strings,
            producer="StableHLO_v0.19.0",
        )

    def _module(self, module: Module) -> bytes:
        name = self._name("builtin.module")
        inner = [
            self._module(one) if isinstance(one, Module) else self._function(one)
            for one in module.inner
        ]
        text = self._text(module.name, "builtin", _STRING_OF_MLIR) << 1 | 1 if module.name else 0
        return operation(
            name, properties=self._entry(text, 0), regions=[region(inner)], isolated=True
        )

    def _function(self, function: Function) -> bytes:
        body = [self._op(one, at) for at, one in enumerate(function.ops)]
        last = len(function.ops)
        body.append(operation(self._name("vhlo.return_v1"), operands=[last]))
        empty = self._attribute("vhlo", entry(_ARRAY, 0))
        fields = {
            "sym_name": self._text(function.name),
            "function_type": self._attribute("vhlo", entry(_TYPE, self._type)),
            "sym_visibility": self._text(function.visibility),
            "arg_attrs": empty,
            "res_attrs": empty,
        }
        return operation(
            self._name("vhlo.func_v1"),
            properties=self._entry_of("func_v1", fields),
            regions=[region(body, last + 1, [self._tensor])],
        )

    def _op(self, what: str, taken: int) -> bytes:
        kind, _, named = what.partition(" ")
        name = f"{kind}_v1"
        fields = {
            "callee": self._text(named),
            "decomposition": self._text(named),
            "name": self._text("some.name"),
            "composite_attributes": self._attribute("vhlo", entry(_DICTIONARY, 0)),
            "version": self._attribute("vhlo", entry(_INTEGER, self._program.scalar("i32_v1"), 0)),
        }
        return operation(
            self._name(f"vhlo.{name}"),
            properties=self._entry_of(name, fields),
            results=[self._tensor],
            operands=[taken] * (1 if named else 2),
        )

    def _name(self, name: str) -> int:
        return _number(self._names, name)

    def _text(self, text: str, dialect: str = "vhlo", code: int = _STRING) -> int:
        return self._attribute(dialect, entry(code, _number(self._strings, text)))

    def _attribute(self, dialect: str, data: bytes) -> int:
        return _number(self._program.attributes, (dialect, data))

    def _entry_of(self, op: str, fields: Mapping[str, int]) -> int | None:
        names = row_of(op).attributes
        return self._entry(*(fields[name] for name in names)) if names else None

    def _entry(self, *numbers: int) -> int:
        return _number(self._properties, b"".join(map(varint, numbers)))


def _number(known: list[_T], one: _T) -> int:
    """Return where something stands in a list; it is put there if it is not."""
    if one not in known:
        known.append(one)
    return known.index(one)
