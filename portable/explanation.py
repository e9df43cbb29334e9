"""What stands between a program and a target, and what to do about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable import pin
from portable.libstablehlo import find
from portable.releases import resolve_target
from portable.version import Version

if TYPE_CHECKING:
    from portable.features import Caveat, Feature
    from portable.program import Program
    from portable.releases import Target

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The way of one program to one target.

    Args:
        target: The Version that was asked about.
        minimum: The lowest Version that can express the program as it is; None when unknown.
        obstacles: The Features that need more than `target`, the most demanding first; each says
            in `remedy` what could be done about it.
        caveats: What the tables cannot judge.
        reachable: Whether `pin`, with its expander and location policy, reaches the target.
    """

    target: Version
    minimum: Version | None
    obstacles: tuple[Feature, ...]
    caveats: tuple[Caveat, ...]
    reachable: bool


def explain(
    program: Program,
    target: str | Version | Target,
    *,
    allow_dialects: tuple[str, ...] = (),
) -> Explanation:
    """Say what stands between a program and a target.

    Args:
        program: As for `portable.serialize`.
        target: A Version, a Target, or anything `resolve_target` takes.
        allow_dialects: As for `portable.serialize`.

    Returns:
        The explanation. Whether the target is reached was tried, not predicted.

    Raises:
        PortableError: The program cannot be read.
    """
    if isinstance(target, str):
        library = find()
        target = resolve_target(target, current=library.current, minimum=library.minimum)
    wanted = target if isinstance(target, Version) else target.version
    analysis = pin.minimum(program, allow_dialects=allow_dialects)
    obstacles = analysis.minimum.above(wanted)
    reachable = not obstacles
    if obstacles:
        try:
            pin.serialize(program, wanted, allow_dialects=allow_dialects)
            reachable = True
        except pin.NotExpressible:
            reachable = False
    return Explanation(
        wanted.target, analysis.minimum.version, obstacles, analysis.caveats, reachable
    )
