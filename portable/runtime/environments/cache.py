"""The folder of environments: made on demand, reused, checked, locked, cleared."""

from __future__ import annotations

import contextlib
import enum
import errno
import fcntl
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.runtime.environments.digests import lock, wheel_for, wheels
from portable.runtime.environments.installer import FREE_SPACE, EnvironmentFailed, find_installer
from portable.runtime.environments.interpreter import PythonMissing, find_python
from portable.runtime.environments.recipe import Recipe, Shipped
from portable.runtime.environments.wheel import (
    broken_files,
    installed_files,
    keep_from_wheel,
    recorded,
)
from portable.system.documents import demand_form, parse_json
from portable.system.files import read_file, write_file
from portable.system.holding import open_lock
from portable.system.places import cache_folder, demand_own
from portable.system.trees import remove_tree, walk
from portable.system.worker import LIMIT_S, Driver, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from portable.runtime.environments.installer import Installer

__all__ = [
    "Download",
    "Environment",
    "EnvironmentBusy",
    "EnvironmentMissing",
    "Environments",
    "Phase",
]

# A wheel over this size is reported before it is downloaded.
LARGE_BYTES = 500_000_000

_MARKER = "portable-environment.json"
_SCHEMA = 1
_LOCKS = ".locks"
_POLL_S = 0.2


class EnvironmentBusy(PortableError):
    """Another run uses the environment and did not release it in time."""


class EnvironmentMissing(PortableError):
    """The environment is not in the cache."""


class Phase(enum.Enum):
    """The current step for an environment, for progress bars."""

    WAITING = "waiting for another run"
    CREATING = "creating"
    INSTALLING = "installing"
    FETCHING = "fetching the wheel"
    UNPROVEN = "made without digests; making it again"
    UNVERIFIED = "not verified: no digest of it is recorded"
    UNLOCKED = "dependencies not verified: no digests of them are recorded"
    READY = "ready"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Download:
    """A large wheel will be downloaded, unless the package client has it."""

    size: int

    def __str__(self) -> str:
        return f"fetching up to {self.size / 1e6:.0f} MB"


@dataclass(frozen=True, slots=True)
class Environment:
    """One Release, installed.

    Args:
        recipe: What is installed.
        directory: Where.
        python: The interpreter to run it on.
        library: The one file that was kept out of the wheel; None where the wheel is installed.
        wheel: File name of the wheel, where it is known.
        sha256: Digest of the wheel, where it is known.
    """

    recipe: Recipe
    directory: Path
    python: Path
    library: Path | None = None
    wheel: str = ""
    sha256: str = ""

    @property
    def name(self) -> str:
        """The name of the environment: `jaxlib-0.4.33`."""
        return self.recipe.name

    @property
    def consumer(self) -> str:
        """The Release as Verdicts name it: `jaxlib 0.4.33`."""
        return f"{self.recipe.distribution} {self.recipe.version}"

    @property
    def last_used(self) -> float:
        """When it was last used, in seconds since the epoch."""
        return (self.directory / _MARKER).stat().st_mtime

    def size(self) -> int:
        """Return the bytes that removing it would free: files shared with a cache do not count."""
        return _size(self.directory)

    def worker(self, *, limit: float = LIMIT_S, memory: int | None = None) -> Worker:
        """Return a worker for this Release; nothing is started yet.

        From its first job until it is closed, the environment is not removed.

        Args:
            limit: Seconds that one job may take.
            memory: The memory limit of its process in bytes, if not the default.
        """
        return Worker(
            self.python,
            self.recipe.driver,
            library=self.library or "",
            limit=limit,
            memory=memory,
            lock=self.directory.parent / _LOCKS / self.name,
        )


class Environments:
    """A folder of environments.

    Args:
        directory: The folder; by default `PORTABLE_CACHE`, else `stablehlo-portable` in the
            user's cache folder.
        offline: Whether the network must not be used; by default whether `PORTABLE_OFFLINE` is
            set to anything but 0.
        installer: The package client; by default uv, else pip.
        progress: Called with the environment's name whenever something slow begins or ends,
            and before something large is fetched.
        patience: Seconds to wait for another run that makes the same environment.
        require_hashes: Whether a Release is refused that has no recorded digest, or dependencies
            without; by default whether `PORTABLE_REQUIRE_HASHES` is set to anything but 0.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        offline: bool | None = None,
        installer: Installer | None = None,
        progress: Callable[[str, Phase | Download], None] | None = None,
        patience: float = 1800.0,
        require_hashes: bool | None = None,
    ) -> None:
        # Absolute, since children start elsewhere.
        self.directory = Path(directory or Path(cache_folder(), "environments")).absolute()
        self.offline = _wanted("PORTABLE_OFFLINE") if offline is None else offline
        self.require_hashes = require_hashes or _wanted("PORTABLE_REQUIRE_HASHES")
        self._installer = installer
        self._progress = progress or _silent
        self._patience = patience

    def get(self, release: Shipped, *, to_execute: bool = False) -> Environment:
        """Return the environment of a Release; make it if it is missing or broken.

        Args:
            release: Which.
            to_execute: Whether it must execute programs, not only read artifacts.

        Returns:
            The environment, ready.

        Raises:
            UnsupportedDistribution: There is no way to run it here.
            PythonMissing: Its Python is not on this machine.
            EnvironmentFailed: It cannot be installed.
            EnvironmentBusy: Another run holds it for too long.
            ForeignCache: Another user could change what it executes.
        """
        recipe = Recipe.of(release, to_execute=to_execute)
        self._demand_own(recipe.name)
        for what, _ in _unverified(recipe) if self.require_hashes else ():
            raise EnvironmentFailed(
                f"no digest of {what} is recorded",
                hint="install it without --require-hashes and PORTABLE_REQUIRE_HASHES",
            )
        found = self._ready(recipe)
        if found is not None:
            return found
        if self.require_hashes and self._whole(recipe):
            self._progress(recipe.name, Phase.UNPROVEN)
        self._sweep()
        with self._locked(recipe.name):
            # Another run may have made it while this one waited.
            found = self._ready(recipe) or self._make(recipe)
        self._progress(recipe.name, Phase.READY)
        return found

    def find(self, name: str) -> Environment:
        """Return an environment that is in the cache.

        Args:
            name: As `jaxlib-0.4.33`.

        Raises:
            EnvironmentMissing: It is not there, or broken.
            ForeignCache: As `get`.
        """
        self._demand_own(name)
        for environment in self.all():
            if environment.name == name:
                return environment
        raise EnvironmentMissing(f"no environment {name}", hint="see `portable env list`")

    def all(self) -> tuple[Environment, ...]:
        """Return every complete environment of the cache, by name."""
        found = (_load(folder) for folder in self._folders())
        return tuple(environment for environment in found if environment is not None)

    def broken(self) -> tuple[str, ...]:
        """Return the names of environments in the cache that are incomplete or being made."""
        whole = {environment.directory for environment in self.all()}
        return tuple(folder.name for folder in self._folders() if folder not in whole)

    def clear(self, names: Iterable[str] | None = None, *, unused_for: float = 0.0) -> list[str]:
        """Remove environments, also broken ones; those that are being made stay.

        Args:
            names: Which; by default all.
            unused_for: Only those not used for this many seconds.

        Returns:
            The names that were removed.
        """
        wanted = None if names is None else set(names)
        removed = []
        for folder in self._folders():
            if wanted is not None and folder.name not in wanted:
                continue
            if unused_for and time.time() - _used(folder) < unused_for:
                continue
            if self._remove(folder):
                removed.append(folder.name)
        return removed

    def prune(self, keep: int) -> tuple[dict[str, int], int]:
        """Remove broken environments, then the least recently used until the rest is small enough.

        Environments that another run makes or removes stay.

        Args:
            keep: How many bytes may stay.

        Returns:
            What was removed, with the bytes that it freed; and the bytes that are left.
        """
        sizes = {folder: _size(folder) for folder in self._folders()}
        left, removed = sum(sizes.values()), {}
        for folder in sorted(sizes, key=_used):
            if left > keep and self._remove(folder):
                removed[folder.name] = sizes[folder]
                left -= sizes[folder]
        return removed, left

    def _demand_own(self, name: str) -> None:
        """Refuse an environment in which somebody else could have put what is executed."""
        folder = self.directory / name
        demand_own(self.directory.parent, self.directory, self.directory / _LOCKS, folder)
        demand_own(folder / _MARKER, folder / "bin", folder / "pyvenv.cfg")

    def _folders(self) -> list[Path]:
        """Return what is in the cache, whole or not, by name."""
        found = self.directory.iterdir() if self.directory.is_dir() else ()
        return sorted(folder for folder in found if not folder.name.startswith("."))

    def _remove(self, folder: Path) -> bool:
        """Remove an environment, unless another run holds it; say whether it is gone."""
        with contextlib.suppress(EnvironmentBusy), self._locked(folder.name, patience=0.0):
            remove_tree(folder)
            return not folder.exists()
        return False

    def _ready(self, recipe: Recipe) -> Environment | None:
        """Return an environment that is whole and, where required, was verified."""
        environment = self._whole(recipe)
        if environment is None or (self.require_hashes and not _proven(environment)):
            return None
        marker = environment.directory / _MARKER
        # In a cache that is only read it is not noted when an environment was used.
        with contextlib.suppress(OSError):
            os.utime(marker)
        return environment if marker.exists() else None  # another run may be removing it

    def _whole(self, recipe: Recipe) -> Environment | None:
        folder = self.directory / recipe.name
        environment = _load(folder)
        whole = environment is not None and environment.recipe == recipe
        return environment if whole and not broken_files(folder, _files(folder)) else None

    def _sweep(self) -> None:
        """Remove what a killed run left half made; what is being made is left alone."""
        for name in self.broken():
            with contextlib.suppress(EnvironmentBusy), self._locked(name, patience=0.0):
                if _load(self.directory / name) is None:
                    remove_tree(self.directory / name)

    def _make(self, recipe: Recipe) -> Environment:
        folder = self.directory / recipe.name
        remove_tree(folder)
        for _, phase in _unverified(recipe):
            self._progress(recipe.name, phase)
        wheel = wheel_for(recipe.distribution, recipe.version, recipe.python)
        if wheel is not None and wheel.size > LARGE_BYTES and not self.offline:
            self._progress(recipe.name, Download(wheel.size))
        try:
            environment = self._kept(recipe, folder) if recipe.keep else self._full(recipe, folder)
            _mark(environment)
        except OSError as error:
            remove_tree(folder)
            raise _failure(f"cannot make {recipe.name}", error) from error
        except PortableError:
            remove_tree(folder)
            raise
        return environment

    def _full(self, recipe: Recipe, folder: Path) -> Environment:
        installer = self._installer or find_installer(offline=self.offline)
        self._progress(recipe.name, Phase.CREATING)
        installer.create(folder, recipe.python)
        self._progress(recipe.name, Phase.INSTALLING)
        digests = recorded(recipe)
        installer.install(folder, [recipe.requirement], dependencies=False, digests=digests)
        locked = lock(recipe.python, recipe.also)
        if locked:
            installer.install(folder, [*locked], dependencies=False, digests=locked)
        elif recipe.also:
            installer.install(folder, recipe.also, dependencies=True)
        return Environment(recipe, folder, folder / "bin" / "python")

    def _kept(self, recipe: Recipe, folder: Path) -> Environment:
        self._progress(recipe.name, Phase.FETCHING)
        return Environment(recipe, folder, *keep_from_wheel(recipe, folder, offline=self.offline))

    @contextlib.contextmanager
    def _locked(self, name: str, *, patience: float | None = None) -> Iterator[None]:
        """Hold the lock of one environment; the kernel lets go of it when the process ends."""
        locks = self.directory / _LOCKS
        try:
            locks.mkdir(parents=True, exist_ok=True)
            handle = open_lock(locks / name)
        except OSError as error:
            raise _failure(f"cannot use {self.directory}", error, "set PORTABLE_CACHE") from error
        try:
            self._wait_for(handle, name, self._patience if patience is None else patience)
            yield
        finally:
            os.close(handle)

    def _wait_for(self, descriptor: int, name: str, patience: float) -> None:
        deadline = time.monotonic() + patience
        told = False
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            if time.monotonic() >= deadline:
                raise EnvironmentBusy(f"{name} is in use by another run", hint="try again later")
            if not told:
                self._progress(name, Phase.WAITING)
                told = True
            time.sleep(_POLL_S)


def _size(folder: Path) -> int:
    found = 0
    with contextlib.suppress(FileNotFoundError):  # another run may be removing it
        for one in walk(folder):
            if not one.is_folder and (stat := os.lstat(one.path)).st_nlink == 1:
                found += stat.st_size
    return found


def _silent(name: str, phase: Phase | Download) -> None:
    del name, phase


def _unverified(recipe: Recipe) -> Iterator[tuple[str, Phase]]:
    """Yield what would be installed without a recorded digest, and the message for it."""
    if not wheels(recipe.distribution, recipe.version):
        yield recipe.requirement, Phase.UNVERIFIED
    if recipe.also and not lock(recipe.python, recipe.also):
        yield f"the dependencies of {recipe.requirement}", Phase.UNLOCKED


def _failure(what: str, error: OSError, hint: str = "") -> EnvironmentFailed:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    return EnvironmentFailed(f"{what}: {error.strerror}", hint=FREE_SPACE if full else hint)


def _wanted(variable: str) -> bool:
    return os.environ.get(variable, "0") not in {"", "0"}


def _mark(environment: Environment) -> None:
    """Write the marker, last of all: an environment without it was never finished."""
    folder = environment.directory
    record = {
        "schema": _SCHEMA,
        "recipe": environment.recipe.record(),
        "python": str(environment.python),
        "library": None if environment.library is None else str(environment.library),
        "wheel": environment.wheel,
        "sha256": environment.sha256,
        # Every file of it was compared with a digest.
        "verified": not [*_unverified(environment.recipe)],
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "files": installed_files(folder, environment.recipe, environment.library),
    }
    write_file(folder / _MARKER, json.dumps(record, indent=1).encode())


def _proven(environment: Environment) -> bool:
    """Return whether what was installed had the digests that are recorded now."""
    record = _marker(environment.directory) or {}
    recipe = environment.recipe
    if not recipe.keep:
        return record.get("verified") is True
    known = wheels(recipe.distribution, recipe.version)
    return any(wheel.sha256 == environment.sha256 for wheel in known)


def _load(folder: Path) -> Environment | None:
    record = _marker(folder)
    if record is None:
        return None
    try:
        fields = record["recipe"]
        recipe = Recipe(
            fields["distribution"],
            fields["version"],
            fields["python"],
            Driver(fields["driver"]),
            tuple(fields["also"]),
            tuple(fields["keep"]),
            fields.get("whole", False),
            fields.get("platform", "cpu"),
        )
        library = None if record["library"] is None else Path(record["library"])
        python = Path(record["python"])
        if library is not None and not python.exists():
            python = find_python(recipe.python)
        return Environment(recipe, folder, python, library, record["wheel"], record["sha256"])
    except (ValueError, PythonMissing):
        return None


_MAYBE = frozenset({str, type(None)})
_FORM = {
    **dict.fromkeys(("python", "wheel", "sha256"), str),
    "library": _MAYBE,
    "recipe": {
        **dict.fromkeys(("distribution", "version", "python", "driver"), str),
        "also": [str],
        "keep": [str],
        "whole?": bool,
        "platform?": str,
    },
    "files?": {"*": int},
}


def _marker(folder: Path) -> dict[str, Any] | None:
    """Return what the marker of an environment says; None where it has another form."""
    try:
        record: dict[str, Any] = parse_json(read_file(folder / _MARKER))
        demand_form(record, _FORM)
    except (PortableError, ValueError):
        return None
    return record if record.get("schema") == _SCHEMA else None


def _files(folder: Path) -> dict[str, int]:
    record = _marker(folder) or {}
    files: dict[str, int] = record.get("files", {})
    return files


def _used(folder: Path) -> float:
    try:
        return (folder / _MARKER).stat().st_mtime
    except OSError:
        return 0.0
