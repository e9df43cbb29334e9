"""THE pipeline: copy -> downgrade -> serialize -> strict re-check -> Artifact.

Upstream's serializer rewrites the module it is given, keeps the patch of the target in the header,
gives no reasons, and writes artifacts that the target cannot read. Here each of these is closed,
once, for every caller.
"""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

from portable import program as programs
from portable.artifact import Artifact
from portable.bytecode import read
from portable.errors import PortableError
from portable.features import analyze
from portable.libstablehlo import LibraryError
from portable.releases import resolve_target
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from portable.features import Analysis, Feature
    from portable.libstablehlo import Library, Module
    from portable.program import Program
    from portable.releases import Target

__all__ = ["ForeignDialect", "Locations", "NotExpressible", "minimum", "retarget", "serialize"]


class Locations(enum.Enum):
    """What becomes of source locations."""

    DOWNGRADE = "downgrade"
    """Ranges, which readers before 1.9.0 do not know, become points where the target needs it."""
    KEEP = "keep"
    """Nothing is changed; an error if the target cannot read them."""
    STRIP = "strip"
    """All are removed."""


class InvalidTarget(PortableError):
    """The installed libStablehlo does not write for this Version."""


class NotExpressible(PortableError):
    """The program cannot be expressed at the target; `features` says why.

    Args:
        target: The Version that was asked for.
        minimum: The lowest Version that would do, if known.
        features: What needs more than `target`, the most demanding first.
    """

    def __init__(
        self, target: Version, minimum: Version | None, features: tuple[Feature, ...], hint: str
    ) -> None:
        named = "; ".join(_describe(feature) for feature in features)
        super().__init__(
            f"the program cannot be expressed at {target}: {named}",
            needs=str(minimum) if minimum else None,
            target=str(target),
            hint=hint,
        )
        self.minimum = minimum
        self.features = features

    def record(self) -> dict[str, object]:
        """Return the fields as plain data, the Features among them."""
        return super().record() | {"features": [feature.record() for feature in self.features]}


class ForeignDialect(PortableError):
    """The program has ops outside StableHLO, which upstream's promise does not cover."""

    def __init__(self, operations: dict[str, tuple[int, str]]) -> None:
        named = ", ".join(
            f"{name} ({count}x, first at {where})" for name, (count, where) in operations.items()
        )
        dialects = sorted({name.partition(".")[0] for name in operations})
        super().__init__(
            f"the program has ops that are not StableHLO: {named}",
            hint="lower them to StableHLO, or let them through for readers that know them: "
            + " ".join(f"--allow-dialect {dialect}" for dialect in dialects),
        )
        self.operations = operations


def serialize(
    program: Program,
    target: str | Version | Target | Sequence[str] = "current",
    *,
    locations: Locations | str = Locations.DOWNGRADE,
    expand: bool = True,
    allow_dialects: Collection[str] = (),
    library: Library | None = None,
) -> Artifact:
    """Write a portable artifact that a reader of `target` really reads.

    Same input, same bytes, whatever the thread, process or hash seed. The caller's module is never
    changed, on success or failure.

    Args:
        program: An `ir.Module`, MLIR text or bytecode, an Artifact, or a path.
        target: A Version, a Target, or anything `resolve_target` takes; several: the lowest wins.
        locations: What becomes of source locations.
        expand: Rewrite ops that the target lacks into older ones where upstream's
            `stablehlo-compatibility-expander` can, and CHLO ops into StableHLO.
        allow_dialects: Dialects outside StableHLO that may ride along, for example `sdy`.
        library: The bindings to use for a program that is no module of its own.

    Returns:
        The artifact; its header says X.Y.0.

    Raises:
        NotExpressible: The program needs more than `target`; names every Feature that does.
        ForeignDialect: It has ops of a dialect that is not allowed.
        InvalidProgram: It is no StableHLO program.
        LibraryError: It does not parse, or is no valid input of the serializer.
    """
    library, module = programs.load(program, library)
    wanted = _version(target, library)
    job = _Job(library, wanted, Locations(locations), expand, frozenset(allow_dialects))
    try:
        data = job.write(module)
    except LibraryError as error:
        # The module is ruined now. Why it failed is told by a second copy, off the fast path.
        _, again = programs.load(program, library)
        return job.recover(again, error)
    return job.checked(data)


def retarget(
    artifact: Artifact | bytes,
    target: str | Version | Target | Sequence[str],
    *,
    locations: Locations | str = Locations.DOWNGRADE,
    expand: bool = True,
    allow_dialects: Collection[str] = (),
) -> Artifact:
    """Write an artifact anew for another Version, older or newer.

    Args:
        artifact: The artifact; not changed.
        target: As for `serialize`.
        locations: As for `serialize`.
        expand: As for `serialize`.
        allow_dialects: As for `serialize`.

    Returns:
        The new artifact.

    Raises:
        PortableError: As `serialize`; and NotAnArtifact or MalformedArtifact for other bytes.
    """
    if not isinstance(artifact, Artifact):
        artifact = Artifact.from_bytes(bytes(artifact))
    return serialize(
        artifact, target, locations=locations, expand=expand, allow_dialects=allow_dialects
    )


def minimum(
    program: Program, *, allow_dialects: Collection[str] = (), library: Library | None = None
) -> Analysis:
    """Find how low a program could be pinned, and what stops it there.

    One serialize at the newest Version, then a reading of the bytes: no search over targets.

    Args:
        program: As for `serialize`.
        allow_dialects: As for `serialize`.
        library: As for `serialize`.

    Returns:
        The analysis of the program at the installed library's current Version; its `minimum` is
        the answer.

    Raises:
        PortableError: As `serialize`.
    """
    artifact = serialize(
        program,
        "current",
        locations=Locations.KEEP,
        allow_dialects=allow_dialects,
        library=library,
    )
    return analyze(read(artifact.data))


# Below these Versions upstream's expander has something to do: 1.16 mesh replica groups, 1.9 location
# ranges, 1.4 tan, 1.1 batching dimensions. From the newest of them on it need not run.
_EXPANDER_FLOOR = Version(1, 16, 0)
_RANGES_SINCE = Version(1, 9, 0)
_EXPAND_CHLO = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
_STRIP = "builtin.module(strip-debuginfo)"
# The dialects whose ops libStablehlo turns into VHLO.
_NATIVE = frozenset({"builtin", "func", "stablehlo", "vhlo"})


class _Job:
    """One serialization: what was asked for, and the steps in their order."""

    def __init__(
        self,
        library: Library,
        target: Version,
        locations: Locations,
        expand: bool,  # noqa: FBT001 - internal, passed by position once
        allowed: frozenset[str],
    ) -> None:
        self.library = library
        self.target = target
        self.locations = locations
        self.expand = expand
        self.allowed = allowed

    def write(self, module: Module) -> bytes:
        """Downgrade and serialize `module`, which is ours and is ruined by it."""
        self._place(module)
        if self._expands:
            self.library.run(
                module,
                f"builtin.module(stablehlo-compatibility-expander{{target={self.target}}})",
            )
        return self.library.serialize(module, self.target, mixed=bool(self.allowed))

    @property
    def _expands(self) -> bool:
        # The expander also turns location ranges into points, which KEEP forbids.
        ranges_in_danger = self.locations is Locations.KEEP and self.target < _RANGES_SINCE
        return self.expand and self.target < _EXPANDER_FLOOR and not ranges_in_danger

    def _place(self, module: Module) -> None:
        """Apply the location policy, where the expander will not do it."""
        if self.locations is Locations.STRIP:
            self.library.run(module, _STRIP)
        elif self.locations is Locations.DOWNGRADE and not self.expand:
            if self.target < _RANGES_SINCE:
                self.library.relocate(module, _ranges_to_points)

    def checked(self, data: bytes) -> Artifact:
        """Read `data` as its target would; refuse what the target cannot read."""
        content = read(data)
        self._refuse_foreign(content.operations)
        needs = analyze(content).required
        if needs.version is not None and needs.version > self.target:
            raise self._not_expressible(needs.version, needs.features)
        return Artifact.from_bytes(data)

    def recover(self, module: Module, error: LibraryError) -> Artifact:
        """Say why `module`, a fresh copy, could not be written; or write it after all."""
        operations = self.library.operations(module)
        if self.expand and any(name.startswith("chlo.") for name in operations):
            self.library.run(module, _EXPAND_CHLO)
            spare = self.library.clone(module)
            try:
                return self.checked(self.write(module))
            except LibraryError as second:
                module, error = spare, second
                operations = self.library.operations(module)
        self._refuse_foreign(operations)
        current = self.library.current.target
        try:
            data = self.library.serialize(module, current, mixed=bool(self.allowed))
        except LibraryError:
            raise error from None  # no Version can express it: the diagnostics are the reason
        needs = analyze(read(data)).minimum
        raise self._not_expressible(needs.version, needs.features) from error

    def _refuse_foreign(self, operations: dict[str, tuple[int, str]]) -> None:
        foreign = {
            name: seen
            for name, seen in operations.items()
            if name.partition(".")[0] not in _NATIVE | self.allowed
        }
        if foreign:
            raise ForeignDialect(foreign)

    def _not_expressible(
        self, version: Version | None, features: tuple[Feature, ...]
    ) -> NotExpressible:
        above = tuple(feature for feature in features if feature.version > self.target)
        tries = [f"--target {version}"] if version else []
        tries += ["--locations downgrade"] * (self.locations is Locations.KEEP)
        tries += ["without --no-expand"] * (not self.expand)
        return NotExpressible(self.target, version, above, f"try {' or '.join(tries)}")


def _version(target: str | Version | Target | Sequence[str], library: Library) -> Version:
    """Turn what the caller asked for into a Version that `library` can write."""
    if isinstance(target, Version):
        wanted = target.target
    elif hasattr(target, "version"):
        wanted = target.version
    else:
        asked = (target,) if isinstance(target, str) else tuple(target)
        wanted = resolve_target(*asked, current=library.current, minimum=library.minimum).version
    if not library.minimum <= wanted <= library.current:
        raise InvalidTarget(
            f"{library.name} writes {library.minimum} to {library.current}, not {wanted}",
            hint="install a newer one: pip install --upgrade jaxlib"
            if wanted > library.current
            else None,
        )
    return wanted


_RANGE = re.compile(r'("(?:[^"\\]|\\.)*":\d+:\d+) to (?:\d+)?:\d+')


def _ranges_to_points(location: str) -> str:
    """Turn every `"file":line:column to line:column` inside a printed location into its start."""
    return _RANGE.sub(r"\1", location)


def _describe(feature: Feature) -> str:
    times = f"{feature.count}x" if feature.count else ""
    places = ", ".join(feature.locations)
    seen = f" ({', '.join(filter(None, (times, f'at {places}' if places else '')))})"
    return f"{feature.name} needs {feature.version}{seen if times or places else ''}"
