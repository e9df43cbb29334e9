"""THE pipeline: copy -> downgrade -> serialize -> strict re-check -> Artifact.

Upstream's serializer rewrites the module it is given, keeps the patch of the target in the header,
gives no reasons, and writes artifacts that the target cannot read. Here each of these is closed,
once, for every caller.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable import program as programs
from portable.artifact import Artifact
from portable.bytecode import read
from portable.downgrade import downgrade, refuse_idle
from portable.errors import PortableError
from portable.features import Strictness, analyze
from portable.features.bridges import bridges
from portable.libstablehlo import LibraryError
from portable.locations import RANGES_SINCE, Locations, ranges_to_points
from portable.releases import resolve_target
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from portable.bytecode import Bytecode
    from portable.features import Analysis, Feature, Needs
    from portable.libstablehlo import Library, Module
    from portable.program import Program
    from portable.releases import Target

__all__ = [
    "ForeignDialect",
    "InvalidTarget",
    "NotExpressible",
    "Pinned",
    "minimum",
    "pin",
    "retarget",
    "serialize",
]


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


@dataclass(frozen=True, slots=True)
class Pinned:
    """An artifact with the reasons for it.

    Args:
        artifact: The artifact.
        target: The Version it was written for, and why.
        analysis: What its bytes need, by a strict reading.
    """

    artifact: Artifact
    target: Target
    analysis: Analysis


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
    allow: Collection[str] = (),
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
        allow: Rewrites of `portable.downgrade` that may be done where the target needs them, by
            name; `exact` for all that give equal bits.
        allow_dialects: Dialects outside StableHLO that may ride along, for example `sdy`.
        library: The bindings to use for a program that is no module of its own.

    Returns:
        The artifact; its header says X.Y.0.

    Raises:
        NotExpressible: The program needs more than `target`; names every Feature that does.
        ForeignDialect: It has ops of a dialect that is not allowed.
        DoesNotApply: A rewrite that was named cannot be done, or has nothing to do.
        UnknownRewrite: There is none of that name.
        InvalidProgram: It is no StableHLO program.
        LibraryError: It does not parse, or is no valid input of the serializer.
    """
    library, module = programs.load(program, library)
    job = _Job(
        program,
        library,
        _version(target, library),
        Locations(locations),
        expand,
        frozenset(allow),
        frozenset(allow_dialects),
    )
    data, content = job.run(module)
    if _unchecked(content, job.target):
        job.recheck(content)
    return Artifact.from_bytes(data)


def pin(
    program: Program,
    *wants: str | Version | Target,
    locations: Locations | str = Locations.DOWNGRADE,
    expand: bool = True,
    allow: Collection[str] = (),
    allow_dialects: Collection[str] = (),
) -> Pinned:
    """Write an artifact for named consumers, read it back strictly, and say why it is this one.

    Args:
        program: As for `serialize`.
        wants: What `resolve_target` takes; the lowest wins.
        locations: As for `serialize`.
        expand: As for `serialize`.
        allow: As for `serialize`.
        allow_dialects: As for `serialize`.

    Returns:
        The artifact with its Target and what its bytes need.

    Raises:
        PortableError: As `serialize`.
    """
    library, module = programs.load(program)
    target = resolve_target(*wants, current=library.current, minimum=library.minimum)
    job = _Job(
        program,
        library,
        _writable(target.version, library),
        Locations(locations),
        expand,
        frozenset(allow),
        frozenset(allow_dialects),
    )
    data, content = job.run(module)
    return Pinned(Artifact.from_bytes(data), target, job.recheck(content))


def retarget(
    artifact: Artifact | bytes,
    target: str | Version | Target | Sequence[str],
    *,
    locations: Locations | str = Locations.DOWNGRADE,
    expand: bool = True,
    allow: Collection[str] = (),
    allow_dialects: Collection[str] = (),
) -> Artifact:
    """Write an artifact anew for another Version, older or newer.

    Args:
        artifact: The artifact; not changed.
        target: As for `serialize`.
        locations: As for `serialize`.
        expand: As for `serialize`.
        allow: As for `serialize`.
        allow_dialects: As for `serialize`.

    Returns:
        The new artifact.

    Raises:
        PortableError: As `serialize`; and NotAnArtifact or MalformedArtifact for other bytes.
    """
    if not isinstance(artifact, Artifact):
        artifact = Artifact.from_bytes(bytes(artifact))
    return serialize(
        artifact,
        target,
        locations=locations,
        expand=expand,
        allow=allow,
        allow_dialects=allow_dialects,
    )


def minimum(
    program: Program,
    *,
    strictness: Strictness | None = None,
    allow_dialects: Collection[str] = (),
    library: Library | None = None,
) -> Analysis:
    """Find how low a program could be pinned, and what stops it there.

    One serialize at the newest Version, then a reading of the bytes: no search over targets.

    Args:
        program: As for `serialize`.
        strictness: What counts as readable; by default what real old readers read.
        allow_dialects: As for `serialize`.
        library: As for `serialize`.

    Returns:
        The analysis of the program at the installed library's current Version; its `minimum` is
        the answer.

    Raises:
        PortableError: As `serialize`.
    """
    library, module = programs.load(program, library)
    job = _Job(
        program,
        library,
        library.current.target,
        Locations.KEEP,
        True,
        frozenset(),
        frozenset(allow_dialects),
    )
    _, content = job.run(module)
    return analyze(content, strictness=strictness or Strictness.READABLE)


# Below these Versions upstream's expander has something to do: 1.16 mesh replica groups, 1.9
# location ranges, 1.4 tan, 1.1 batching dimensions. From the newest of them on it need not run.
_EXPANDER_FLOOR = Version(1, 16, 0)
# Other dialects may ride along from here on; the serializer lets them through to any target.
_MIXED_SINCE = Version(1, 11, 0)
_EXPAND_CHLO = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
_EXPAND = "builtin.module(stablehlo-compatibility-expander{{target={target}}})"
_STRIP = "builtin.module(strip-debuginfo)"
# The dialects whose ops libStablehlo turns into VHLO.
_NATIVE = frozenset({"builtin", "func", "stablehlo", "vhlo"})


@dataclass(frozen=True, slots=True)
class _Job:
    """One serialization: what was asked for, and the steps in their order."""

    program: Program
    library: Library
    target: Version
    locations: Locations
    expand: bool
    rewrites: frozenset[str]
    allowed: frozenset[str]

    def run(self, module: Module) -> tuple[bytes, Bytecode]:
        """Write `module`, which is ours and is ruined by it; return the artifact, read and raw."""
        done = self._rewrite(module)
        try:
            data = self._write(module)
        except LibraryError as error:
            data, done = self._recovered(error)
        refuse_idle(self.rewrites, done, self.target)
        content = read(data)
        if any(dialect.name not in _NATIVE for dialect in content.dialects):
            self._refuse_foreign(_operations(content))
        return data, content

    def recheck(self, content: Bytecode) -> Analysis:
        """Judge what was written by what an old reader really reads."""
        analysis = analyze(content)
        needs = analysis.required
        if needs.version is not None and needs.version > self.target:
            raise self._not_expressible(needs)
        return analysis

    def _not_expressible(self, needs: Needs) -> NotExpressible:
        """Return the error that names what needs more than the target."""
        tries = [f"--target {needs.version}"] if needs.version else []
        tries += ["--locations downgrade"] * (self.locations is Locations.KEEP)
        tries += ["without --no-expand"] * (not self.expand)
        helpful = _rewrites(needs.above(self.target)) - self.rewrites
        tries += [f"--allow {name}" for name in sorted(helpful)]
        return NotExpressible(
            self.target, needs.version, needs.above(self.target), f"try {' or '.join(tries)}"
        )

    def _rewrite(self, module: Module) -> frozenset[str]:
        """Do what is allowed and needed; return what was done."""
        if not self.rewrites:
            return frozenset()
        return frozenset(downgrade(self.library, module, self.target, self.rewrites))

    def _write(self, module: Module) -> bytes:
        """Apply the location policy, downgrade and serialize."""
        # The expander also turns location ranges into points, which KEEP forbids.
        old = self.target < RANGES_SINCE
        expands = self.expand and self.target < _EXPANDER_FLOOR
        if self.locations is Locations.STRIP:
            self.library.run(module, _STRIP)
        elif self.locations is Locations.DOWNGRADE and old and not expands:
            self.library.relocate(module, ranges_to_points)
        if expands and not (self.locations is Locations.KEEP and old):
            self.library.run(module, _EXPAND.format(target=self.target))
        return self.library.serialize(module, self.target, mixed=bool(self.allowed))

    def _recovered(self, error: LibraryError) -> tuple[bytes, frozenset[str]]:
        """Lower CHLO and write the program after all, or say why it cannot be written.

        The module of the first attempt is ruined, so this works on copies, off the fast path.
        """
        module = self._copy()
        operations = self.library.operations(module)
        if self.expand and any(name.startswith("chlo.") for name in operations):
            self.library.run(module, _EXPAND_CHLO)
            done = self._rewrite(module)
            operations = self.library.operations(module)
            try:
                return self._write(self.library.clone(module)), done
            except LibraryError as second:
                error = second
        else:
            self._rewrite(module)
        self._refuse_foreign(operations)
        try:
            current = self.library.current.target
            data = self.library.serialize(module, current, mixed=bool(self.allowed))
        except LibraryError:
            raise error from None  # no Version can express it: the diagnostics are the reason
        raise self._not_expressible(analyze(read(data)).minimum) from error

    def _copy(self) -> Module:
        return programs.load(self.program, self.library)[1]

    def _refuse_foreign(self, operations: dict[str, tuple[int, str]]) -> None:
        foreign = {
            name: seen
            for name, seen in operations.items()
            if name.partition(".")[0] not in _NATIVE | self.allowed
        }
        if foreign:
            raise ForeignDialect(foreign)


def _rewrites(features: Sequence[Feature]) -> set[str]:
    known = bridges().features
    return {name for f in features if f.name in known for name in known[f.name].rewrites}


# What upstream's serializer lets through to any target: it does not look inside these types.
_UNCHECKED_TYPES = ("quant_per_axis_v1", "future_v1")


def _unchecked(content: Bytecode, target: Version) -> bool:
    """Say whether there is anything in an artifact that upstream's serializer did not check.

    It checks every op, and every type and attribute but these. Looking for them costs little;
    a whole strict reading would cost more than the serializing of a small program.
    """
    pool = content.pool
    if target < RANGES_SINCE and pool.attributes_named("location_file_line_col_range"):
        return True
    if target < _MIXED_SINCE and any(d.name not in _NATIVE for d in content.dialects):
        return True
    return bool(pool.types_named(*_UNCHECKED_TYPES))


def _operations(content: Bytecode) -> dict[str, tuple[int, str]]:
    """Count the ops of an artifact by name, as `Library.operations` does for a module."""
    found: dict[str, tuple[int, str]] = {}
    for shape, count in content.scan().shapes.items():
        name = str(content.names[shape.name])
        found[name] = (found.get(name, (0, ""))[0] + count, "an unknown location")
    return found


def _version(target: str | Version | Target | Sequence[str], library: Library) -> Version:
    """Turn what the caller asked for into a Version that `library` can write."""
    if isinstance(target, Version):
        wanted = target.target
    elif isinstance(target, str) and _PLAIN.fullmatch(target):
        wanted = Version.parse(target).target  # by far the commonest, and needs no tables
    else:
        wants = target if isinstance(target, (list, tuple)) else (target,)
        wanted = resolve_target(*wants, current=library.current, minimum=library.minimum).version
    return _writable(wanted, library)


def _writable(wanted: Version, library: Library) -> Version:
    if not library.minimum <= wanted <= library.current:
        raise InvalidTarget(
            f"{library.name} writes {library.minimum} to {library.current}, not {wanted}",
            hint="install a newer one: pip install --upgrade jaxlib"
            if wanted > library.current
            else None,
        )
    return wanted


_PLAIN = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def _describe(feature: Feature) -> str:
    times = f"{feature.count}x" if feature.count else ""
    places = ", ".join(feature.locations)
    seen = f" ({', '.join(filter(None, (times, f'at {places}' if places else '')))})"
    return f"{feature.name} needs {feature.version}{seen if times or places else ''}"
