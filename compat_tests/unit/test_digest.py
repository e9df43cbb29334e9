"""SHA-256, whichever code computes it."""

import hashlib

import pytest

from portable import digest
from portable.digest import digest_of


@pytest.mark.parametrize("size", [0, 3557, 1 << 19, (1 << 19) + 1])
def test_it_is_the_digest_of_hashlib(size: int) -> None:
    """Small and large data, bytes and views of them."""
    data = bytes(size)
    assert digest_of(data) == digest_of(memoryview(data)) == hashlib.sha256(data).hexdigest()


def test_a_python_without_its_own_digests_has_openssl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python can be built without them; then hashlib is asked for small data too."""
    monkeypatch.setattr(digest, "_BUILT_IN", ("_no_such_module",))
    assert digest_of(b"a") == hashlib.sha256(b"a").hexdigest()
