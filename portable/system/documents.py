"""JSON and TOML that others wrote: whatever is wrong with a text, it is one kind of error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["parse_json", "parse_toml", "without_ambiguity", "without_duplicates"]


def parse_json(
    data: bytes, pairs: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None
) -> Any:
    """Parse JSON.

    Args:
        data: The text, in UTF-8.
        pairs: What to make of the keys and values of an object.

    Returns:
        Dictionaries, lists, texts and numbers.

    Raises:
        ValueError: It is no JSON, is nested too deeply, or has an integer of thousands of digits.
    """
    import json

    return _parsed("JSON", lambda: json.loads(data.decode("utf-8"), object_pairs_hook=pairs))


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; for `parse_json`.

    Args:
        pairs: Its keys and values.

    Raises:
        ValueError: A key is duplicated.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def without_ambiguity(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON that readers in Go, which take keys in any case, read alike.

    Args:
        pairs: Its keys and values.

    Raises:
        ValueError: Two keys are the same, or differ in case only.
    """
    if len({key.casefold() for key, _ in pairs}) < len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def parse_toml(data: bytes) -> dict[str, Any]:
    """Parse TOML.

    Args:
        data: The text, in UTF-8.

    Returns:
        The top-level table.

    Raises:
        ValueError: As `parse_json`.
    """
    import tomllib

    found: dict[str, Any] = _parsed("TOML", lambda: tomllib.loads(data.decode("utf-8")))
    return found


def _parsed(language: str, parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except RecursionError:
        raise ValueError(f"not {language}: nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not {language}: byte {error.start} is not UTF-8") from None
    except ValueError as error:
        why = "an integer has too many digits" if "Exceeds the limit" in str(error) else error
        raise ValueError(f"not {language}: {why}") from None
