# SPDX-License-Identifier: Apache-2.0
"""How far a fit is: with a total, and only where somebody watches."""

import io
import sys
import types

import pytest
from numpy_adapter import Mlp, Sgd
from test_numpy_model import COLUMNS, arrays, frame, shards

from xshards.learn.callbacks import Callback
from xshards.profile.progress import is_watched


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """Make this process look like the kernel of a notebook."""
    package = types.ModuleType("IPython")
    package.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", package)
    return package


def fit(make, *, show, rows=96, **options):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.01), workers=2)
    estimator._job.parts.use_tqdm = show
    estimator.fit(arrays(rows), 2, 8, **options)


def test_terminals_and_notebooks_are_watched(monkeypatch, notebook):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert is_watched()
    notebook.get_ipython = lambda: object()  # IPython in a pipe
    assert not is_watched()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not is_watched()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert is_watched()
    monkeypatch.setattr(sys, "stderr", None)
    assert not is_watched()


@pytest.mark.usefixtures("notebook")
def test_a_notebook_has_a_bar_by_default(make, capsys):
    fit(make, show=None)
    shown = capsys.readouterr().err
    assert "\r" in shown
    assert "epoch 2: 100%|" in shown
    assert "96.0/96.0 [" in shown


def test_a_terminal_has_a_bar_by_default(make, monkeypatch):
    model, terminal = Mlp(3, 4), Terminal()
    estimator = make(model, Sgd(model, 0.01), workers=2)
    estimator._job.parts.use_tqdm = None
    monkeypatch.setattr(sys, "stderr", terminal)
    estimator.fit(frame(4000), 1, 8, **COLUMNS)
    assert "4.00k/4.00k [" in terminal.getvalue()


def test_files_have_one_line_per_epoch_on_request(make, capsys):
    fit(make, show=None)
    assert capsys.readouterr().err == ""
    fit(make, show=True, validation_data=shards())
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("epoch 1: 100%|")
    assert "train_loss=" in second
    assert "val_loss=" in second


class Steps(Callback):
    def __init__(self, directory):
        self.directory = directory

    def before_train_epoch(self, runner):
        with (self.directory / str(runner.rank)).open("a") as file:
            file.write(f"{runner.steps_per_epoch} ")


def test_callbacks_know_the_updates_of_an_epoch(make, tmp_path):
    fit(make, show=False, rows=90, callbacks=[Steps(tmp_path)])
    fit(make, show=False, rows=90, callbacks=[Steps(tmp_path)], accumulate=5)
    fit(make, show=False, rows=90, callbacks=[Steps(tmp_path)], max_steps=14)
    assert (tmp_path / "0").read_text() == "12 12 3 3 12 2 "
