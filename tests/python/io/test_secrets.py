# SPDX-License-Identifier: Apache-2.0
"""Credentials of paths appear in nothing that people or logs see."""

import contextlib
import io
import logging
import traceback
import warnings
from functools import partial

import pandas as pd
import pytest

import xshards as xs

SECRET = "SeKrEt"
# Nothing listens at port 1, and only this machine is asked.
S3 = "endpoint_override=127.0.0.1:1&scheme=http&region=us-east-1"
WEB = "127.0.0.1:1/a.csv"
URIS = {
    "s3 with a slash": f"s3://key:{SECRET}/{SECRET}@bucket/a.csv?{S3}",
    "s3 that looks like a port": f"s3://key:12/{SECRET}@bucket/a.csv?{S3}",
    "s3 with a slash first": f"s3://key:/{SECRET}@bucket/a.csv?{S3}",
    "s3 with a question mark": f"s3://key:a?{SECRET}@bucket/a.csv",
    "s3 with a quote": f"s3://key:a'{SECRET}/ @bucket/a.csv",
    "s3 of a bad endpoint": f"s3://key:{SECRET}@bucket/a?endpoint_override=%zz&x=1",
    "s3 with an unknown option": f"s3://key:{SECRET}@bucket/a?nosuch=1",
    "s3 with keys in its query": f"s3://bucket/a?secret_key={SECRET}&access_key={SECRET}",
    "gs": f"gs://user:{SECRET}@bucket/a.csv",
    "gs with a slash": f"gs://user:{SECRET}/{SECRET}@bucket/a.csv",
    "http": f"http://user:{SECRET}@{WEB}",
    "https": f"https://user:{SECRET}@{WEB}",
    "http with a slash": f"http://user:{SECRET}/{SECRET}@{WEB}",
    "a shared link": f"https://{WEB}?sv=2024&se=2026&sig={SECRET}%3D",
    "a signed link": f"https://{WEB}?X-Amz-Credential={SECRET}&X-Amz-Signature={SECRET}",
    "ftp": f"ftp://user:{SECRET}@{WEB}",
    "an unknown scheme": f"nosuch://user:{SECRET}@host/a.csv",
    "an unknown scheme with a slash": f"nosuch://user:{SECRET}/@host/a.csv",
    "a pattern": f"nosuch://user:{SECRET}@host/*.csv",
}
READERS = {
    "read_csv": lambda uri: xs.read_csv(uri).to_pandas(),
    "read_csv by pandas": lambda uri: xs.read_csv(uri, engine="python").to_pandas(),
    "read_csv of several": lambda uri: xs.read_csv([uri, uri]).to_pandas(),
    "read_json": lambda uri: xs.read_json(uri).to_pandas(),
    "read_json by pandas": lambda uri: xs.read_json(uri, orient="split").to_pandas(),
    "read_parquet": lambda uri: xs.read_parquet(uri).to_pandas(),
    "read_ipc": lambda uri: xs.read_ipc(uri).to_pandas(),
    "read_orc": lambda uri: xs.read_orc(uri).to_pandas(),
    "storage_options": lambda uri: xs.read_csv(uri, storage_options={"nosuch": SECRET}),
    "half of the options": lambda uri: xs.read_csv(
        uri, storage_options={"secret": SECRET}
    ),
}
WRITERS = ["to_csv", "to_json", "to_parquet", "to_ipc"]


def text_of(action):
    """Give all that an action says: errors and their causes, warnings, logs."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.root.addHandler(handler)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            warnings.simplefilter("always")
            try:
                said.write(str(action()))
            except Exception as error:
                # Not the lines of this file, which name the secret.
                frames = traceback.TracebackException.from_exception(error)
                for one in _chain(frames):
                    said.write("".join(one.format_exception_only()))
                said.write(repr(error))
                said.write(str(getattr(error, "__notes__", "")))
    finally:
        logging.root.removeHandler(handler)
    return said.getvalue() + "".join(str(one.message) for one in caught)


def _chain(frames):
    while frames is not None:
        yield frames
        frames = frames.__cause__ or frames.__context__


def assert_hidden(text):
    assert text
    for part in (SECRET, SECRET.lower(), SECRET[:4]):
        assert part not in text, text.replace(SECRET, "<SECRET>")


@pytest.mark.parametrize("uri", URIS.values(), ids=URIS)
def test_no_reader_shows_credentials(uri, capfd):
    for name, read in READERS.items():
        text = text_of(lambda read=read: read(uri))
        assert "Error" in text, name
        assert_hidden(text)
    out, err = capfd.readouterr()
    assert SECRET not in out + err


@pytest.mark.parametrize("uri", URIS.values(), ids=URIS)
def test_no_writer_shows_credentials(uri, capfd):
    shards = xs.from_pandas(pd.DataFrame({"a": [1]}))
    for writer in WRITERS:
        text = text_of(lambda writer=writer: getattr(shards, writer)(uri))
        assert "Error" in text, writer
        assert_hidden(text)
    out, err = capfd.readouterr()
    assert SECRET not in out + err


def test_a_store_that_does_not_answer_shows_no_credentials():
    for uri in (f"s3://key:{SECRET}@bucket/a.csv?{S3}", f"s3://bucket/a.csv?{S3}"):
        options = None if SECRET in uri else {"key": "key", "secret": f"{SECRET}/+"}
        text = text_of(partial(xs.read_csv, uri, storage_options=options))
        assert "bucket/a.csv" in text
        assert_hidden(text)


def test_plans_show_no_credentials(tmp_path):
    """The plan of a reader holds its paths: no repr, explain or error prints them."""
    pd.DataFrame({"a": [1]}).to_csv(tmp_path / "a.csv", index=False)
    uri = f"file://user:{SECRET}@{tmp_path}/a.csv"
    assert_hidden(text_of(lambda: xs.read_csv(uri)))
    shards = xs.read_csv(f"file://{tmp_path}/a.csv?sig={SECRET}")
    for action in (shards.explain, lambda: repr(shards), lambda: str(shards.schema)):
        assert_hidden(text_of(action))
    assert_hidden(
        text_of(lambda: shards.with_column("b", xs.col("nosuch")).to_pandas())
    )


def test_a_quoted_password_is_taken_as_it_is():
    """A slash in a password is refused with advice, and taken when it is quoted."""
    uri = f"s3://key:{SECRET}/x@bucket/a.csv?{S3}"
    with pytest.raises(ValueError, match=r"quoted \(%2F for a slash"):
        xs.read_csv(uri)
