# SPDX-License-Identifier: Apache-2.0
"""Which epoch is the best, and the checkpoint of it."""

import math

import pytest

from xshards.errors import XShardsKeyError, XShardsValueError
from xshards.learn.callbacks import ModelCheckpoint
from xshards.learn.monitor import Monitor


def improvements(name, values, **options):
    monitor = Monitor(name, **options)
    return [monitor.improves({name: value}) for value in values]


@pytest.mark.parametrize(
    ("name", "mode", "expected"),
    [
        ("val_loss", None, [True, True, False, False]),
        ("val_accuracy", None, [True, False, True, False]),
        ("val_AUC", None, [True, False, True, False]),
        ("val_loss", "max", [True, False, True, False]),
        ("val_accuracy", "min", [True, True, False, False]),
        ("val_my_own", None, [True, True, False, False]),
    ],
)
def test_mode_decides_which_value_is_better(name, mode, expected):
    assert improvements(name, [2.0, 1.0, 3.0, 3.0], mode=mode) == expected


def test_small_changes_and_nan_do_not_improve():
    assert improvements("val_loss", [math.nan, 2.0, 1.95, 1.5], min_delta=0.1) == [
        False,
        True,
        False,
        True,
    ]


def test_unknown_result_is_named():
    with pytest.raises(
        XShardsKeyError, match=r"who: 'val_x' is not among .*: epoch, l"
    ):
        Monitor("val_x").improves({"loss": 1, "epoch": 2}, asked_by="who")
    with pytest.raises(XShardsValueError, match='"min" or "max", got \'most\''):
        Monitor("val_x", "most")


class Runner:
    rank = 0

    def __init__(self):
        self.saved = []

    def save_checkpoint(self, filepath, save_weights_only):
        self.saved.append(filepath)


def epochs(callback, runner, losses, name="val_loss"):
    callback.before_run(runner)
    for number, loss in enumerate(losses, 1):
        runner.epochs = number
        runner.epoch_stats = {"train_loss": 1.0}
        callback.after_train_epoch(runner)
        runner.epoch_stats = {"train_loss": 1.0, name: loss}
        callback.after_val_epoch(runner)
    callback.after_run(runner)


def test_only_better_epochs_are_saved():
    runner = Runner()
    callback = ModelCheckpoint("d/{epoch}", save_best_only=True)
    epochs(callback, runner, [3.0, 4.0, 2.0])
    assert runner.saved == ["d/epoch=1.ckpt", "d/epoch=3.ckpt"]
    epochs(callback, runner, [5.0])  # another run
    assert runner.saved[2:] == ["d/epoch=1.ckpt"]


def test_one_file_is_replaced():
    runner = Runner()
    callback = ModelCheckpoint("d/net", save_best_only=True, monitor="val_accuracy")
    epochs(callback, runner, [0.5, 0.4, 0.9], "val_accuracy")
    assert runner.saved == ["d/net-best.ckpt"] * 2
    assert ModelCheckpoint("d/", save_best_only=True).path_of(1) == "d/best.ckpt"


def test_train_loss_is_monitored_after_training():
    runner = Runner()
    callback = ModelCheckpoint("d/net", save_best_only=True, monitor="train_loss")
    epochs(callback, runner, [1.0, 1.0])
    assert runner.saved == ["d/net-best.ckpt"]


def test_missing_best_epoch_warns():
    callback = ModelCheckpoint("d/net", save_best_only=True)
    with pytest.warns(UserWarning, match="no epoch reported a numeric 'val_loss'"):
        epochs(callback, Runner(), [math.nan])
    with pytest.raises(XShardsValueError, match="leave out by_epoch and interval"):
        ModelCheckpoint("d/net", save_best_only=True, interval=2)
