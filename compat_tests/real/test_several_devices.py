"""Programs for several devices, executed on as many of XLA CPU in one process.

What is right says JAX, which called the same functions on eight devices.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import portable
from compat_tests.adversarial.test_orphans import descendants
from compat_tests.helpers.sharded import EQUAL, MANUAL, PARTITIONERS, SPLIT, Exported
from portable.cli import main
from portable.runtime.environments import Environment
from portable.runtime.executors import ExecutionFailed, Executor, find_executor
from portable.runtime.executors.child import UnevenProcesses
from portable.runtime.verification import verify
from portable.system.worker.answer import CouldNotObserve
from portable.tolerance import Tolerance

DROP = "drop-sharding"


def bits(arrays: list[np.ndarray]) -> list[bytes]:
    """Return the bytes of arrays."""
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("name", [*EQUAL, *SPLIT, *MANUAL])
def test_eight_devices_give_the_bits_of_jax(
    name: str, partitioner: str, exported: dict[str, Exported], pjrt: Executor
) -> None:
    """Also where each device computes on its part, and where a sum is split."""
    one = exported[f"{name}-{partitioner}"]
    program = pjrt.compile(one.artifact)
    assert bits(program.run(one.inputs)) == bits(one.outputs)
    assert program.device.endswith(" x 8")


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("name", EQUAL)
def test_a_sharded_program_is_verified_against_its_unsharded_twin(
    name: str, partitioner: str, exported: dict[str, Exported], pjrt: Executor
) -> None:
    """The one on eight devices, the other on one."""
    before = exported[f"{name}-{partitioner}"].artifact
    after = portable.serialize(before, "1.0.0", allow=[DROP])
    assert verify(before, after, executor=pjrt).same
    assert verify(after, before, executor=pjrt).same


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("name", SPLIT)
def test_a_split_sum_is_told_from_its_twin(
    name: str, partitioner: str, exported: dict[str, Exported], pjrt: Executor
) -> None:
    """By its bits, and within the rounding of the sum it is the same."""
    before = exported[f"{name}-{partitioner}"].artifact
    after = portable.serialize(before, "1.0.0", allow=[DROP])
    found = verify(before, after, executor=pjrt)
    assert not found.same
    assert "output" in found.verdict.reason
    near = Tolerance(relative=1e-5, absolute=1e-5)
    assert verify(before, after, executor=pjrt, tolerance=near).same


def test_pin_executes_both_before_it_writes(
    exported: dict[str, Exported], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What rounds otherwise is written with a tolerance alone."""
    program, new = tmp_path / "perceptron.bc", tmp_path / "new.bc"
    program.write_bytes(exported["perceptron-shardy"].artifact)
    words = ["pin", str(program), "--target", "1.0.0", "--allow", DROP, "-o", str(new)]
    assert main(words) == 1
    assert not new.exists()
    assert main([*words, "--rtol", "1e-5", "--atol", "1e-5"]) == 0
    capsys.readouterr()
    against = ["verify", str(new), "--against", str(program)]
    assert main(against) == 1
    assert main([*against, "--rtol", "1e-5", "--atol", "1e-5"]) == 0
    assert "the same" in capsys.readouterr().out


@pytest.mark.old_releases
@pytest.mark.parametrize("name", ["jaxlib 0.5.3", "jaxlib 0.9.1", "jaxlib 0.12.0.1"])
def test_other_releases_do_too(
    name: str, exported: dict[str, Exported], release: Callable[[str], Environment]
) -> None:
    """From each era of the ways to execute; the oldest knows GSPMD alone."""
    with find_executor("pjrt", release(name)) as executor:
        for case in ("integers", "mapped"):
            one = exported[f"{case}-gspmd"]
            program = executor.compile(portable.serialize(one.artifact, "0.16.0"))
            assert bits(program.run(one.inputs)) == bits(one.outputs)
            assert program.device.endswith(" x 8")


@pytest.mark.old_releases
def test_older_ones_have_one_device(
    exported: dict[str, Exported], release: Callable[[str], Environment]
) -> None:
    """Clients before 0.5.0 do not let anyone choose; hints change nothing there."""
    one = exported["integers-gspmd"]
    with find_executor("pjrt", release("jaxlib 0.4.33")) as executor:
        program = executor.compile(portable.serialize(one.artifact, "0.16.0"))
        assert bits(program.run(one.inputs)) == bits(one.outputs)
        assert program.device == "cpu"


SPREAD = """
module attributes {{
    mhlo.num_partitions = {partitions} : i32, mhlo.num_replicas = {replicas} : i32}} {{
  func.func @main(%a: tensor<{size}xf32> {{mhlo.sharding = "{sharding}"}}) -> tensor<{size}xf32> {{
    {body}
    return %0 : tensor<{size}xf32>
  }}
}}"""
NEGATE = "%0 = stablehlo.negate %a : tensor<{size}xf32>"
REFUSED = (
    "%0 = stablehlo.custom_call @no_such_target(%a) : (tensor<{size}xf32>) -> tensor<{size}xf32>"
)
SUM = """%0 = "stablehlo.all_reduce"(%a) ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }}) {{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}
      : (tensor<{size}xf32>) -> tensor<{size}xf32>"""
OWN = """%1 = "stablehlo.replica_id"() : () -> tensor<ui32>
    %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<{size}xf32>
    %0 = stablehlo.add %a, %3 : tensor<{size}xf32>"""


def spread(
    body: str, *, partitions: int = 1, replicas: int = 1, sharding: str = "{replicated}"
) -> portable.Artifact:
    """Write a program for several devices."""
    size = {"size": 12}
    text = SPREAD.format(
        partitions=partitions,
        replicas=replicas,
        sharding=sharding,
        body=body.format(**size),
        **size,
    )
    return portable.serialize(text)


GIVEN = np.arange(12, dtype=np.float32)


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_as_many_devices_as_the_module_says(count: int, pjrt: Executor) -> None:
    """Each device gets its part, also where their number is not a power of two."""
    order = ",".join(map(str, reversed(range(count))))
    sharding = f"{{devices=[{count}]{order}}}"
    program = pjrt.compile(spread(NEGATE, partitions=count, sharding=sharding))
    np.testing.assert_array_equal(program.run([GIVEN])[0], -GIVEN)
    assert program.device.endswith(f" x {count}")


def test_replicas_are_given_the_same(pjrt: Executor) -> None:
    """Four of them add what each has; what differs between them is no one result."""
    program = pjrt.compile(spread(SUM, replicas=4))
    np.testing.assert_array_equal(program.run([GIVEN])[0], 4 * GIVEN)
    with pytest.raises(CouldNotObserve, match="replicas return different values"):
        pjrt.compile(spread(OWN, replicas=4)).run([GIVEN])


def test_what_does_not_divide_is_not_executed(pjrt: Executor) -> None:
    """JAX does not take it either; nothing is observed."""
    program = pjrt.compile(spread(NEGATE, partitions=5, sharding="{devices=[5]0,1,2,3,4}"))
    with pytest.raises(CouldNotObserve, match="does not divide into"):
        program.run([GIVEN])


def test_more_devices_than_eight_are_one(pjrt: Executor) -> None:
    """As it always was: hints change nothing there."""
    order = ",".join(map(str, range(12)))
    program = pjrt.compile(spread(NEGATE, partitions=12, sharding=f"{{devices=[12]{order}}}"))
    np.testing.assert_array_equal(program.run([GIVEN])[0], -GIVEN)
    assert program.device == "cpu"


@pytest.mark.parametrize("count", ["0", "-3", "9999999999999"])
def test_counts_without_sense_are_one(count: str, pjrt: Executor) -> None:
    """What a module says of itself is not believed."""
    text = SPREAD.format(
        partitions=count, replicas=1, sharding="{replicated}", body=NEGATE.format(size=12), size=12
    ).replace("i32,", "i64,")
    np.testing.assert_array_equal(pjrt.compile(portable.serialize(text)).run([GIVEN])[0], -GIVEN)


@pytest.mark.old_releases
@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("name", ["jaxlib 0.5.3", "jaxlib 0.10.2", "jaxlib 0.12.0.1"])
def test_devices_of_several_processes_give_what_jax_gives(
    name: str,
    processes: int,
    exported: dict[str, Exported],
    release: Callable[[str], Environment],
) -> None:
    """Its bits, but where floats are added: between processes that is in another order."""
    with find_executor("pjrt", release(name), processes=processes) as executor:
        for case, near in (("integers", 0.0), ("mapped", 1e-5)):
            one = exported[f"{case}-gspmd"]
            program = executor.compile(portable.serialize(one.artifact, "0.16.0"))
            for found, expected in zip(program.run(one.inputs), one.outputs, strict=True):
                np.testing.assert_allclose(found, expected, rtol=near, atol=near)
            assert program.device.endswith(f" x 8 in {processes} processes")


def test_processes_sum_what_each_has() -> None:
    """Also replicas; what one refuses, and what does not divide, is said."""
    with find_executor("pjrt", processes=2) as executor:
        program = executor.compile(spread(SUM, replicas=4))
        np.testing.assert_array_equal(program.run([GIVEN])[0], 4 * GIVEN)
        with pytest.raises(UnevenProcesses, match="3 devices do not divide into 2 processes"):
            executor.compile(spread(NEGATE, partitions=3))
        with pytest.raises(ExecutionFailed, match="refused to compile"):
            executor.compile(spread(REFUSED, partitions=2))
        np.testing.assert_array_equal(program.run([GIVEN])[0], 4 * GIVEN)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP])
def test_a_process_that_ends_or_hangs_is_no_refusal(end: signal.Signals) -> None:
    """The program is executed again by new ones, or the time is up; and so is the next."""
    with find_executor("pjrt", processes=2, limit=15) as executor:
        program = executor.compile(spread(SUM, replicas=4))
        before = _peers()
        os.kill(before[0], end)
        try:
            np.testing.assert_array_equal(program.run([GIVEN])[0], 4 * GIVEN)
            assert end != signal.SIGSTOP
        except ExecutionFailed as error:
            assert "timed out" in str(error) or "crashed with" in str(error)  # noqa: PT017 - it may be done again
        np.testing.assert_array_equal(program.run([GIVEN])[0], 4 * GIVEN)
        assert not {*before} & {*_peers()}


def test_a_process_that_ends_while_it_starts_is_not_waited_for() -> None:
    """Nor is that it did a refusal of the program."""

    def kill() -> None:
        while not (found := _peers()):
            time.sleep(0.01)
        os.kill(found[0], signal.SIGKILL)

    with find_executor("pjrt", processes=2, limit=100) as executor:
        killer = threading.Thread(target=kill)
        killer.start()
        began = time.monotonic()
        try:
            executor.compile(spread(SUM, replicas=4))
        except ExecutionFailed as error:
            assert "crashed with SIGKILL" in str(error)  # noqa: PT017 - it may be done again
        killer.join()
        assert time.monotonic() - began < 50
        program = executor.compile(spread(SUM, replicas=4))
        np.testing.assert_array_equal(program.run([GIVEN])[0], 4 * GIVEN)


def _peers() -> list[int]:
    """Return the processes that are not the first."""
    return [
        number
        for number in descendants(os.getpid())
        if b"inside.processes" in Path(f"/proc/{number}/cmdline").read_bytes()
    ]


@pytest.mark.old_releases
def test_older_ones_have_one_process(release: Callable[[str], Environment]) -> None:
    """Nothing is executed on one device where several processes were asked for."""
    with (
        find_executor("pjrt", release("jaxlib 0.4.33"), processes=2) as executor,
        pytest.raises(CouldNotObserve, match="one device of the CPU"),
    ):
        executor.compile(spread(NEGATE, partitions=2))
