"""One bit of a bundle changed, anywhere: it is refused, or what is read is what was there before.

`index.json` has no digest. What is changed there and still opens leads to the same index by the
same digest, under words that nothing reads.
"""

import random
from pathlib import Path

import pytest

from portable.bundle import pack_files
from portable.containers import MalformedContainer, NoArtifact, NotAContainer, open_container

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
FILES = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.9.0", "1.17.0")]
SEEDS, EACH = range(4), 200


def read(bundle: Path) -> list[tuple[str, str, bytes]]:
    """Return everything that is read of a bundle."""
    return [(one.name, one.member, one.data) for one in open_container(bundle).artifacts()]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_changed_bit_is_refused_or_changes_nothing(tmp_path: Path, seed: int) -> None:
    """In every file of the layout, the small ones as often as the large."""
    luck = random.Random(seed)  # noqa: S311 - no secret
    pack_files(FILES, to=tmp_path / "bundle")
    before = read(tmp_path / "bundle")
    files = sorted(path for path in (tmp_path / "bundle").rglob("*") if path.is_file())
    refused = 0
    for _ in range(EACH):
        path = luck.choice(files)
        data = path.read_bytes()
        changed = bytearray(data)
        changed[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
        path.write_bytes(changed)
        try:
            assert read(tmp_path / "bundle") == before
        except (MalformedContainer, NoArtifact, NotAContainer):
            refused += 1
        path.write_bytes(data)
    assert refused > EACH / 2
    assert read(tmp_path / "bundle") == before
