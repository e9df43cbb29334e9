"""Which function a name means: that of the innermost module, which sees none of those around it.

Readers refuse a module that has a name twice, and a call of what its module does not have.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from portable.prediction.form import kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.prediction.forms import Reading

__all__ = ["CALLS", "HANDING_ON", "Functions"]

CALLS = {"vhlo.call": "callee", "vhlo.composite": "decomposition"}
"""Ops that run a function, and the attribute that names it."""

HANDING_ON = CALLS.keys() | kinds("case if while")
"""Ops that give what a function or a body gives, without their versions."""

_MODULE, _FUNCTION = "builtin.module", "vhlo.func_v1"
_MAIN = "main"
_OUTERMOST, _NONE = 0, -1


class Functions:
    """The functions of a program and what calls them, all by their numbers in the walk.

    Args:
        reading: An artifact's ops.

    Attributes:
        main: The function with which the program begins; -1 if there is none, or several.
        within: For each call the function that it stands in; -1 for none.
        has_twins: Whether a module has two functions or modules of one name.
    """

    def __init__(self, reading: Reading) -> None:
        self.within: dict[int, int] = {}
        # By the module, and the name there.
        self._named: dict[tuple[int, object], list[int]] = {}
        self._meant: dict[int, tuple[int, object]] = {}
        walk = reading.walk
        symbols: Counter[tuple[int, object]] = Counter()
        modules, functions = [_NONE], [_NONE]  # around an operation, the innermost last
        for visit in walk.of([_MODULE, _FUNCTION, *CALLS]):
            number, depth = visit.number, visit.operation.depth
            for around in (modules, functions):
                while around[-1] != _NONE and walk.head(around[-1]).depth >= depth:
                    around.pop()
            symbol = CALLS.get(reading.kinds[visit.operation.name])
            meant = modules[-1], reading.value(visit.operation, symbol or "sym_name").get("value")
            if symbol:
                self.within[number] = functions[-1] if functions[-1] > modules[-1] else _NONE
                self._meant[number] = meant
                continue
            is_module = visit.name == _MODULE
            (modules if is_module else functions).append(number)
            if walk.around[number] == meant[0] and meant[1] is not None:
                symbols[meant] += 1
                if not is_module:
                    self._named.setdefault(meant, []).append(number)
        self.has_twins = any(count > 1 for count in symbols.values())
        # Readers put several modules together into one, which has no main.
        alone = walk.around.count(_NONE) == 1
        mains = self._named.get((_OUTERMOST, _MAIN), ()) if alone else ()
        self.main = mains[0] if len(mains) == 1 else _NONE

    def called(self, call: int) -> Sequence[int]:
        """Return the functions that a call may mean: one, unless readers refuse it."""
        return self._named.get(self._meant[call], ())

    @cached_property
    def reached(self) -> frozenset[int]:
        """Main, and the functions that run where it runs."""
        called: dict[int, set[int]] = {}
        for call, function in self.within.items():
            called.setdefault(function, set()).update(self.called(call))
        found, waiting = {self.main}, [self.main]
        while waiting:
            new = called.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return frozenset(found - {_NONE})

    @property
    def lacks_some(self) -> bool:
        """Whether a function is called that its module does not have."""
        return not all(map(self.called, self._meant))
