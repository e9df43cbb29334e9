"""What is found in a program is found there too where another stands before or behind it."""

from __future__ import annotations

from itertools import permutations

import pytest

from compat_tests.adversarial.generators.directed import is_directed, several
from compat_tests.helpers.written import joined
from portable.errors import PortableError
from portable.prediction.forms import FORMS

# Those of channels compare the ops of a program with each other.
_OF_THE_WHOLE = "channel of "


@pytest.mark.parametrize(
    "form", [one for one in FORMS if is_directed(one) and not one.startswith(_OF_THE_WHOLE)]
)
def test_what_is_found_alone_is_found_with_others(form: str) -> None:
    """Nothing of the one program is missed because of the other, whichever comes first."""
    for number in range(6):
        program, parts = several(form, number)
        try:
            alone = {program.forms_of(*one)[form] for one in parts}
            both = [program.forms_of(*joined(one))[form] for one in permutations(parts)]
        except PortableError:  # it is damaged; alone it may have been no reason to look
            continue
        expected = True if True in alone else None if None in alone else False
        assert both == [expected, expected], number
