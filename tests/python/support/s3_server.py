# SPDX-License-Identifier: Apache-2.0
"""An S3 server for test_s3.py: moto on a free port of the loopback.

    .venv-s3/bin/python tests/python/support/s3_server.py <folder>

Serves the files of a folder from the bucket "data" to one user, and tells port, key and
secret in a line of JSON. Ends with its standard input, whose lines it answers in JSON:

    die <bytes>          go away in the middle of an object, that many bytes into the
                         next answer that is long enough
    gone <kind> <count>  answer nobody after so many more requests of a kind: upload,
                         copy or delete
    back                 answer again
    keys <prefix>        the names of the objects there are
"""

import json
import os
import socket
import sys
import threading
from pathlib import Path

import boto3
from moto import settings
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

BUCKET = "data"
ALLOWED = {"Effect": "Allow", "Action": ["s3:*"], "Resource": ["*"]}


class Quiet(WSGIRequestHandler):
    def log(self, *_args):
        """Leave the log of requests out."""


def kind_of(environ):
    """Name what a request does."""
    method, query = environ["REQUEST_METHOD"], environ["QUERY_STRING"]
    if "HTTP_X_AMZ_COPY_SOURCE" in environ:
        return "copy"
    if method == "DELETE" or query.startswith("delete"):
        return "delete"
    return "upload" if method in ("PUT", "POST") else "look"


class Mortal:
    """Serves until told when to die, or to be gone."""

    def __init__(self, app):
        self.app = app
        self.die_after = None
        self.gone_kind = None
        self.gone_after = 0

    def is_gone(self, environ):
        if self.gone_kind is None:
            return False
        if self.gone_after > 0:
            self.gone_after -= kind_of(environ) == self.gone_kind
            return False
        return True

    def __call__(self, environ, start_response):
        if self.is_gone(environ):
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionResetError
        if "HTTP_AUTHORIZATION" not in environ:  # which moto does not expect
            start_response("403 Forbidden", [("Content-Length", "0")])
            return [b""]
        body = self.app(environ, start_response)
        if self.die_after is None or environ["REQUEST_METHOD"] != "GET":
            return body
        return self._cut(body)

    def _cut(self, body):
        content = b"".join(body)
        if len(content) > self.die_after:
            yield content[: self.die_after]
            os._exit(0)
        yield content


def make_user(endpoint):
    """Make the one user who may read; from now on others may not."""
    iam = boto3.client(
        "iam",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="first",
        aws_secret_access_key="first",
    )
    iam.create_user(UserName="reader")
    policy = json.dumps({"Version": "2012-10-17", "Statement": [ALLOWED]})
    iam.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=policy)
    made = iam.create_access_key(UserName="reader")["AccessKey"]
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    return made["AccessKeyId"], made["SecretAccessKey"]


def main():
    os.environ["MOTO_ALLOW_NONEXISTENT_REGION"] = "1"
    app = Mortal(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    key, secret = make_user(endpoint)
    s3 = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
    )
    s3.create_bucket(Bucket=BUCKET)
    folder = Path(sys.argv[1])
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            s3.upload_file(str(path), BUCKET, str(path.relative_to(folder)))
    print(json.dumps({"endpoint": endpoint, "key": key, "secret": secret}), flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(app, s3, *line.split())), flush=True)


def obey(app, s3, command, *words):
    """Do what a line says; returns the answer."""
    match command:
        case "die":
            app.die_after = int(words[0])
        case "gone":
            app.gone_kind, app.gone_after = words[0], int(words[1])
        case "back":
            app.gone_kind = None
        case "keys":
            found = s3.list_objects_v2(Bucket=BUCKET, Prefix="".join(words))
            return [each["Key"] for each in found.get("Contents", [])]
    return {}


if __name__ == "__main__":
    main()
