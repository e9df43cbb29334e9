"""The package clients: uv, or venv and pip where uv is missing."""

from __future__ import annotations

import abc
import contextlib
import importlib.util
import re
import signal
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from portable.errors import PortableError
from portable.runtime.environments.interpreter import PythonMissing, find_python, find_uv
from portable.system import children, scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.runtime.environments.digests import Lock

__all__ = [
    "FREE_SPACE",
    "DigestMismatch",
    "EnvironmentFailed",
    "Installer",
    "PipInstaller",
    "ReleaseNotFound",
    "Unreachable",
    "UvInstaller",
    "ask_pip",
    "ask_uv",
    "download",
    "find_installer",
    "find_uv",
]

# The largest wheels are over a gigabyte.
_LIMIT_S = 3600


class EnvironmentFailed(PortableError):
    """An environment could not be made."""


class DigestMismatch(EnvironmentFailed):
    """A file of a Release is not the one that the package index had when it was recorded."""


class ReleaseNotFound(EnvironmentFailed):
    """The package index has no such version, or no wheel of it for this Python and machine."""


class Unreachable(EnvironmentFailed):
    """The package index cannot or must not be reached, and the files are not in the cache."""


FREE_SPACE = (
    "free some space: `portable env prune --keep SIZE` removes the environments that were not"
    " used for longest, `portable env list` shows sizes"
)

# What the clients print, and what it means. Order matters: an unreachable index also has no match.
_MEANINGS: tuple[tuple[str, type[EnvironmentFailed], str], ...] = (
    ("no space left", EnvironmentFailed, FREE_SPACE),
    ("quota exceeded", EnvironmentFailed, FREE_SPACE),
    ("file too large", EnvironmentFailed, FREE_SPACE),
    ("file size limit", EnvironmentFailed, FREE_SPACE),
    ("network was disabled", Unreachable, "run once with PORTABLE_OFFLINE unset"),
    ("connection", Unreachable, "check the network, or set PORTABLE_OFFLINE=1 to use what is here"),
    ("failed to fetch", Unreachable, "check the network, or set PORTABLE_OFFLINE=1"),
    ("dns error", Unreachable, "check the network, or set PORTABLE_OFFLINE=1"),
    ("no matching distribution", ReleaseNotFound, "check the version and the Python it needs"),
    ("no solution found", ReleaseNotFound, "check the version and the Python it needs"),
    ("not found in the package registry", ReleaseNotFound, "check the name"),
)


@dataclass(frozen=True, slots=True)
class Installer(abc.ABC):
    """Makes an environment and installs into it.

    Args:
        offline: Whether the network must not be used.
    """

    name: ClassVar[str]
    """The name of the client."""

    offline: bool = False

    @abc.abstractmethod
    def create(self, directory: Path, python: str) -> None:
        """Make an empty environment with a Python of this version."""

    @abc.abstractmethod
    def _command(self, python: Path) -> list[str]:
        """Return what installs wheels for an interpreter, without the requirements."""

    def install(
        self,
        directory: Path,
        requirements: Sequence[str],
        *,
        dependencies: bool,
        digests: Lock | None = None,
    ) -> None:
        """Install requirements, with or without what they depend on.

        Args:
            directory: The environment.
            requirements: What to install.
            dependencies: Whether to install what they depend on too.
            digests: The sha256 that the file of each may have, all pinned; None for any.
        """
        command = self._command(directory.absolute() / "bin" / "python")
        command += [] if dependencies else ["--no-deps"]
        with _named(requirements, digests) as named:
            _act(["program", *command, *named], requirements[-1], digests)


@dataclass(frozen=True, slots=True)
class UvInstaller(Installer):
    """uv: files are hard-linked from its cache."""

    name: ClassVar[str] = "uv"
    uv: str = "uv"

    def create(self, directory: Path, python: str) -> None:
        """Make an empty environment with a Python of this version."""
        found = str(find_python(python, fetch=not self.offline))
        where = str(directory.absolute())
        _act(["program", self.uv, "venv", "-q", "--no-project", "-p", found, where])

    def _command(self, python: Path) -> list[str]:
        offline = ["--offline"] if self.offline else []
        return [self.uv, "pip", "install", "-q", "-p", str(python), "--no-build", *offline]


@dataclass(frozen=True, slots=True)
class PipInstaller(Installer):
    """The standard library's venv, and pip."""

    name: ClassVar[str] = "pip"

    def create(self, directory: Path, python: str) -> None:
        """Make an empty environment with a Python of this version."""
        found = str(find_python(python, with_pip=True, fetch=not self.offline))
        where = directory.absolute()
        _act(["program", found, "-I", "-m", "venv", "--without-pip", str(where)])
        # By itself it says why it fails; `venv` hides that.
        pip = ["-I", "-m", "ensurepip", "--upgrade", "--default-pip"]
        _act(["program", str(where / "bin" / "python"), *pip], str(where))

    def _command(self, python: Path) -> list[str]:
        if self.offline:
            raise Unreachable(
                "pip does not install from its cache without the network",
                hint="install uv, or run once with PORTABLE_OFFLINE unset",
            )
        return [str(python), "-I", "-m", "pip", "install", "-q", "--only-binary", ":all:"]


def find_installer(*, offline: bool) -> Installer:
    """Choose uv where there is one, else venv and pip.

    Args:
        offline: Whether the network must not be used.

    Returns:
        The installer.
    """
    uv = find_uv()
    return PipInstaller(offline) if uv is None else UvInstaller(offline, uv=uv)


def download(
    requirement: str,
    python: str,
    directory: Path,
    *,
    offline: bool,
    digests: Lock | None = None,
    options: Sequence[str] = (),
) -> Path:
    """Fetch the wheel of a pinned requirement without installing it.

    pip does it in every case: uv has no download, and installing would unpack a gigabyte.

    Args:
        requirement: As `tensorflow==2.16.2`.
        python: The Python the wheel is for, as `3.11`.
        directory: Where to put it.
        offline: Whether the network must not be used.
        digests: The sha256 that it may have; None for any.
        options: More options of pip, as `--platform`.

    Returns:
        The wheel.

    Raises:
        DigestMismatch: Its sha256 is none of them.
        EnvironmentFailed: It is not available.
    """
    if offline:
        raise Unreachable(
            f"{requirement} is not in the cache", hint="run once with PORTABLE_OFFLINE unset"
        )
    fixed = ["-q", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"]
    where = [*options, "--python-version", python, "-d", str(directory.absolute())]
    with _named([requirement], digests) as named:
        _act(_pip("download", *fixed, *where, *named), requirement, digests)
    wheels = sorted(directory.glob("*.whl"))
    if not wheels:
        raise ReleaseNotFound(f"{requirement} has no wheel for Python {python}")
    return wheels[0]


def ask_pip(*arguments: str, subject: str) -> str:
    """Run pip, and return what it prints.

    Args:
        arguments: Its command line.
        subject: What it is asked about, for errors.

    Raises:
        EnvironmentFailed: It fails.
    """
    return _act(_pip(*arguments), subject)


def ask_uv(*arguments: str, subject: str) -> str:
    """Run uv, and return what it prints; as `ask_pip`."""
    uv = find_uv()
    if uv is None:
        raise EnvironmentFailed("uv is needed to look up wheels", hint="python -m pip install uv")
    return _act(["program", uv, *arguments], subject)


def _pip(*arguments: str) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return children.module("pip", *arguments)
    return ["program", str(_python_with_pip()), "-I", "-m", "pip", *arguments]


@cache
def _python_with_pip() -> Path:
    """Find a Python that has pip; which does not matter: the wheel's is on pip's command line."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    for version in dict.fromkeys((running, "3.13", "3.12", "3.11")):
        try:
            found = find_python(version, with_pip=True)
        except PythonMissing:
            continue
        asked = ["program", str(found), "-I", "-m", "pip", "--version"]
        if children.run(asked, timeout=_LIMIT_S).returncode == 0:
            return found
    raise EnvironmentFailed("pip not found, which downloads wheels", hint="install pip")


@contextlib.contextmanager
def _named(requirements: Sequence[str], digests: Lock | None) -> Iterator[list[str]]:
    """Yield the words that name requirements, held to digests where there are some."""
    if not digests:
        yield [*requirements]
        return
    with scratch.folder() as folder:
        path = Path(folder, "requirements.txt")
        for requirement in requirements:
            hashes = " ".join(f"--hash=sha256:{one}" for one in digests[requirement])
            with path.open("a", encoding="utf-8") as stream:
                stream.write(f"{requirement} {hashes}\n")
        yield ["--require-hashes", "-r", str(path)]


def _act(action: list[str], subject: str = "", digests: Lock | None = None) -> str:
    environment = {
        **children.variables(*children.CLIENTS),
        "UV_PYTHON_DOWNLOADS": "never",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    try:
        # What a client leaves that is killed is swept with the folder.
        with scratch.folder() as temporary:
            environment["TMPDIR"] = temporary
            done = children.run(action, timeout=_LIMIT_S, environment=environment)
    except OSError as error:
        raise EnvironmentFailed(f"cannot run {action[1]}: {error.strerror}") from error
    except children.ChildFailed as lost:
        raise EnvironmentFailed(str(lost)) from lost
    if done.returncode:
        # One that a signal ended says nothing.
        said = done.stderr or done.stdout or signal.strsignal(max(0, -done.returncode)) or ""
        raise _failure(subject or action[-1], said, digests)
    return done.stdout


def _failure(subject: str, said: str, digests: Lock | None) -> EnvironmentFailed:
    lowered = said.lower()
    subject = next((one for one in digests or () if one in said), subject)
    recorded = (digests or {}).get(subject, ())
    others = [one for one in re.findall(r"\b[0-9a-f]{64}\b", lowered) if one not in recorded]
    if others and recorded:
        return DigestMismatch(
            f"refused {subject}: the index has sha256 {others[-1]}, recorded is {recorded[0]}"
            + (f" or {len(recorded) - 1} others" if recorded[1:] else ""),
            hint="check which package index is configured",
        )
    # uv draws its errors as a tree.
    plain = (re.sub(r"^\W+", "", line).strip() for line in said.splitlines())
    last = " ".join([line for line in plain if line][-3:])[:400]
    for phrase, kind, hint in _MEANINGS:
        if phrase in lowered:
            return kind(f"cannot install {subject}: {last}", hint=hint)
    return EnvironmentFailed(f"cannot install {subject}: {last}")
