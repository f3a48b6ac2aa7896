# SPDX-License-Identifier: Apache-2.0
"""The S3 server of s3_server.py as tests see it."""

import json
import subprocess
from pathlib import Path

import pytest

__all__ = ["NEEDS_SERVER", "Server", "away_from_the_cloud"]

REPOSITORY = Path(__file__).parents[3]
SERVER = Path(__file__).with_name("s3_server.py")
PYTHON = REPOSITORY / ".venv-s3" / "bin" / "python"
NEEDS_SERVER = pytest.mark.skipif(
    not PYTHON.exists(), reason="make test-python makes .venv-s3, which has the server"
)


class Server:
    """A server process and how to ask it."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [str(PYTHON), str(SERVER), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        told = json.loads(self.process.stdout.readline())
        self.endpoint, self.key, self.secret = (
            told[name] for name in ("endpoint", "key", "secret")
        )

    @property
    def options(self):
        return {
            "key": self.key,
            "secret": self.secret,
            "endpoint_url": self.endpoint,
            "region": "us-east-1",
        }

    def _ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def die_in_an_answer(self, num_bytes):
        self._ask(f"die {num_bytes}")

    def be_gone(self, kind, after):
        """Answer nobody, once `after` requests of a kind have been answered."""
        self._ask(f"gone {kind} {after}")

    def be_back(self):
        self._ask("back")

    def keys(self, prefix=""):
        """Name the objects there are, but for those that stand for folders."""
        return [key for key in self._ask(f"keys {prefix}") if not key.endswith("/")]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


@pytest.fixture(scope="module", autouse=True)
def away_from_the_cloud():
    """Keep the AWS library from looking for the credentials of a machine in EC2."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield
