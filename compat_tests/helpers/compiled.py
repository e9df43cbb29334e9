"""Artifacts of combinations that no table of single ops shows, and which jaxlib compiles each."""

from __future__ import annotations

from compat_tests.helpers.matrices import ARTIFACTS

__all__ = ["COMPILED", "artifact_of"]

COMPILED = {
    ("all_reduce_i4_channel", "0.5.3"): False,
    ("all_reduce_i4_channel", "0.12.0.1"): False,
    ("channel_chained", "0.4.30"): True,
    ("channel_chained", "0.5.3"): False,
    ("channel_chained", "0.10.2"): True,
    ("channel_of_two_ranks", "0.4.13"): False,
    ("channel_of_two_ranks", "0.4.30"): True,
    ("channel_of_two_reduced_ranks", "0.10.2"): False,
    ("channel_of_two_reduced_ranks", "0.12.0.1"): True,
    ("convolution_i2", "0.10.2"): False,
    ("convolution_i2", "0.12.0.1"): True,
    ("dot_general_x1_of_a_column", "0.12.0.1"): True,
    ("dot_general_x6_of_a_column", "0.12.0.1"): False,
    ("dot_general_x6_of_a_matrix", "0.12.0.1"): True,
    ("pad_ui2", "0.5.3"): False,
    ("pad_ui2", "0.10.2"): True,
    ("reduce_scatter_complex_argument", "0.10.2"): True,
    ("reduce_scatter_complex_constant", "0.5.3"): True,
    ("reduce_scatter_complex_constant", "0.10.2"): False,
    ("rng_bits_and_argument", "0.4.13"): False,
    ("rng_bits_and_argument", "0.12.0.1"): False,
    ("rng_bits_returned", "0.12.0.1"): True,
    ("unused_ops", "0.4.30"): True,
    ("unused_ops", "0.5.3"): True,
    ("unused_ops", "0.12.0.1"): True,
}
"""By the name of an artifact and the version of jaxlib, whether it was seen to compile."""


def artifact_of(name: str) -> str:
    """Return the path of the artifact of a name, for whichever target it was written."""
    (path,) = ARTIFACTS.glob(f"{name}+*.mlir.bc")
    return str(path)
