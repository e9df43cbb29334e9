"""Artifacts of combinations that no table of single ops shows, and which jaxlib compiles each."""

from __future__ import annotations

from compat_tests.helpers.matrices import ARTIFACTS

__all__ = ["COMPILED", "FOLDED", "artifact_of"]

COMPILED = {
    ("aliased", "0.5.3"): True,
    ("aliased", "0.10.2"): True,
    ("aliased_to_less", "0.4.20"): True,
    ("aliased_to_less", "0.5.3"): False,
    ("aliased_to_less", "0.10.2"): False,
    ("aliased_to_nothing", "0.10.2"): False,
    ("all_gather_i4_unused", "0.4.30"): False,
    ("all_gather_i4_unused", "0.10.2"): True,
    ("all_reduce_i4_channel", "0.5.3"): False,
    ("all_reduce_i4_channel", "0.12.0.1"): False,
    ("calls_itself", "0.5.3"): False,
    ("calls_itself", "0.10.2"): False,
    ("calls_itself_unused", "0.5.3"): True,
    ("calls_itself_unused", "0.10.2"): True,
    ("calls_twice", "0.10.2"): True,
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
    ("dot_general_x6_of_a_sort", "0.5.3"): True,
    ("dot_general_x6_of_a_sum", "0.5.3"): False,
    ("dot_general_x6_of_a_sum", "0.9.1"): False,
    ("dot_general_x6_of_a_sum", "0.10.2"): True,
    ("dot_general_x6_of_a_sum_of_matrices", "0.5.3"): True,
    ("dot_general_x6_of_a_transpose", "0.5.3"): False,
    ("dot_general_x6_of_a_transpose", "0.10.2"): False,
    ("dot_general_x6_of_a_transpose", "0.12.0.1"): False,
    ("dot_general_x6_of_an_argument", "0.5.3"): True,
    ("dot_general_x6_of_an_argument", "0.12.0.1"): True,
    ("dynamic_conv_by_arguments", "0.5.3"): False,
    ("dynamic_conv_by_arguments", "0.10.2"): False,
    ("dynamic_gather_called", "0.5.3"): False,
    ("dynamic_gather_called", "0.10.2"): False,
    ("dynamic_pad_by_arguments", "0.5.3"): False,
    ("dynamic_pad_by_arguments", "0.10.2"): False,
    ("f4_returned", "0.4.36"): False,
    ("f4_returned", "0.5.3"): True,
    ("f6_argument", "0.5.3"): False,
    ("f6_argument", "0.10.2"): False,
    ("f6_argument", "0.12.0.1"): True,
    ("f6_returned", "0.5.3"): False,
    ("f6_returned", "0.10.2"): False,
    ("f6_unused", "0.5.3"): True,
    ("f6_unused", "0.10.2"): True,
    ("f8E8M0FNU_argument_unused", "0.4.36"): False,
    ("f8E8M0FNU_argument_unused", "0.10.2"): True,
    ("layout_given", "0.10.2"): True,
    ("layout_none", "0.4.30"): True,
    ("layout_none", "0.10.2"): False,
    ("main_private", "0.4.30"): True,
    ("main_private", "0.10.2"): False,
    ("memory_unknown", "0.4.30"): True,
    ("memory_unknown", "0.10.2"): False,
    ("pad_ui2", "0.5.3"): False,
    ("pad_ui2", "0.10.2"): True,
    ("real_dynamic_slice_by_arguments", "0.5.3"): False,
    ("real_dynamic_slice_by_arguments", "0.10.2"): False,
    ("reduce_scatter_complex_argument", "0.10.2"): True,
    ("reduce_scatter_complex_constant", "0.5.3"): True,
    ("reduce_scatter_complex_constant", "0.10.2"): False,
    ("rng_bits_and_argument", "0.4.13"): False,
    ("rng_bits_and_argument", "0.12.0.1"): False,
    ("rng_bits_returned", "0.12.0.1"): True,
    ("top_k_f32", "0.4.13"): True,
    ("top_k_f32", "0.12.0.1"): True,
    ("top_k_i32", "0.4.13"): False,
    ("top_k_i32", "0.12.0.1"): False,
    ("unary_einsum_unused", "0.4.30"): True,
    ("unary_einsum_unused", "0.4.36"): False,
    ("unary_einsum_unused", "0.10.2"): True,
    ("unused_ops", "0.4.30"): True,
    ("unused_ops", "0.5.3"): True,
    ("unused_ops", "0.12.0.1"): True,
}
"""By the name of an artifact and the version of jaxlib, whether it was seen to compile."""

FOLDED = (
    ("dynamic_gather_by_a_sum", "0.5.3"),
    ("dynamic_gather_by_a_sum", "0.10.2"),
)
"""Those that compile because something is folded, which is not foreseen."""


def artifact_of(name: str) -> str:
    """Return the path of the artifact of a name, for whichever target it was written."""
    (path,) = ARTIFACTS.glob(f"{name}+*.mlir.bc")
    return str(path)
