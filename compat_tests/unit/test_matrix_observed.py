"""Predictions for a sealed artifact of each Case, against what 66 real Releases did with it.

For all of them: `corpus/test_matrix_observed.py`.
"""

from __future__ import annotations

import itertools

from compat_tests.helpers.observed import contradictions, items


def test_what_is_predicted_is_what_was_observed() -> None:
    """Green was read and, where it was executed, computed; red was not; else it is listed."""
    cases = [[*of] for _, of in itertools.groupby(items(), key=lambda item: item.case)]
    chosen = [of[number % len(of)] for number, of in enumerate(cases)]
    assert len({item.claimed for item in chosen}) > 20
    assert not contradictions(chosen)
