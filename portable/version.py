"""StableHLO Versions: strict, ordered values."""

from __future__ import annotations

from dataclasses import dataclass

from portable.errors import PortableError

__all__ = ["InvalidVersion", "Version"]

# Nine digits keep every component far below 2**63, above which libStablehlo aborts the process.
_MOST_DIGITS = 9


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
        parts = text.split(".")
        if len(parts) != 3 or not all(map(_is_component, parts)):
            shown = text if len(text) <= 40 else text[:40] + "..."
            raise InvalidVersion(
                f"{shown!r} is not a StableHLO Version",
                hint="write it as major.minor.patch, for example 1.9.0",
            )
        return cls(*map(int, parts))

    @property
    def target(self) -> Version:
        """The Version to write artifacts for: the same minor with patch zero."""
        return Version(self.major, self.minor, 0) if self.patch else self

    @property
    def first_target(self) -> Version:
        """The lowest Version with patch zero that is not older: its readers all have this one."""
        return Version(self.major, self.minor + 1, 0) if self.patch else self

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def _is_component(text: str) -> bool:
    # By hand, because importing `re` takes longer than a command that reads one header.
    digits = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return digits and (text[0] != "0" or text == "0")
