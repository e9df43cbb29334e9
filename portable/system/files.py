"""Files and streams: one way to read an input, one way to write an output.

An input is a regular file, or a stream that the user names: `/dev/stdin`, `/dev/fd/N` (what a shell
makes of `<(...)`), `/dev/null`. Nothing else is ever opened: a FIFO may wait for ever, `/dev/zero`
does not end, and opening some devices does something to them.

An output is a new or a regular file, which is replaced atomically, or a named stream. A symbolic
link is refused: whether it or what it leads to should be replaced would be a guess.

Files are read with `pread`, never mapped: a mapped file that somebody truncates kills the process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.system.beneath import demand_beneath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO

__all__ = [
    "FileError",
    "InputFile",
    "demand_new_directory",
    "demand_output",
    "demand_room",
    "file_error",
    "is_file",
    "is_folder",
    "is_special",
    "is_stdout",
    "is_there",
    "new_directory",
    "read_file",
    "umask",
    "write_file",
    "write_through",
]

_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/")
_CHUNK = 8 << 20
_MANY = 256 << 20
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFLNK: "a symbolic link",
}


class FileError(PortableError):
    """A file cannot be read or written."""


def is_file(path: str | os.PathLike[str]) -> bool:
    """Say whether there is such a file: none of a name that is too long, for which Path raises."""
    return os.path.isfile(path)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Say whether there is such a folder, as `is_file`."""
    return os.path.isdir(path)


def is_there(path: str | os.PathLike[str]) -> bool:
    """Say whether there is anything of that name, a FIFO or a broken link too; as `is_file`."""
    return os.path.lexists(path)


def is_special(path: str | os.PathLike[str]) -> bool:
    """Say whether a path names a stream of this process, as `/dev/stdin` does, or `/dev/null`."""
    name = os.fspath(path)
    return name == os.devnull or _descriptor(name) is not None


def _descriptor(path: str) -> int | None:
    if path in _STANDARD:
        return _STANDARD[path]
    for before in _DESCRIPTORS:
        number = path.removeprefix(before)
        if number != path and number.isascii() and number.isdigit() and len(number) < 10:
            return int(number)
    return None


def is_stdout(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is a name of standard output."""
    return _descriptor(os.fspath(path)) == 1


class InputFile:
    """A regular file that is open for reading; slices of it are read on first use.

    Args:
        path: The file.
        within: A folder that it has to lie beneath, as `beneath.place_of` names it; empty for none.
        folder: The folder that it lies in, opened, of which it is no link; None to follow the path.

    Attributes:
        path: The file.
        identity: Device, inode, size and time of change: what makes it this file and no other.

    Raises:
        FileError: It is missing, unreadable, no regular file, or not beneath the folder.
    """

    __slots__ = ("_handle", "identity", "path")

    def __init__(
        self, path: str | os.PathLike[str], within: str = "", folder: int | None = None
    ) -> None:
        self._handle = -1
        self.path = os.fspath(path)
        name, flags = self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        if folder is not None:
            name, flags = name.rpartition("/")[2], flags | os.O_NOFOLLOW
        try:
            # Before it is opened, because opening a device may do something to it; and after,
            # because it may have become something else.
            status = os.stat(name, dir_fd=folder, follow_symlinks=folder is None)
            _demand_regular(status.st_mode, self.path)  # thousands of files
            self._handle = os.open(name, flags, dir_fd=folder)
            demand_beneath(self._handle, within)
            status = os.fstat(self._handle)
        except (OSError, ValueError) as error:  # an embedded NUL is a ValueError
            raise file_error("read", error, path) from error
        _demand_regular(status.st_mode, self.path)
        self.identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def __len__(self) -> int:
        return self.identity[2]

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(len(self))
        return self.read(start, stop)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return some of the bytes, all of them by default.

        Raises:
            FileError: They cannot be read, or the file has been cut short.
        """
        size = max(0, (len(self) if stop is None else stop) - start)
        try:
            demand_room(size)
            data = os.pread(self._handle, size, start)
            while len(data) < size:  # one call reads at most 2 GB
                more = os.pread(self._handle, size - len(data), start + len(data))
                if not more:
                    raise OSError(None, "the file was truncated while it was read")
                data += more
        except (OSError, MemoryError) as error:
            raise file_error("read", error, self.path) from error
        return data

    def sha256(self) -> str:
        """Return the SHA-256 of the whole file in hexadecimal, read piece by piece.

        Raises:
            FileError: It cannot be read.
        """
        from hashlib import file_digest  # loads OpenSSL

        try:
            with open(self._handle, "rb", buffering=0, closefd=False) as stream:
                stream.seek(0)
                return file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise file_error("read", error, self.path) from error

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._handle

    def __del__(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)


def read_file(path: str | os.PathLike[str], size: int = -1) -> bytes:
    """Read a whole file, or its beginning.

    Args:
        path: A regular file, or a stream by its name.
        size: How many bytes at most; all of them by default.

    Returns:
        Its bytes.

    Raises:
        FileError: It is missing, a directory or something else that is no file, or unreadable.
    """
    name = os.fspath(path)
    descriptor = _descriptor(name)
    if descriptor is not None:
        return _read_stream(descriptor, size, name)
    if name == os.devnull:
        return b""
    file = InputFile(path)
    return file.read(0, len(file) if size < 0 else min(size, len(file)))


def _read_stream(descriptor: int, size: int, name: str) -> bytes:
    found = bytearray()
    try:
        while size < 0 or len(found) < size:
            more = os.read(descriptor, _CHUNK if size < 0 else size - len(found))
            if not more:
                break
            found += more
            demand_room(len(found))
    except (OSError, MemoryError) as error:
        raise file_error("read", error, name) from error
    return bytes(found)


def _demand_regular(mode: int, path: str) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "Is a directory")
    raise FileError(
        f"cannot read: is {_KINDS.get(stat.S_IFMT(mode), 'no file')}, not a regular file",
        where=path,
        hint="for a stream use -, /dev/stdin or <(...)",
    )


def demand_room(size: int) -> None:
    """Refuse to read what cannot fit: a sparse file, or a server, may name any size.

    Args:
        size: How many bytes are read at once.

    Raises:
        OSError: They are more than half of the memory.
    """
    if size > _MANY:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if size > memory // 2:
            raise OSError(
                None, f"{size} bytes are more than half of the memory of this machine ({memory})"
            )


def demand_output(path: str | os.PathLike[str], *inputs: str | os.PathLike[str]) -> None:
    """Refuse an output that cannot be written to, or that is an input.

    Args:
        path: The output: a file or a named stream.
        inputs: What is read; paths, streams, or `-` for standard input.

    Raises:
        FileError: It is one of the inputs (also through links), no place for a file, or a special
            file. Nothing was written.
    """
    name = os.fspath(path)
    try:
        if is_special(name):
            return
        replaced = _replaceable(name)
        if replaced is None:
            _demand_folder(os.path.dirname(name) or ".")
            return
        for one in inputs:
            status = _status(os.fspath(one))
            if status is not None and os.path.samestat(status, replaced):
                raise FileError("destination is the input", where=name, hint="choose another path")
    except (OSError, ValueError) as error:
        raise file_error("write", error, path) from error


def _demand_folder(folder: str) -> None:
    """Raise what the operating system will say when a file is made there."""
    if not stat.S_ISDIR(os.stat(folder).st_mode):
        raise NotADirectoryError(20, "Not a directory")
    if not os.access(folder, os.W_OK | os.X_OK):
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        raise PermissionError(13, "Permission denied")


def _status(path: str) -> os.stat_result | None:
    """Return what an input is; None when it is not there, which reading it will say."""
    descriptor = 0 if path == "-" else _descriptor(path)
    try:
        return os.stat(path if descriptor is None else descriptor)  # descriptors too
    except (OSError, ValueError):
        return None


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file atomically: temporary file beside it, fsync, rename.

    Either the new content is there completely, or the old file is as it was. A named stream is
    written to as it is.

    Args:
        path: The file; it is replaced if it exists.
        data: Its new content.

    Raises:
        FileError: It cannot be written, or is something else than a regular file or a named stream.
    """

    def write(stream: FileIO) -> None:
        rest = memoryview(data)
        while rest:  # one call writes at most 2 GB
            rest = rest[stream.write(rest) :]

    write_through(path, write)


def write_through(path: str | os.PathLike[str], write: Callable[[FileIO], object]) -> None:
    """Write a file atomically, as `write_file`, piece by piece.

    Args:
        path: The file; it is replaced if it exists.
        write: Writes the new content into the unbuffered stream that it is given.

    Raises:
        FileError: It cannot be written; the old file is as it was, also when `write` raises.
    """
    from pathlib import Path

    from portable.system import scratch

    name = os.fspath(path)
    temporary = None
    try:
        if is_special(name):
            _write_stream(name, write)
            return
        where, replaced = Path(path), _replaceable(name)
        mode = 0o666 & ~umask() if replaced is None else replaced.st_mode & 0o777
        handle, temporary = scratch.make_file(str(where.parent))
        with open(handle, "wb", buffering=0) as stream:  # an open descriptor
            write(stream)
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
            # While it is open: until then it is not taken for a leftover.
            Path(temporary).replace(where)
    except (OSError, ValueError) as error:
        raise file_error("write", error, path) from error
    finally:
        if temporary is not None:
            scratch.remove_file(temporary)


def _write_stream(path: str, write: Callable[[FileIO], object]) -> None:
    descriptor = _descriptor(path)
    opened = path if descriptor is None else descriptor
    with open(opened, "wb", buffering=0, closefd=descriptor is None) as stream:
        write(stream)


def _replaceable(path: str) -> os.stat_result | None:
    """Return the regular file that would be replaced; None when nothing is there."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "Is a directory")
    if stat.S_ISLNK(status.st_mode):
        raise FileError(
            "cannot write: is a symbolic link",
            where=path,
            hint=f"use its destination ({os.path.realpath(path)}), or remove it",
        )
    if not stat.S_ISREG(status.st_mode):
        raise FileError(
            f"cannot write: is {_KINDS.get(stat.S_IFMT(status.st_mode), 'no file')}, "
            "not a regular file",
            where=path,
            hint="for a stream use -, /dev/stdout or >(...)",
        )
    return status


@contextlib.contextmanager
def new_directory(
    path: str | os.PathLike[str], *, origin: str | os.PathLike[str] | None = None
) -> Iterator[str]:
    """Make a directory completely or not at all.

    What the block writes into the one that it is given, which lies beside it, is moved to its
    place in the end.

    Args:
        path: Where: nothing is there yet, or an empty directory.
        origin: As for `demand_new_directory`.

    Yields:
        The path to write into.

    Raises:
        FileError: The destination exists, or it cannot be written; nothing is left behind then, nor
            when the block raises.
    """
    from portable.system import scratch

    demand_new_directory(path, origin=origin)
    place = os.path.abspath(path)
    try:
        with scratch.folder(os.path.dirname(place)) as staged:
            os.chmod(staged, 0o777 & ~umask())
            yield staged
            os.rename(staged, place)
    except (OSError, ValueError) as error:
        raise file_error("write", error, path) from error


def demand_new_directory(
    path: str | os.PathLike[str], *, origin: str | os.PathLike[str] | None = None
) -> None:
    """Refuse a place where no directory can be made.

    Args:
        path: Where: nothing is there yet, or an empty directory.
        origin: A directory that is read; it must not be written into.

    Raises:
        FileError: The destination exists, or it is inside the input. Nothing was written.
    """
    try:
        place = os.path.abspath(path)
        if origin is not None:
            source, goal = os.path.realpath(origin), os.path.realpath(place)
            if goal == source or goal.startswith(source + os.sep):
                raise FileError(
                    "destination is inside the input", where=place, hint="choose another path"
                )
        if not os.path.lexists(place):
            _demand_folder(os.path.dirname(place))
        elif os.path.islink(place) or not os.path.isdir(place) or os.listdir(place):
            raise FileError(
                "destination exists",
                where=place,
                hint="choose another path or an empty directory",
            )
    except (OSError, ValueError) as error:
        raise file_error("write", error, path) from error


def file_error(
    what: str, error: OSError | ValueError | MemoryError, path: str | os.PathLike[str]
) -> FileError:
    """Return what the operating system said about a path as our error.

    Args:
        what: What was tried: `read` or `write`.
        error: What it said.
        path: The path.
    """
    reason = getattr(error, "strerror", None) or str(error) or "out of memory"
    return FileError(f"cannot {what}: {reason.lower()}", where=os.fspath(path))


def umask() -> int:
    """Return which permissions new files do not get.

    Linux tells it. Elsewhere it can only be read by setting it, and what another thread makes
    meanwhile gets other permissions.
    """
    try:
        with open("/proc/self/status", "rb", buffering=0) as stream:
            _, found, rest = stream.read(_CHUNK).partition(b"\nUmask:")
        if found:
            return int(rest.partition(b"\n")[0], 8)
    except OSError:
        pass
    with _ASKING:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


_ASKING = threading.Lock()
