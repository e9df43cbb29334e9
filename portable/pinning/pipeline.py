"""THE pipeline: copy -> downgrade -> serialize -> strict re-check -> Artifact.

Upstream's serializer rewrites the module it is given, keeps the patch of the target in the header,
gives no reasons, and writes artifacts that the target cannot read. Here each of these is closed,
once, for every caller.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.errors import PortableError
from portable.features import Strictness, analyze
from portable.pinning import program as programs
from portable.pinning.locations import Locations
from portable.pinning.serialization import ForeignDialect, NotExpressible, Serialization
from portable.releases import resolve_target
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from portable.artifact import ArtifactLike
    from portable.bindings import Library
    from portable.features import Analysis, Feature, Needs, Rewritten
    from portable.pinning.program import Program
    from portable.releases import Target

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


class InvalidTarget(PortableError):
    """The installed libStablehlo does not write for this Version."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """An artifact with the reasons for it.

    Args:
        artifact: The artifact.
        target: The Version it was written for, and why.
        analysis: What its bytes need, by a strict reading.
        rewrites: Replacements of what the target lacks, and how exact that is.
    """

    artifact: Artifact
    target: Target
    analysis: Analysis
    rewrites: tuple[Rewritten, ...] = ()

    def __repr__(self) -> str:
        return f"<Pinned {self.artifact!r}: {self.target.reason}>"


@dataclass(frozen=True, slots=True, repr=False)
class Minimum:
    """How low a program can be pinned, and what stops it there.

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

    An `ir.Module` is worked on in this process. Everything else is by a child with limits of time
    and memory, which is kept for the next call: a program that crashes native code is an error.

    Args:
        program: An `ir.Module`, MLIR text or bytecode, an Artifact, or a path.
        target: A Version, a Target, or anything `resolve_target` takes; several: the lowest wins.
        locations: What becomes of source locations.
        expand: Rewrite ops that the target lacks into older ones where upstream's
            `stablehlo-compatibility-expander` can, and CHLO ops into StableHLO.
        allow: Rewrites of `portable.pinning.rewrites` that may be done where the target needs
            them, by name; `exact` for all that give equal bits.
        allow_dialects: Dialects outside StableHLO that may pass through, for example `sdy`.
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
        ChildFailed: It crashes native code, or keeps it busy for ever.
    """
    library, module = programs.load(program, library)
    job = Serialization(
        program,
        library,
        _version(target, library),
        Locations(locations),
        expand,
        frozenset(allow),
        frozenset(allow_dialects),
    )
    data = job.run(module)
    return Artifact(data, job.checked(data))


@programs.apart
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
    job = Serialization(
        program,
        library,
        _writable(target.version, library),
        Locations(locations),
        expand,
        frozenset(allow),
        frozenset(allow_dialects),
    )
    original = library.clone(module) if job.rewrites_ops(module) else None
    data = job.run(module)
    content = job.read(data)
    analysis = job.recheck(content)
    rewrites = job.rewritten(original) if original is not None else ()
    return Pinned(Artifact(data, content.header), target, analysis, rewrites)


def retarget(
    artifact: ArtifactLike,
    target: str | Version | Target | Sequence[str],
    *,
    locations: Locations | str = Locations.DOWNGRADE,
    expand: bool = True,
    allow: Collection[str] = (),
    allow_dialects: Collection[str] = (),
) -> Artifact:
    """Rewrite an artifact for another Version, older or newer.

    Args:
        artifact: The artifact, its bytes or its path; not changed.
        target: As for `serialize`.
        locations: As for `serialize`.
        expand: As for `serialize`.
        allow: As for `serialize`.
        allow_dialects: As for `serialize`.

    Returns:
        The new artifact.

    Raises:
        NotAnArtifact: It is something else.
        PortableError: As `serialize`.
    """
    return serialize(
        Artifact.of(artifact),
        target,
        locations=locations,
        expand=expand,
        allow=allow,
        allow_dialects=allow_dialects,
    )


@programs.apart
def minimum(
    program: Program,
    *,
    strictness: Strictness | None = None,
    allow_dialects: Collection[str] = (),
    library: Library | None = None,
) -> Minimum:
    """Find how low a program could be pinned, and what stops it there.

    One serialize at the newest Version, then a reading of the bytes: no search over targets.

    Args:
        program: As for `serialize`.
        strictness: What counts as readable; by default what real old readers read.
        allow_dialects: As for `serialize`.
        library: As for `serialize`.

    Returns:
        The lowest Version in `version`, and what stops the program there.

    Raises:
        PortableError: As `serialize`.
    """
    library, module = programs.load(program, library)
    job = Serialization(
        program,
        library,
        library.current.target,
        Locations.KEEP,
        True,
        frozenset(),
        frozenset(allow_dialects),
    )
    content = job.read(job.run(module))
    return Minimum(analyze(content, strictness=strictness or Strictness.READABLE))


def _version(target: str | Version | Target | Sequence[str], library: Library) -> Version:
    """Turn what the caller requested into a Version that `library` can write."""
    wanted = target.target if isinstance(target, Version) else None
    if isinstance(target, str):
        wanted = _plain(target)
    if wanted is None:
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


@lru_cache(maxsize=64)
def _plain(text: str) -> Version | None:
    """Return the target that a plain Version names, by far the commonest and found in no table."""
    return Version.parse(text).target if _PLAIN.fullmatch(text) else None


_PLAIN = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
