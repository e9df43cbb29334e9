"""StableHLO Versions: strict, ordered values."""

from __future__ import annotations

import re

from portable.errors import PortableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from portable.record import dataclass

__all__ = ["InvalidVersion", "Version"]

# Nine digits keep every component far below 2**63, above which libStablehlo aborts the process.
_COMPONENT = "(0|[1-9][0-9]{0,8})"
_PATTERN = re.compile(rf"{_COMPONENT}\.{_COMPONENT}\.{_COMPONENT}", re.ASCII)


class InvalidVersion(PortableError):
    """The text is not a StableHLO Version."""


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A StableHLO Version `major.minor.patch`.

    A change of the opset or of the format raises the minor; the patch never affects compatibility.
    Source: StableHLO's compatibility document and `Version.h`.
    """

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """Parse `#.#.#` strictly: ASCII digits, no leading zeros, no spaces, bounded length.

        Args:
            text: A Version such as `1.9.5`.

        Returns:
            The Version.

        Raises:
            InvalidVersion: `text` has any other form.
        """
        match = _PATTERN.fullmatch(text)
        if match is None:
            shown = text if len(text) <= 40 else text[:40] + "..."
            raise InvalidVersion(
                f"{shown!r} is not a StableHLO Version",
                hint="write it as major.minor.patch, for example 1.9.0",
            )
        return cls(int(match[1]), int(match[2]), int(match[3]))

    @property
    def target(self) -> Version:
        """The Version to write artifacts for: the same minor with patch zero."""
        return Version(self.major, self.minor, 0) if self.patch else self

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"
