"""The keywords of every call that writes artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from portable.pinning.locations import Locations

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from portable.bindings import Library

__all__ = ["PinOptions", "demand_valid"]

# What a caller who does not know that targets have no name calls them.
_REQUESTS = frozenset({"consumers", "requests", "target", "targets", "to", "version"})


class PinOptions(TypedDict, total=False):
    """The keywords of every call that writes artifacts; all are optional.

    Args:
        locations: How source locations are written. By default `Locations.DOWNGRADE`.
        expand: Rewrite ops that the target lacks into older ones where upstream's
            `stablehlo-compatibility-expander` can, and CHLO ops into StableHLO. By default true.
        allow: Rewrites of `portable.pinning.rewrites` that may be done where the target needs
            them, by name; `exact` for all that give equal bits. By default none.
        allow_dialects: Dialects outside StableHLO that may pass through, for example `sdy`. By
            default none.
        library: The bindings for a program that is not an `ir.Module`. By default the first that
            are installed.
    """

    locations: Locations | str
    expand: bool
    allow: Collection[str]
    allow_dialects: Collection[str]
    library: Library | None


def demand_valid(options: Mapping[str, object]) -> None:
    """Refuse a name that is no option, as Python does where it sees the names, and a wrong value.

    Args:
        options: What was given by name.

    Raises:
        TypeError: A name is no option; says which there are, or how a target is given.
        ValueError: There are no such `locations`.
    """
    valid = PinOptions.__annotations__.keys()
    for name in options:
        if name in _REQUESTS:
            raise TypeError(f"{name!r} is no option: targets follow the program, without a name")
        if name not in valid:
            raise TypeError(f"unknown option {name!r}; valid options: {', '.join(sorted(valid))}")
    Locations(options.get("locations", Locations.DOWNGRADE))
