"""Single changed bytes: real jaxlibs still make of them what predictions rest on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.use_lists import orders, resources
from tools.byte_changes import ARTIFACTS, READERS, RECORD, ask, changes, predicted, unpack

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.more_releases
# What ends in a crash has read memory that is not the artifact's: another time it is refused.
_EACH = 53


@pytest.mark.parametrize("reader", READERS)
def test_releases_do_what_is_on_record(reader: str, release: Callable[[str], Environment]) -> None:
    """One in 53 of all changes, and every order of uses and form of resources as predicted."""
    python = release(f"jaxlib {reader}").python
    record = json.loads(RECORD.read_text("utf-8"))
    for name, path in ARTIFACTS.items():
        made = [data for _, _, data in changes(path.read_bytes())][::_EACH]
        found = ask(python, made).replace("x", "-")
        assert found == unpack(record[name]["marks"][reader])[::_EACH].replace("x", "-"), name
    others = [*orders(), *resources()]
    found = ask(python, [data for _, data in others]).replace("x", "-")
    for (name, data), mark in zip(others, found, strict=True):
        assert predicted(data, [reader]) == [mark], name
