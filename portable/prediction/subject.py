"""What a prediction looks at: one artifact, read once, whatever the number of Consumers."""

from __future__ import annotations

import functools
import math
import os
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

from portable.artifact import Artifact, bytes_of
from portable.bytecode import read
from portable.bytecode.layouts import BUILTIN, NATIVE_DIALECTS
from portable.bytecode.operations import like
from portable.containers.container import place
from portable.features import analyze
from portable.features.devices import replicas_and_partitions
from portable.prediction.applied import APPLYING
from portable.prediction.constants import is_one_number
from portable.prediction.form import ELEMENTWISE, kinds
from portable.prediction.forms import FORMS, KINDS, Reading, forms_in
from portable.prediction.mistyped import mistyped
from portable.prediction.signatures import CALL, IN, signatures_by_name
from portable.prediction.unused import is_refused_first
from portable.releases.capability import computed_everywhere

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from portable.artifact import ArtifactLike
    from portable.bytecode.operations import OpSignature
    from portable.containers.container import Container, Opener
    from portable.features import Analysis, Feature, RemovedForm
    from portable.inspection import Inspection
    from portable.prediction.walk import Visit
    from portable.version import Version

__all__ = ["RANGE", "Judged", "Subject", "examine", "subject_of", "subjects", "subjects_in"]

# Of targets of custom calls that patterns name.
_LONGEST_TARGET = 1000

RANGE = "file_line_col_range"
"""The location that readers before StableHLO 1.8.5 do not know."""

_MODULE = f"{BUILTIN}.module"
_KINDS = KINDS | {"custom_call"}
# What IREE computes of different numbers as it does of arguments, constant or not: of the ops of
# f64, f8 and complex numbers that 3.1.0, 3.8.0, 3.11.0 and 3.13.0 refuse, on 2026-12-01.
_KEPT = kinds(
    "atan2 cbrt cosine exponential exponential_minus_one log log_plus_one logistic power remainder"
    " rsqrt sine sqrt tan tanh"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """One artifact, as far as a prediction and a policy look into it.

    Args:
        claimed: The Version in the header, if it names one.
        format: The version of the bytecode format.
        required: The Version a reader must have; None when nothing is known to force one.
        features: What forces it.
        present: What occurs, as `op:vhlo.tan_v1`, `type:i4`, `dialect:sdy` or
            `location:file_line_col_range`.
        kinds: The kinds of `present` that were looked for; what is of another kind may be there.
        removed: Forms that newer readers do not know any more.
        forms: The forms of `portable.prediction.forms` that occur, or, with None, perhaps do.
        searched: The forms that were looked for; another may be there.
        unknown: What the tables do not know, which may be newer than them.
        custom_calls: The targets of custom calls.
        devices: For how many devices the module says that it is.
        provided_devices: How many devices every Consumer has; None where that is not known.
        signatures: What a compiler has to support, see `portable.prediction.signatures`, without
            what it removes before; None where only a header was read.
        unused: Those of them of which no op is used, and which some compilers refuse before they
            remove it.
        dropped: What it removes before, which few compilers refuse first.
        sheltered: Those of them, element by element, of which every op is computed from constants
            alone, or stands in a body that is applied to scalars: of what a compiler makes of it
            elsewhere, less is known.
        opener: Which Releases open the container that it is in; None for a plain artifact.
        unreadable: What no Release reads or survives; empty if nothing is known.
        member: Which Version of a bundle it belongs to; empty for what is in none.
    """

    claimed: Version | None
    format: int
    required: Version | None
    features: Sequence[Feature] = ()
    present: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    removed: Sequence[RemovedForm] = ()
    forms: Mapping[str, bool | None] = field(default_factory=dict)
    searched: AbstractSet[str] = frozenset()
    unknown: Sequence[str] = ()
    custom_calls: frozenset[str] = frozenset()
    devices: int = 1
    provided_devices: int | None = None
    signatures: frozenset[str] | None = None
    unused: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    sheltered: frozenset[str] = frozenset()
    opener: Opener | None = None
    unreadable: str = ""
    member: str = ""

    @classmethod
    def claim(cls, version: Version | None, format_: int, opener: Opener | None = None) -> Subject:
        """Return what a header alone says, taken at its word: that there is nothing else in it."""
        return cls(version, format_, version, kinds=_KINDS, searched=FORMS.keys(), opener=opener)

    def occurs(self, form: str) -> bool | None:
        """Say whether a form occurs; None for perhaps."""
        return self.forms.get(form, False if form in self.searched else None)

    def names(self, kind: str) -> frozenset[str]:
        """Return the names of one kind that occur."""
        return _names(self.present, kind)

    def called(self, patterns: Sequence[str]) -> frozenset[str]:
        """Return the targets of custom calls that patterns name.

        `*` alone names one of more than 1,000 characters: to compare it with each other pattern
        takes a time that grows with the product of their lengths.

        Args:
            patterns: As `my_lib.*`.
        """
        if "*" in patterns:
            return self.custom_calls
        short = (name for name in self.custom_calls if len(name) <= _LONGEST_TARGET)
        return frozenset(name for name in short if any(fnmatchcase(name, one) for one in patterns))

    def providing(self, patterns: Sequence[str], devices: int | None = None) -> Subject:
        """Return the same where every Consumer has what it needs beside the Release.

        Args:
            patterns: The targets of the custom calls that there are handlers of, as `my_lib.*`.
            devices: How many devices there are.
        """
        if devices is not None:
            return replace(self, provided_devices=devices).providing(patterns)
        provided = self.called(patterns)
        if not provided:
            return self
        return replace(
            self,
            custom_calls=self.custom_calls - provided,
            present=self.present - {f"custom_call:{name}" for name in provided},
            signatures=self.signatures and self.signatures - {f"{CALL} {n}" for n in provided},
        )

    @property
    def foreign(self) -> frozenset[str]:
        """The dialects outside StableHLO."""
        return self.names("dialect") - NATIVE_DIALECTS


# The same for every Consumer.
@functools.lru_cache(maxsize=64)
def _names(present: frozenset[str], kind: str) -> frozenset[str]:
    parted = (key.partition(":") for key in present)
    return frozenset(name for kind_, _, name in parted if kind_ == kind)


Judged: TypeAlias = "Subject | dict[str, Subject] | Inspection | ArtifactLike"


def subjects(what: Judged) -> dict[str, Subject]:
    """Read what predictions need to know of everything that is to be judged.

    Args:
        what: A path or bytes of an artifact or a container, an Artifact, an Entry of a container,
            an Inspection of any of these, or what is read already, alone or by name.

    Returns:
        For each artifact its name in the container, empty for a plain one, and what is in it.

    Raises:
        NotAnArtifact: It is something else.
        MalformedArtifact: The bytes of an artifact do not make sense.
        MalformedContainer: Those of a container do not.
        FileError: The path cannot be read.
    """
    if isinstance(what, dict):
        if not what or not all(isinstance(one, Subject) for one in what.values()):
            raise TypeError("a dictionary must have Subjects, by the names of artifacts")
        return what
    if isinstance(what, Subject):
        return {"": what}
    if isinstance(what, Artifact):
        return {"": examine(what)}
    from portable.containers import open_path
    from portable.inspection import Inspection

    source = what.source if isinstance(what, Inspection) else what
    return subjects_in(
        open_path(source if isinstance(source, (str, os.PathLike)) else bytes_of(source))
    )


def subjects_in(container: Container) -> dict[str, Subject]:
    """Read what predictions need to know of everything in what was opened.

    Args:
        container: The container.

    Returns:
        As `subjects`.

    Raises:
        PortableError: As `subjects`.
    """
    found = {}
    for entry in container.artifacts():
        where = place(container.path, entry.name) or None
        artifact = Artifact.from_bytes(entry.data, where=where)
        found[entry.name] = replace(examine(artifact), opener=entry.opener, member=entry.member)
    return found


# Forms are found once for each artifact and looked up once for each Consumer.
@functools.lru_cache(maxsize=1)
def examine(artifact: Artifact) -> Subject:
    """Read what predictions and policies need to know of an artifact.

    Args:
        artifact: The artifact.

    Returns:
        What is in it.

    Raises:
        MalformedArtifact: Its bytes do not make sense.
    """
    reading = Reading(read(artifact.data), artifact.data)
    return subject_of(reading, analyze(reading.content))


def subject_of(reading: Reading, analysis: Analysis) -> Subject:
    """Return what predictions and policies need to know of an artifact that is open.

    Args:
        reading: The artifact's ops; made before the analysis, so that they are read once.
        analysis: What it needs.

    Raises:
        MalformedArtifact: As `examine`.
    """
    # Before values are followed: what is kept of those would be there at the same time.
    unreadable = analysis.unreadable or mistyped(reading)
    calls = frozenset(reading.custom_calls())
    named = signatures_by_name(reading)
    forms = forms_in(reading)
    unused = _unused(reading, named)
    early = frozenset(filter(is_refused_first, unused))
    return Subject(
        claimed=reading.content.header.version,
        format=reading.content.header.format,
        required=analysis.required.version,
        features=analysis.required.features,
        present=reading.present | {f"custom_call:{name}" for name in calls},
        kinds=_KINDS,
        removed=analysis.removed,
        forms=forms,
        searched=FORMS.keys(),
        unknown=(*analysis.unknown, *sorted(reading.unread)),
        custom_calls=calls,
        devices=_devices(reading),
        signatures=frozenset(named) - (unused - early),
        unused=early,
        dropped=unused - early,
        sheltered=_sheltered(reading, named),
        unreadable=unreadable,
    )


def _devices(reading: Reading) -> int:
    """Return for how many devices a module says that it is."""
    counts = (
        math.prod(replicas_and_partitions(reading.content, reading.content.attributes_of(module)))
        for module in reading.of(_MODULE)
    )
    return max(counts, default=1)


def _unused(reading: Reading, named: Mapping[str, Sequence[OpSignature]]) -> frozenset[str]:
    """Return the op signatures of which no op is used, of those that not every Release computes."""
    doubtful = [name for name in named if not computed_everywhere(name)]
    called = f"{CALL} "
    return frozenset(
        name
        for name in doubtful
        if not name.startswith(called) and reading.used.isdisjoint(map(like, named[name]))
    )


def _sheltered(reading: Reading, named: Mapping[str, Sequence[OpSignature]]) -> frozenset[str]:
    """Return the op signatures that stand in constant expressions and in bodies alone."""
    plain = [
        name
        for name in named
        if f"vhlo.{name.partition(' ')[0]}" in ELEMENTWISE
        and IN not in name
        and not computed_everywhere(name)
    ]
    if not plain:
        return frozenset()
    whole = reading.whole  # what is given to a function may be constant
    walk, folded = whole.walk, whole.folded
    exposed = {
        like(visit.operation)
        for visit in walk
        if (visit.number not in folded or _is_kept(whole, visit))
        and not _is_applied(whole, walk.around[visit.number])
    }
    return frozenset(name for name in plain if exposed.isdisjoint(map(like, named[name])))


def _is_kept(reading: Reading, visit: Visit) -> bool:
    """Say whether an op of a constant of different numbers is left for other code."""
    return reading.kinds[visit.operation.name] in _KEPT and any(
        constant is not None and not is_one_number(reading, constant)
        for constant in map(visit.constant, visit.sources)
    )


def _is_applied(reading: Reading, around: int) -> bool:
    return around >= 0 and reading.kinds[reading.walk.head(around).name] in APPLYING
