"""The root of every error that `portable` raises.

An exception means "could not do or could not check"; an incompatibility that was found is a
`Verdict`, never an exception. Leaf errors are defined next to the class they belong to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.escaping import line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PortableError"]


class PortableError(Exception):
    """A record of what went wrong; as text always one line, `where: what; hint`.

    Args:
        what: What is wrong.
        details: The parts of the problem, one text each.
        where: The file, op or location it happened at.
        needs: The Version that the program needs.
        target: The Target that was requested.
        hint: What to do next.
    """

    def __init__(
        self,
        what: str,
        *,
        details: Sequence[str] = (),
        where: str | None = None,
        needs: str | None = None,
        target: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.details = tuple(details)
        self.where = where
        self.needs = needs
        self.target = target
        self.hint = hint

    def record(self) -> dict[str, object]:
        """Return the fields that are set, as plain data for JSON.

        Returns:
            `error` (the class name) and `what`, then `where`, `needs`, `target` and `hint` if set.
        """
        fields = {
            "error": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "needs": self.needs,
            "target": self.target,
            "hint": self.hint,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def __str__(self) -> str:
        details = f": {'; '.join(self.details)}" if self.details else ""
        hint = f"; {self.hint}" if self.hint else ""
        return line(self._head(details) + hint)

    def lines(self) -> list[str]:
        """Return the error as the command line shows it.

        Returns:
            One line; where there are details, one more for each and one for the hint.
        """
        if not self.details:
            return [str(self)]
        return [line(text) for text in (self._head(), *self.details, self.hint) if text]

    def _head(self, details: str = "") -> str:
        # A place is a name, which is shown as it is; a diagnostic of a compiler may have lines.
        text = f"{line(self.where)}: " if self.where else ""
        text += " ".join(f"{self.what}{details}".split())
        if self.needs and f"needs {self.needs}" not in text:
            text += f" (needs {self.needs})"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions with keyword-only fields do not pickle by default; process pools need it.
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(
    kind: type[PortableError], args: tuple[object, ...], fields: dict[str, object]
) -> PortableError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error
