"""The keys of buckets as they are, by each cloud's own client: obstore lists those that are paths.

Credentials stand in the environment under the names that obstore reads.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from portable.errors import PortableError
from portable.system.documents import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["STARTS_ANYWHERE", "ListedKey", "PlaceError", "listed_keys"]


class PlaceError(PortableError):
    """A folder or a bucket cannot be listed or read."""


class ListedKey(NamedTuple):
    """An object, by its key below a prefix.

    Args:
        key: Whatever characters it has.
        size: Bytes.
        etag: As the server lists it.
    """

    key: str
    size: int
    etag: str


STARTS_ANYWHERE = frozenset({"s3", "gs"})
"""The schemes whose servers list what comes after a key without what comes before."""


def listed_keys(url: str, config: Mapping[str, Any], after: str) -> Iterator[list[ListedKey]]:
    """Yield the keys of a bucket that come after one of them, a page at a time.

    Args:
        url: The bucket and a prefix.
        config: What obstore has read of the environment.
        after: A key below the prefix; empty for all.

    Raises:
        PlaceError: The server refuses, or a library is not installed.
    """
    scheme, _, rest = url.partition("://")
    bucket, _, folder = rest.partition("/")
    start = f"{folder}/" if folder else ""
    try:
        pages = _PAGES[scheme](bucket, start, config, after)
        for page in pages:
            yield [
                ListedKey(key[len(start) :], size, etag)
                for key, size, etag in page
                if key > start + after  # not every server starts where it should
            ]
    except ImportError as error:
        raise PlaceError(
            f"a key is not a path, and {error.name} is not installed",
            where=url,
            hint="pip install 'stablehlo-portable[fleet]'",
        ) from None
    except Exception as error:  # noqa: BLE001 - each client has errors of its own: all say why
        said = str(error).partition("\n")[0] or type(error).__name__
        raise PlaceError(said, where=url) from None


def _s3(
    bucket: str, start: str, config: Mapping[str, Any], after: str
) -> Iterator[list[tuple[str, int, str]]]:
    signed = not config.get("skip_signature")
    client = _botocore(config.get("endpoint"), config.get("region", "us-east-1"), signed=signed)
    return _pages(client, bucket, start, after)


def _gs(
    bucket: str, start: str, _: Mapping[str, Any], after: str
) -> Iterator[list[tuple[str, int, str]]]:
    """List by Google's XML API, which is that of S3 but for who asks."""
    account = os.environ.get("GOOGLE_SERVICE_ACCOUNT_KEY", "").encode()
    if not account and (path := os.environ.get("GOOGLE_SERVICE_ACCOUNT")):
        account = Path(path).read_bytes()
    known: Mapping[str, Any] = parse_json(account) if account else {}
    client = _botocore(known.get("gcs_base_url", _GOOGLE), "auto", signed=False)
    if not known.get("disable_oauth"):
        token = _google_token(known)

        def sign(request: Any, **_: object) -> None:
            request.headers["Authorization"] = f"Bearer {token}"

        client.meta.events.register("before-send.s3", sign)
    return _pages(client, bucket, start, after)


_GOOGLE = "https://storage.googleapis.com"


def _google_token(known: Mapping[str, Any]) -> str:
    import google.auth
    import google.auth.transport.urllib3
    import google.oauth2.service_account
    import urllib3

    scopes = ["https://www.googleapis.com/auth/devstorage.read_only"]
    if known:
        account = google.oauth2.service_account.Credentials
        found = account.from_service_account_info(known, scopes=scopes)
    else:
        found, _ = google.auth.default(scopes=scopes)
    found.refresh(google.auth.transport.urllib3.Request(urllib3.PoolManager()))
    return str(found.token)


def _botocore(endpoint: str | None, region: str, *, signed: bool) -> Any:
    import botocore
    import botocore.config
    import botocore.session

    how = {} if signed else {"signature_version": botocore.UNSIGNED}
    return botocore.session.Session().create_client(
        "s3",
        region_name=region,
        endpoint_url=endpoint,
        config=botocore.config.Config(**how),
    )


def _pages(
    client: Any, bucket: str, start: str, after: str
) -> Iterator[list[tuple[str, int, str]]]:
    last = start + after
    while True:
        found = client.list_objects_v2(Bucket=bucket, Prefix=start, StartAfter=last)
        page = [(one["Key"], one["Size"], one["ETag"]) for one in found.get("Contents", ())]
        if page and page[-1][0] > last:
            yield page
            last = page[-1][0]
        elif found.get("IsTruncated"):
            raise PlaceError("the server says that there is more, and lists nothing after a key")
        else:
            return


def _az(
    container: str, start: str, _: Mapping[str, Any], after: str
) -> Iterator[list[tuple[str, int, str]]]:
    """List by Azure's client, from the first key: its servers cannot start at another."""
    from azure.storage.blob import ContainerClient

    account = os.environ.get("AZURE_STORAGE_ACCOUNT_NAME", "devstoreaccount1")
    url = f"https://{account}.blob.core.windows.net"
    if os.environ.get("AZURE_STORAGE_USE_EMULATOR", "").lower() in {"1", "true"}:
        at = os.environ.get("AZURITE_BLOB_STORAGE_URL", "http://127.0.0.1:10000")
        url = f"{at}/{account}"
    keys = (os.environ.get(f"AZURE_STORAGE_{name}") for name in ("ACCOUNT_KEY", "SAS_KEY"))
    client = ContainerClient(
        os.environ.get("AZURE_STORAGE_ENDPOINT", url),
        container,
        credential=next(filter(None, keys), None),
    )
    found = (
        (one.name, one.size, one.etag)
        for one in client.list_blobs(name_starts_with=start or None)
        if one.name > start + after
    )
    while page := list(islice(found, _PAGE)):
        yield page


_PAGE = 1000
_PAGES: Mapping[
    str, Callable[[str, str, Mapping[str, Any], str], Iterator[list[tuple[str, int, str]]]]
] = {"s3": _s3, "gs": _gs, "az": _az}
