# SPDX-License-Identifier: Apache-2.0
"""What a fit returns: a list of dicts that is also a table and a plot."""

import copy
import pickle
import sys
import types

import pandas as pd
import pytest

from xshards.errors import XShardsKeyError
from xshards.learn.history import History
from xshards.learn.tf.history import KerasHistory

EPOCHS = [
    {
        "epoch": 3,
        "batch_count": 2,
        "num_samples": 64,
        "train_loss": 0.5,
        "last_train_loss": 0.4,
        "val_loss": 0.75,
        "val_mae": 0.25,
    },
    {
        "epoch": 4,
        "batch_count": 2,
        "num_samples": 64,
        "train_loss": 0.25,
        "last_train_loss": 0.2,
        "val_loss": 0.5,
        "val_mae": 0.125,
    },
]


def test_it_is_the_list_of_epochs():
    history = History(EPOCHS)
    assert history == EPOCHS
    assert [one["epoch"] for one in history] == [3, 4]
    assert history[-1] is EPOCHS[-1]
    assert pickle.loads(pickle.dumps(history)) == copy.copy(history) == history
    assert isinstance(pickle.loads(pickle.dumps(history)), History)


def test_values_by_name():
    history = History(EPOCHS)
    assert history.epoch == [3, 4]
    assert history.history["val_mae"] == [0.25, 0.125]
    assert list(history.history) == list(EPOCHS[0])
    uneven = History([{"epoch": 1}, {"epoch": 2, "val_loss": 1.0}])
    assert uneven.history == {"epoch": [1, 2], "val_loss": [None, 1.0]}


def test_the_table_has_a_row_for_each_epoch():
    pd.testing.assert_frame_equal(History(EPOCHS).to_pandas(), pd.DataFrame(EPOCHS))
    assert len(History().to_pandas()) == 0


def test_results_of_each_replica():
    history = History([[{"epoch": 1, "train_loss": 1.0}, {"epoch": 1, "own": 3}]])
    assert history.epoch == [1]
    assert history.history["train_loss"] == [[1.0, None]]
    table = history.to_pandas()
    assert table["replica"].tolist() == [0, 1]
    assert table["own"].isna().tolist() == [True, False]
    assert "replica" in repr(history)


def test_it_is_shown_as_a_table():
    text = repr(History(EPOCHS))
    assert text.splitlines()[0] == "History of 2 epochs"
    assert "val_mae" in text
    assert "last_train_loss" not in text
    assert repr(History(EPOCHS[:1])).startswith("History of 1 epoch\n")
    assert repr(History()) == "History of 0 epochs"
    html = History(EPOCHS)._repr_html_()
    assert html.count("<tr") == 3
    assert "0.125" in html
    assert "History of 0 epochs" in History()._repr_html_()


def test_names_in_html_are_escaped():
    assert "<b>" not in History([{"epoch": 1, "<b>": 1}])._repr_html_()


class Axes:
    """Notes what is drawn, in the place of matplotlib's."""

    def __init__(self):
        self.lines = {}

    def plot(self, x, y, *, label, marker):
        self.lines[label] = (list(x), list(y))

    def set_xlabel(self, text):
        self.x = text

    def set_ylabel(self, text):
        self.y = text

    def legend(self):
        pass


@pytest.fixture
def pyplot(monkeypatch):
    def subplots(rows, columns, figsize):
        made = [Axes() for _ in range(columns)]
        return None, made if columns > 1 else made[0]

    package, module = types.ModuleType("matplotlib"), types.ModuleType("pyplot")
    package.pyplot, module.subplots = module, subplots
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", module)


@pytest.mark.usefixtures("pyplot")
def test_plot_draws_training_and_validation_together():
    loss, mae = History(EPOCHS).plot()
    assert loss.lines == {
        "train_loss": ([3, 4], [0.5, 0.25]),
        "val_loss": ([3, 4], [0.75, 0.5]),
    }
    assert mae.lines == {"val_mae": ([3, 4], [0.25, 0.125])}
    assert (loss.x, loss.y, mae.y) == ("epoch", "loss", "mae")


@pytest.mark.usefixtures("pyplot")
def test_plot_of_chosen_results():
    (axes,) = History(EPOCHS).plot("loss")
    assert list(axes.lines) == ["train_loss", "val_loss"]
    own = Axes()
    assert History(EPOCHS).plot(["val_mae", "train_loss"], ax=own) == [own]
    assert list(own.lines) == ["val_mae", "train_loss"]
    with pytest.raises(XShardsKeyError, match=r"'acc' to draw; there are loss, mae"):
        History(EPOCHS).plot("acc")
    assert len(History().plot()) == 1


def test_plot_without_matplotlib_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"^plot needs matplotlib: pip install matp"):
        History(EPOCHS).plot()


@pytest.mark.usefixtures("pyplot")
def test_that_of_keras_is_a_dict_of_lists_and_a_table():
    history = KerasHistory()
    assert repr(history) == "History of 0 epochs"
    history.take(2, {"loss": [0.5]})
    history.take(3, {"loss": [0.5, 0.25], "val_loss": [1.0]})
    assert history == history.history == {"loss": [0.5, 0.25], "val_loss": [1.0]}
    assert history.epoch == [2, 3]
    table = history.to_pandas()
    assert table["epoch"].tolist() == [2, 3]
    assert table["val_loss"].isna().tolist() == [True, False]
    assert repr(history).splitlines()[0] == "History of 2 epochs"
    assert history._repr_html_().count("<tr") == 3
    axes = Axes()
    history.plot("loss", ax=axes)
    assert axes.lines == {"loss": ([2, 3], [0.5, 0.25]), "val_loss": ([3], [1.0])}
    again = pickle.loads(pickle.dumps(history))
    assert (again, again.epoch, repr(again)) == (history, [2, 3], repr(history))
