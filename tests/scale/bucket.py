"""The files of a bucket, by a client that is closed: fsspec's would leave connections of the tests' process open."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError
from botocore.session import get_session


def names(port: int, folder: str) -> list[str]:
    """Return the names of the files below a folder, such as "bucket/runs"."""
    bucket, _, prefix = folder.partition("/")
    with _client(port) as client:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
        return [f"{bucket}/{entry['Key']}" for page in pages for entry in page.get("Contents", ())]


def content(port: int, name: str) -> bytes:
    """Return the content of a file.

    Raises:
        FileNotFoundError: If there is none of this name.
    """
    bucket, _, key = name.partition("/")
    with _client(port) as client:
        try:
            body = client.get_object(Bucket=bucket, Key=key)["Body"]
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchKey":
                raise
            raise FileNotFoundError(name) from None
        with body:
            return body.read()


@contextmanager
def _client(port: int) -> Generator[Any, None, None]:
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing", "region_name": "us-east-1"}
    client: Any = get_session().create_client("s3", endpoint_url=f"http://127.0.0.1:{port}", **keys)
    try:
        yield client
    finally:
        client.close()
