# SPDX-License-Identifier: Apache-2.0
"""Callbacks, triggers and summaries at work in a fit."""

import numpy as np
import pytest
import torch
from training import adam, arrays, assert_same, mlp, plain_loop, sgd, shards, weights_of

from xshards.learn.metrics import MAE
from xshards.learn.pytorch.callbacks import (
    Callback,
    EarlyStopping,
    MainCallback,
    MaxstepsCallback,
    ModelCheckpoint,
    TqdmCallback,
)


class Writes(Callback):
    """Notes what is called, in a file of replica 0."""

    def __init__(self, path):
        self.path = path

    def note(self, text):
        with self.path.open("a") as file:
            print(text, file=file)

    def before_run(self, runner):
        if runner.rank == 0:
            self.note(f"run of {runner.num_epochs} with {runner.world_size}")

    def after_run(self, runner):
        if runner.rank == 0:
            self.note(f"end {runner.epochs}")

    def before_train_epoch(self, runner):
        if runner.rank == 0:
            self.note(f"epoch {runner.epochs}")

    def after_train_iter(self, runner):
        if runner.rank == 0:
            assert runner.output.shape == (len(runner.batch[0]), 1)
            self.note(f"batch {runner.batch_idx} step {runner.global_step}")

    def after_val_epoch(self, runner):
        if runner.rank == 0:
            self.note(f"validated {sorted(runner.epoch_stats)}")


def test_stages_are_called_in_order(make, tmp_path):
    path = tmp_path / "calls"
    estimator = make(mlp())
    estimator.fit(
        shards(40), 2, 20, validation_data=shards(10), callbacks=[Writes(path)]
    )
    stats = "['batch_count', 'epoch', 'last_train_loss', 'num_samples', 'train_loss', "
    assert path.read_text().splitlines() == [
        "run of 2 with 2",
        "epoch 0",
        "batch 0 step 1",
        "batch 1 step 2",
        f"validated {stats}'val_loss']",
        "epoch 1",
        "batch 0 step 3",
        "batch 1 step 4",
        f"validated {stats}'val_loss']",
        "end 2",
    ]
    expected = mlp()
    plain_loop(expected, sgd(expected), shards(40), 2, 20)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))


class Doubled(MainCallback):
    def on_iter_forward(self, runner):
        x, y = runner.batch
        runner.output = runner.model(x)
        runner.loss = 2 * runner.criterion(runner.output, y)


def test_a_main_callback_does_the_work(make):
    estimator = make(mlp())
    (stats,) = estimator.fit(
        shards(), batch_size=16, validation_data=shards(), callbacks=[Doubled()]
    )
    expected = mlp()
    theirs = torch.optim.SGD(expected.parameters(), lr=0.1, momentum=0.9)
    (loss,) = plain_loop(expected, theirs, shards(), 1, 16)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))
    assert stats["train_loss"] == pytest.approx(2 * loss)
    plain = estimator.evaluate(shards())["val_loss"]
    assert stats["val_loss"] == pytest.approx(2 * plain)


def test_training_stops_early(make):
    estimator = make(mlp(), lambda m, c: torch.optim.SGD(m.parameters(), lr=0.0))
    history = estimator.fit(
        shards(),
        epochs=9,
        validation_data=shards(),
        callbacks=[EarlyStopping(patience=2)],
    )
    assert len(history) == 3
    history = estimator.fit(shards(), 9, 16, callbacks=[MaxstepsCallback(20)])
    assert estimator._job.num_steps == 20
    assert history[-1]["batch_count"] < 7


def test_max_steps_end_training(make):
    estimator = make(mlp())
    history = estimator.fit(shards(), epochs=9, batch_size=16, max_steps=10)
    assert [one["batch_count"] for one in history] == [7, 3]
    assert [one["num_samples"] for one in history] == [100, 48]
    assert estimator._job.num_steps == 10


def test_checkpoints_of_a_callback_are_resumed_from(make, tmp_path):
    estimator = make(mlp(), adam)
    saving = ModelCheckpoint(tmp_path / "net", by_epoch=False, interval=5)
    estimator.fit(shards(), epochs=2, batch_size=16, callbacks=[saving])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["last.ckpt", "net-iter=10.ckpt", "net-iter=5.ckpt"]
    resumed = make(mlp(), adam)
    resumed.load_checkpoint(tmp_path / "net-iter=10.ckpt")
    resumed.fit(shards(), epochs=1, batch_size=16)
    ours = weights_of(resumed.get_model())
    assert_same(ours, weights_of(estimator.get_model()), rtol=0, atol=0)
    last = make(mlp(), adam)
    last.load(estimator.latest_checkpoint(tmp_path))
    assert_same(weights_of(last.get_model()), ours, rtol=0, atol=0)


def test_summaries_have_every_update(make, tmp_path):
    estimator = make(
        mlp(),
        metrics=[MAE()],
        scheduler_creator=lambda o, c: torch.optim.lr_scheduler.ExponentialLR(o, 0.5),
    )
    with pytest.raises(RuntimeError, match="set_tensorboard"):
        estimator.get_train_summary("Loss")
    estimator.set_tensorboard(tmp_path, "app")
    history = estimator.fit(shards(), 2, 16, validation_data=shards(20))
    losses = estimator.get_train_summary("Loss")
    assert [step for step, _, _ in losses] == list(range(1, 15))
    assert losses[-1][1] == pytest.approx(history[-1]["last_train_loss"], rel=1e-6)
    rates = estimator.get_train_summary("LearningRate")
    expected = [0.05 * 0.5**n for n in range(14)]
    assert [rate for _, rate, _ in rates] == pytest.approx(expected)
    measured = estimator.get_validation_summary("MAE")
    assert [step for step, _, _ in measured] == [7, 14]
    assert measured[-1][1] == pytest.approx(history[-1]["val_MAE"], rel=1e-6)


class Negated(MainCallback):
    def on_pred_forward(self, runner):
        (x,) = runner.batch
        runner.output = -runner.model(x)


def test_a_main_callback_predicts(make):
    estimator = make(mlp(), None)
    x = arrays(20)["x"]
    plain = estimator.predict(x, batch_size=8)
    np.testing.assert_array_equal(
        estimator.predict(x, batch_size=8, callbacks=[Negated()]), -plain
    )


def test_progress_is_shown_when_asked_for(make, capfd):
    estimator = make(mlp(), use_tqdm=True)
    estimator.fit(shards(), epochs=1, batch_size=1)
    shown = capfd.readouterr().err
    assert "epoch 1: 100 samples" in shown
    assert "train_loss=" in shown


def test_progress_without_a_terminal_is_one_line_per_epoch(make, capfd):
    estimator = make(mlp(), use_tqdm=True)
    estimator.fit(shards(2000), epochs=2, batch_size=4, validation_data=shards())
    shown = capfd.readouterr().err
    assert "\r" not in shown
    first, second = shown.splitlines()
    assert first.startswith("epoch 1: 2.00k samples [")
    assert second.startswith("epoch 2: 2.00k samples [")
    assert "val_loss=" in second
    estimator.fit(shards(), epochs=1, batch_size=4, callbacks=[TqdmCallback()])
    lines = capfd.readouterr().err.splitlines()
    assert [one for one in lines if one.startswith("[worker")] == [lines[0]]
    assert "epoch 3/1: 25batch [" in lines[0]
