"""Pin again what some consumers do not read: the originals stay, what is written lies elsewhere."""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from portable.containers.finding import NAMES
from portable.containers.opening import CONTAINERS, open_path
from portable.errors import PortableError
from portable.fleet.bundles import bundled
from portable.fleet.places import PlaceError, fetch, fetch_if_there, is_remote, store
from portable.fleet.subjects import read_subject
from portable.pinning import pipeline
from portable.pinning.repinning import pin_all
from portable.prediction import predict_all
from portable.releases import named_consumers
from portable.runtime.verification import verify
from portable.system import children, scratch
from portable.system.files import file_error, is_there
from portable.verdict import Stage, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from portable.artifact import Artifact
    from portable.containers.container import Entry
    from portable.pinning.options import PinOptions
    from portable.releases import Release
    from portable.runtime.executors import Tolerance

__all__ = ["CopyOutcome", "FleetCopy", "repin_all"]


class CopyOutcome(Enum):
    """The outcome for one object."""

    READ = "read as it is"
    WRITTEN = "written"
    THERE = "written before"
    FAILED = "not written"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class FleetCopy:
    """The outcome for one object, and the place of its copy.

    Args:
        place: The object.
        outcome: The outcome.
        to: The copy; empty where there is none.
        why: Why there is none that all consumers read.
    """

    place: str
    outcome: CopyOutcome
    to: str = ""
    why: str = ""

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON."""
        return {
            "place": self.place,
            "outcome": str(self.outcome),
            "to": self.to,
            "why": self.why,
        }


def repin_all(
    fleet: str | os.PathLike[str],
    *wants: str,
    to: str | os.PathLike[str] = "",
    suffix: str = "",
    verified: Tolerance | None = None,
    **options: Unpack[PinOptions],
) -> Iterator[FleetCopy]:
    """Pin again, one by one, the objects that consumers do not read or are not known to read.

    Nothing is overwritten: a copy of `s3://bucket/a.mlir.bc` is `TO/bucket/a.mlir.bc`, or beside
    it `s3://bucket/a.SUFFIX.mlir.bc`. One that is there from before, and that all of them read, is
    not made again.

    Args:
        fleet: What `audit` wrote.
        wants: The consumers, as for `portable.pin`.
        to: The folder for the copies, or a bucket with a prefix.
        suffix: What the copies are called where they lie beside the originals; instead of `to`.
        verified: What counts as the same when original and copy are executed, before the copy is
            written; None to execute neither.
        options: As for `portable.serialize`.

    Yields:
        Every object, in the order of the file.

    Raises:
        FleetError: It is not a fleet file.
        PortableError: The consumers cannot be understood.
    """
    if bool(os.fspath(to)) == bool(suffix) or not {"/", "\0"}.isdisjoint(suffix):
        raise PlaceError("either a place for the copies, or a suffix that is part of a name")
    releases = named_consumers(*wants).releases
    # Few of the subjects of a fleet differ.
    reads = functools.cache(functools.partial(_reads, releases))
    for bundle, rows in bundled(fleet):
        errors = [row.error for row in rows if row.error is not None]
        held = defaultdict[str | None, list[bool | None]](list)
        for row in rows:
            answer = None if row.subject is None or row.error else reads(row.subject)
            held[row.claimed if bundle else ""].append(answer)
        place = bundle or rows[0].place
        if errors:
            yield FleetCopy(place, CopyOutcome.FAILED, why=f"not read in the audit: {errors[0]}")
        elif any(worst(of_one) is True for of_one in held.values()):
            yield FleetCopy(place, CopyOutcome.READ)
        elif bundle:
            yield FleetCopy(place, CopyOutcome.FAILED, why=_BUNDLE)
        else:
            write = functools.partial(_write, wants, verified, options)
            yield _copy(place, releases, os.fspath(to), suffix, write)


def _reads(releases: tuple[Release, ...], subject: str) -> bool | None:
    verdicts = predict_all(read_subject(subject), releases)
    return worst(verdict.holds(Stage.DECODE) for verdict in verdicts)


def _refusal(file: Path, releases: tuple[Release, ...]) -> str:
    """Say who does not get through a file, or is not known to, and why; nothing if all do."""
    verdicts = predict_all(file, releases)
    held = worst(verdict.holds(Stage.DECODE) for verdict in verdicts)
    if held is True:
        return ""
    first = next(verdict for verdict in verdicts if verdict.holds(Stage.DECODE) is held)
    return f"{first.consumer}: {first.says}: {first.reason}"


_SAVED_MODEL = "/saved_model.pb"
_BUNDLE = "a bundle, of which they read no Version: write it again with one (portable bundle)"


def _copy(
    place: str,
    releases: tuple[Release, ...],
    to: str,
    suffix: str,
    write: Callable[[str | bytes, str], None],
) -> FleetCopy:
    path = place.removesuffix(_SAVED_MODEL)
    try:
        copy = _beside(path, suffix) if suffix else f"{to.rstrip('/') or '/'}/{_inside(path)}"
        if path != place and (is_remote(place) or is_remote(copy)):
            raise PlaceError("a SavedModel is a directory", hint="copy it to this machine")
        if not is_remote(copy) and is_there(copy):
            return _there(place, copy, Path(copy), releases)
        home = None if is_remote(copy) else _made(Path(copy).parent)
        with scratch.folder(home) as folder:
            file = Path(folder, "copy")
            if is_remote(copy) and (known := fetch_if_there(copy)) is not None:
                file.write_bytes(known)
                return _there(place, copy, file, releases)
            write(fetch(place) if is_remote(place) else path, str(file))
            if why := _refusal(file, releases):
                return FleetCopy(place, CopyOutcome.FAILED, why=f"pinned for them too, {why}")
            if is_remote(copy):
                store(copy, file.read_bytes())
            else:
                _put(file, copy)
    except PortableError as error:
        return FleetCopy(place, CopyOutcome.FAILED, why=str(error))
    except OSError as error:
        why = str(file_error("write", error, to or place))
        return FleetCopy(place, CopyOutcome.FAILED, why=why)
    return FleetCopy(place, CopyOutcome.WRITTEN, copy)


def _put(file: Path, copy: str) -> None:
    """Move what was written to its place, unless somebody has put something there meanwhile."""
    if not file.is_dir():
        try:
            os.link(file, copy)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            pass
        else:
            return
    file.rename(copy)  # a directory replaces only an empty one


def _beside(place: str, suffix: str) -> str:
    """Return the name of a copy in the same folder: its ending stays what it is."""
    endings = (pattern.removeprefix("*") for pattern in NAMES)
    ending = next((one for one in endings if place.endswith(one)), "")
    return f"{place.removesuffix(ending)}.{suffix}{ending}"


def _made(folder: Path) -> str:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error("write", error, folder) from error
    return str(folder)


def _inside(place: str) -> str:
    """Return where in a folder the copy of an object is: its bucket and its key."""
    parts = [part for part in place.partition("://")[2].split("/") or () if part]
    parts = parts or [part for part in place.split("/") if part]
    if not {".", ".."}.isdisjoint(parts):
        raise PlaceError("leads out of its folder", where=place, hint="audit it by another path")
    return "/".join(parts)


def _there(place: str, copy: str, file: Path, releases: tuple[Release, ...]) -> FleetCopy:
    """Judge a copy that was made before; what is no such copy is never written over."""
    if why := _refusal(file, releases):
        return FleetCopy(place, CopyOutcome.FAILED, why=f"{copy} is there: {why}")
    return FleetCopy(place, CopyOutcome.THERE, copy)


def _write(
    wants: tuple[str, ...],
    verified: Tolerance | None,
    options: PinOptions,
    source: str | bytes,
    to: str,
) -> None:
    container = open_path(source)
    entries = container.artifacts()
    limit = children.patience(sum(len(entry.data) for entry in entries))
    if container.kind in CONTAINERS:
        found = children.call(pin_all, source, *wants, timeout=limit, **options)
        artifacts = {name: one.artifact for name, one in found.pinned.items()}
        _demand_same(entries, artifacts, verified)
        found.write(container, to)
        return
    (entry,) = entries
    artifact = children.call(pipeline.pin, entry.data, *wants, timeout=limit, **options).artifact
    _demand_same(entries, {entry.name: artifact}, verified)
    artifact.save(to)


def _demand_same(
    entries: Iterable[Entry], artifacts: Mapping[str, Artifact], verified: Tolerance | None
) -> None:
    if verified is None:
        return
    for entry in entries:
        found = verify(entry.data, artifacts[entry.name], tolerance=verified)
        if not found.same:
            why = f"{found.verdict.says}: {found.verdict.reason}"
            raise PortableError(f"the copy is not the same: {why}", where=entry.name or None)
