"""Names of a package that are imported on first use (PEP 562), from one table."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in `portable`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["lazy"]


def lazy(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Type checkers read neither: the package imports the same names under `TYPE_CHECKING`.

    Args:
        package: Its `__name__`.
        homes: The module that each name is imported from; for a module of the package, itself.
    """

    def get(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package]
            )
        from importlib import import_module

        module = import_module(home)
        value = module if home == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*sys.modules[package].__all__, *homes})
