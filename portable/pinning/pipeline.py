"""THE pipeline: copy -> downgrade -> serialize -> strict re-check -> Artifact.

Upstream's serializer rewrites the module it is given, keeps the patch of the target in the header,
gives no reasons, and writes artifacts that the target cannot read. Here each of these is closed,
once, for every caller: first the calls, then `_Serialization` with the steps in their order.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.bindings import LibraryError
from portable.bytecode import read
from portable.bytecode.entries import ATTRIBUTES, TYPES
from portable.bytecode.layouts import BUILTIN, NATIVE_DIALECTS, VHLO
from portable.bytecode.quick_scan import QuickScan
from portable.bytecode.vhlo import lifetimes
from portable.errors import PortableError
from portable.features import Strictness, analyze
from portable.features.bridges import SHARDY, bridges, since
from portable.features.rewritten import rewritten
from portable.features.rules import rules
from portable.pinning import program as programs
from portable.pinning.locations import RANGE, RANGES_SINCE, Locations, ranges_to_points
from portable.pinning.rewrites import EXPANDED, REWRITES, NothingToDo, downgrade, named, refuse_idle
from portable.releases import resolve_target
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Unpack

    from portable.artifact import ArtifactLike
    from portable.bindings import Library, Module
    from portable.bytecode import Bytecode, Header
    from portable.features import Analysis, Feature, Needs
    from portable.features.rewritten import Rewritten
    from portable.pinning.options import PinOptions
    from portable.pinning.program import Program
    from portable.releases import Target
    from portable.releases.requests import TargetRequest

__all__ = [
    "ForeignDialect",
    "InvalidTarget",
    "Minimum",
    "NotExpressible",
    "Pinned",
    "minimum",
    "pin",
    "retarget",
    "serialize",
]


class NotExpressible(PortableError):
    """The program cannot be expressed at the target; `features` says why.

    Args:
        target: The Version that was requested.
        minimum: The lowest Version that can express it, if known.
        features: Those that need a newer Version than `target`, the most demanding first.
    """

    def __init__(
        self,
        target: Version,
        minimum: Version | None,
        features: tuple[Feature, ...],
        hint: str | None,
    ) -> None:
        super().__init__(
            f"the program cannot be expressed at {target}",
            details=[_describe(feature) for feature in features],
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
    """The program has ops or attributes outside StableHLO, without upstream's promise.

    Args:
        operations: The ops outside StableHLO, each with its count and first location.
        attributes: The dialects of attributes outside StableHLO, if all ops are StableHLO.
    """

    def __init__(
        self, operations: dict[str, tuple[int, str]], attributes: Sequence[str] = ()
    ) -> None:
        named = ", ".join(
            f"{name} ({count}x, first at {where})" for name, (count, where) in operations.items()
        )
        dialects = sorted({name.partition(".")[0] for name in operations} | set(attributes))
        super().__init__(
            f"the program has ops that are not StableHLO: {named}"
            if operations
            else f"the program has attributes that are not StableHLO, but {', '.join(attributes)}",
            hint="lower them to StableHLO, or let them through for readers that know them: "
            + " ".join(f"--allow-dialect {dialect}" for dialect in dialects)
            + ("; or rewrite shardings: " + _ALLOWING if SHARDY in dialects else ""),
        )
        self.operations = operations


class InvalidTarget(PortableError):
    """The installed libStablehlo does not write for this Version."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """An artifact with the reasons for it.

    Args:
        artifact: The artifact.
        target: The Version it was written for, and why.
        analysis: The Version and Features that its bytes need, read strictly.
        rewrites: The rewrites that were applied for the target, and how exact they are.
    """

    artifact: Artifact
    target: Target
    analysis: Analysis
    rewrites: tuple[Rewritten, ...] = ()

    def __repr__(self) -> str:
        return f"<Pinned {self.artifact!r}: {self.target.reason}>"


@dataclass(frozen=True, slots=True, repr=False)
class Minimum:
    """The lowest Version a program can be pinned for, and the Features that prevent a lower one.

    Args:
        analysis: What the program needs at the installed library's current Version.
    """

    analysis: Analysis

    @property
    def version(self) -> Version | None:
        """The lowest Version that `pin` reaches by default; None if unknown."""
        return self.analysis.pinned.version

    @property
    def features(self) -> tuple[Feature, ...]:
        """What needs it, the most demanding first."""
        return self.analysis.pinned.features

    @property
    def without_rewriting(self) -> Needs:
        """What the program needs as it is."""
        return self.analysis.minimum

    def __repr__(self) -> str:
        return f"<Minimum {self.version or 'unknown'}, {len(self.features)} features>"


@programs.apart
def serialize(
    program: Program,
    target: str | Version | Target | Sequence[str] = "current",
    **options: Unpack[PinOptions],
) -> Artifact:
    """Write a portable artifact that readers of `target` can read.

    Same input, same bytes, whatever the thread, process or hash seed. The caller's module is never
    changed, on success or failure.

    An `ir.Module` is processed here. Every other program is processed in a child with limits of
    time and memory, which is kept for the next call; a crash of native code is an error.

    Args:
        program: An `ir.Module`, MLIR text or bytecode, an Artifact, or a path.
        target: A Version, a Target, or anything `resolve_target` takes; the lowest of several wins.
        options: `locations`, `expand`, `allow`, `allow_dialects`, `library`: see
            `portable.PinOptions`.

    Returns:
        The artifact; its header says X.Y.0.

    Raises:
        NotExpressible: The program needs a newer Version; every Feature that does is named.
        ForeignDialect: It has ops of a dialect that is not allowed.
        DoesNotApply: An allowed rewrite is impossible, or has nothing to change.
        UnknownRewrite: A rewrite in `allow` does not exist.
        InvalidProgram: It is not a StableHLO program.
        LibraryError: It does not parse, or the serializer refuses it.
        ChildFailed: It crashes native code, or keeps it busy for ever.
    """
    library, module = programs.load(program, options.get("library"))
    job = _job(program, library, _version(target, library), options)
    data = job.run(module)
    return Artifact(data, job.checked(data))


@programs.apart
def pin(
    program: Program,
    *requests: TargetRequest,
    **options: Unpack[PinOptions],
) -> Pinned:
    """Write an artifact for named consumers, read it back strictly, and report the reasons.

    Args:
        program: As for `serialize`.
        requests: The consumers, as for `resolve_target`; the lowest Version wins.
        options: As for `serialize`: `locations`, `expand`, `allow`, `allow_dialects`, `library`.

    Returns:
        The artifact with its Target and what its bytes need.

    Raises:
        PortableError: As `serialize`.
    """
    library, module = programs.load(program, options.get("library"))
    target = resolve_target(*requests, current=library.current, minimum=library.minimum)
    job = _job(program, library, _writable(target.version, library), options)
    original = library.clone(module) if job.rewrites_ops(module) else None
    data, done = job.rewrite_and_write(module)
    content = job.read(data)
    analysis = job.recheck(content)
    rewrites = job.rewritten(original, done) if original is not None else ()
    return Pinned(Artifact(data, content.header), target, analysis, rewrites)


def retarget(
    artifact: ArtifactLike,
    target: str | Version | Target | Sequence[str],
    **options: Unpack[PinOptions],
) -> Artifact:
    """Rewrite an artifact for another Version, older or newer.

    Args:
        artifact: The artifact, its bytes or its path; not changed.
        target: As for `serialize`.
        options: As for `serialize`: `locations`, `expand`, `allow`, `allow_dialects`, `library`.

    Returns:
        The new artifact.

    Raises:
        NotAnArtifact: It is something else.
        PortableError: As `serialize`.
    """
    return serialize(Artifact.of(artifact), target, **options)


@programs.apart
def minimum(
    program: Program,
    *,
    strictness: Strictness | str | None = None,
    allow_dialects: Collection[str] = (),
    library: Library | None = None,
) -> Minimum:
    """Find the lowest Version a program can be pinned for, and what prevents a lower one.

    It serializes once, at the newest Version, and reads the bytes; it searches no targets.

    Args:
        program: As for `serialize`.
        strictness: What counts as readable, or its name; by default what real readers read.
        allow_dialects: As in `PinOptions`.
        library: As in `PinOptions`.

    Returns:
        The lowest Version in `version`, and the Features that prevent a lower one.

    Raises:
        PortableError: As `serialize`.
        ValueError: There is no such strictness.
    """
    judged = Strictness(strictness or Strictness.READABLE)
    library, module = programs.load(program, library)
    options: PinOptions = {"locations": Locations.KEEP, "allow_dialects": allow_dialects}
    job = _job(program, library, library.current.target, options)
    content = job.read(job.run(module))
    return Minimum(analyze(content, strictness=judged))


def _job(
    program: Program, library: Library, target: Version, options: PinOptions
) -> _Serialization:
    return _Serialization(
        program,
        library,
        target,
        Locations(options.get("locations", Locations.DOWNGRADE)),
        options.get("expand", True),
        frozenset(options.get("allow", ())),
        frozenset(options.get("allow_dialects", ())),
    )


def _version(target: str | Version | Target | Sequence[str], library: Library) -> Version:
    """Turn what the caller requested into a Version that `library` can write."""
    wanted = target.target if isinstance(target, Version) else None
    if isinstance(target, str):
        wanted = _plain(target)
    if wanted is None:
        requests = target if isinstance(target, (list, tuple)) else (target,)
        wanted = resolve_target(*requests, current=library.current, minimum=library.minimum).version
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


@functools.lru_cache(maxsize=64)
def _plain(text: str) -> Version | None:
    """Return the target that a plain Version names, by far the commonest and found in no table."""
    return Version.parse(text).target if _PLAIN.fullmatch(text) else None


_PLAIN = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


# Below these Versions upstream's expander has something to do: 1.16 mesh replica groups, 1.9
# location ranges, 1.4 tan, 1.1 batching dimensions. From the newest of them on it need not run.
_EXPANDER_FLOOR = Version(1, 16, 0)
_EXPAND_CHLO = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
# What is done about Shardy, and how it is allowed.
_UNSHARDING = frozenset(bridges().features[SHARDY].rewrites)
_ALLOWING = " or ".join(f"--allow {name}" for name in bridges().features[SHARDY].rewrites)
_STRIP = "builtin.module(strip-debuginfo)"


@functools.cache
def _newer(target: Version) -> tuple[str, ...]:
    """Return the types that came after a target."""
    types = lifetimes("types").items()
    return tuple(name for name, life in types if Version.parse(life.since) > target)


@dataclass(frozen=True, slots=True)
class _Serialization:
    """What was requested, and the steps in their order.

    Args:
        program: What the module was made of; read again where an attempt has consumed the module.
        library: The bindings to use.
        target: The Version to write for.
        locations: What becomes of source locations.
        expand: Whether upstream's rewrites into older ops may be used.
        rewrites: The names of our own that may be used.
        allowed: Dialects outside StableHLO that may pass through.
    """

    program: Program
    library: Library
    target: Version
    locations: Locations
    expand: bool
    rewrites: frozenset[str]
    allowed: frozenset[str]

    def run(self, module: Module) -> bytes:
        """Write `module`, which is ours and is consumed by it; return the artifact."""
        return self.rewrite_and_write(module)[0]

    def rewrite_and_write(self, module: Module) -> tuple[bytes, dict[str, int]]:
        """Do as `run`; return also how many ops were rewritten by which rewrites of ours."""
        done = self._rewrite(module)
        try:
            data = self._write(module)
        except LibraryError as error:
            data, done = self._recovered(error)
        refuse_idle(self.rewrites, done, self.target)
        return data, done

    def checked(self, data: bytes) -> Header:
        """Recheck what was written if anything is in it that upstream's serializer did not check.

        It checks every op, and every type and attribute but these: newer types are there only where
        it did not look, inside others and of arguments that nothing uses. Looking for them costs
        little; a strict reading would cost more than the serializing of a small program.
        """
        seen = QuickScan(data)
        if (
            not NATIVE_DIALECTS.issuperset(seen.dialects)
            or (self.target < RANGES_SINCE and seen.may_have(ATTRIBUTES, BUILTIN, RANGE))
            or seen.may_have(TYPES, VHLO, *_newer(self.target), *rules().unchecked_together)
        ):
            self.recheck(self.read(data))
        return seen.header

    def read(self, data: bytes) -> Bytecode:
        """Read what was written; refuse the dialects that were not allowed."""
        content = read(data)
        if not NATIVE_DIALECTS.issuperset([dialect.name for dialect in content.dialects]):
            self._refuse_foreign(_operations(content))
        return content

    def recheck(self, content: Bytecode) -> Analysis:
        """Judge what was written by what an old reader really reads."""
        analysis = analyze(content)
        needs = analysis.required
        if needs.version is not None and needs.version > self.target:
            raise self._not_expressible(needs)
        return analysis

    def rewrites_ops(self, module: Module) -> bool:
        """Whether the module has ops of kinds that may be rewritten to reach the target."""
        if self.target >= _EXPANDER_FLOOR and not self.rewrites:
            return False
        kinds = {op for form, ops in EXPANDED.items() if self._lacks(form) for op in ops}
        kinds |= {op for name in named(self.rewrites) for op in REWRITES[name].needed(self.target)}
        seen = self.library.operations(module)
        return not kinds.isdisjoint(seen) or any(name.startswith("chlo.") for name in seen)

    def rewritten(self, module: Module, done: Mapping[str, int]) -> tuple[Rewritten, ...]:
        """Say what was rewritten in `module`, which is ours, to reach the target."""
        whole = replace(
            self,
            target=self.library.current.target,
            locations=Locations.KEEP,
            rewrites=frozenset(),
            allowed=self.allowed | ({SHARDY} if done.keys() & _UNSHARDING else set()),
        )
        analysis = analyze(whole.read(whole.run(module)))
        return rewritten(analysis, self.target, done, done)

    def _lacks(self, form: str) -> bool:
        return Version.parse(since()[form]) > self.target

    def _not_expressible(self, needs: Needs) -> NotExpressible:
        """Return the error that names what needs more than the target, and where it would do.

        The tables say what the target is that would do, and a serialize confirms it.
        """
        left = needs.without({f.name for f in needs.features if self._removes(f)})
        if not left.above(self.target) or needs.version is None:
            left = needs
        reached = self._confirmed(left.version, needs.version)
        features = left.above(self.target)
        tries = [f"--target {reached}"] if reached else []
        kept = any(feature.name == RANGE for feature in features)
        tries += ["--locations downgrade"] * (kept and self.locations is Locations.KEEP)
        expands = any(f.by_default and f.name != RANGE for f in features)
        tries += ["without --no-expand"] * (expands and not self.expand)
        tries += [f"--allow {name}" for name in sorted(_rewrites(features) - self.rewrites)]
        hint = f"try {' or '.join(tries)}" if tries else None
        return NotExpressible(self.target, reached, features, hint)

    def _removes(self, feature: Feature) -> bool:
        """Say whether a Feature goes away by what is done here."""
        if feature.name == RANGE:
            return self.locations is not Locations.KEEP
        return self.expand and feature.by_default

    def _confirmed(self, target: Version | None, highest: Version | None) -> Version | None:
        """Write the program for a target; return that, or the lowest above it that does."""
        if target is None or target <= self.target or target > self.library.current:
            return highest.first_target if highest else None
        try:
            try:
                replace(self, target=target).run(self._copy())
            except NothingToDo:  # a rewrite that is allowed is not needed there
                replace(self, target=target, rewrites=frozenset()).run(self._copy())
        except NotExpressible as error:
            return error.minimum
        except PortableError:
            return highest.first_target if highest else None
        return target

    def _rewrite(self, module: Module) -> dict[str, int]:
        """Do what is allowed and needed; return how many ops each rewrite has rewritten."""
        if not self.rewrites:
            return {}
        return downgrade(self.library, module, self.target, self.rewrites)

    def _write(self, module: Module) -> bytes:
        """Apply the location policy, downgrade and serialize."""
        # The expander also turns location ranges into points, which KEEP forbids.
        old = self.target < RANGES_SINCE
        expands = self.expand and self.target < _EXPANDER_FLOOR
        if self.locations is Locations.STRIP:
            self.library.run(module, _STRIP)
        elif self.locations is Locations.DOWNGRADE and old and not expands:
            self.library.relocate(module, ranges_to_points)
        return self.library.serialize(
            module,
            self.target,
            mixed=bool(self.allowed),
            expand=expands and not (self.locations is Locations.KEEP and old),
        )

    def _recovered(self, error: LibraryError) -> tuple[bytes, dict[str, int]]:
        """Lower CHLO and write the program after all, or say why it cannot be written.

        The module of the first attempt is consumed, so this works on copies, off the fast path.
        """
        module = self._copy()
        has_chlo = any(name.startswith("chlo.") for name in self.library.operations(module))
        if self.expand and has_chlo:
            self.library.run(module, _EXPAND_CHLO)
        done = self._rewrite(module)
        if self.expand and has_chlo:
            try:
                return self._write(self.library.clone(module)), done
            except LibraryError as second:
                error = second
        self._refuse_foreign(self.library.operations(module))
        try:
            current = self.library.current.target
            copy = self.library.clone(module)
            data = self.library.serialize(copy, current, mixed=bool(self.allowed))
        except LibraryError as failure:
            self._refuse_foreign_attributes()
            # No Version can express it.
            raise self.library.unwritable(module, failure) from None
        raise self._not_expressible(analyze(read(data)).minimum) from error

    def _copy(self) -> Module:
        return programs.load(self.program, self.library)[1]

    def _refuse_foreign(self, operations: dict[str, tuple[int, str]]) -> None:
        foreign = {
            name: seen
            for name, seen in operations.items()
            if name.partition(".")[0] not in NATIVE_DIALECTS | self.allowed
        }
        if foreign:
            raise ForeignDialect(foreign)

    def _refuse_foreign_attributes(self) -> None:
        """Name the dialects that only attributes are of; libStablehlo names no reason then."""
        try:
            current = self.library.current.target
            data = self.library.serialize(self._copy(), current, mixed=True)
        except LibraryError:
            return
        foreign = {dialect.name for dialect in read(data).dialects} - NATIVE_DIALECTS - self.allowed
        if foreign:
            raise ForeignDialect({}, sorted(foreign))


def _rewrites(features: Sequence[Feature]) -> set[str]:
    known = bridges().features
    return {name for f in features if f.name in known for name in known[f.name].rewrites}


def _operations(content: Bytecode) -> dict[str, tuple[int, str]]:
    """Count the ops of an artifact by name, as `Library.operations` does for a module."""
    found: dict[str, tuple[int, str]] = {}
    for signature, count in content.scan().signatures.items():
        name = str(content.names[signature.name])
        found[name] = (found.get(name, (0, ""))[0] + count, "an unknown location")
    return found


def _describe(feature: Feature) -> str:
    times = f"{feature.count}x" if feature.count else ""
    places = ", ".join(feature.locations)
    seen = f" ({', '.join(filter(None, (times, f'at {places}' if places else '')))})"
    return f"{feature.name} needs {feature.version}{seen if times or places else ''}"
