# SPDX-License-Identifier: Apache-2.0
"""Operators, schedulers and optimizers of all kinds, against plain torch."""

import copy

import numpy as np
import pytest
import torch
from training import adam, arrays, assert_same, mlp, plain_loop, sgd, shards, weights_of

from xshards.learn import optimizers
from xshards.learn.metrics import MAE
from xshards.learn.pytorch import TrainingOperator

SCHEDULERS = {
    "step": lambda o, c: torch.optim.lr_scheduler.StepLR(o, 3, gamma=0.5),
    "one cycle": lambda o, c: torch.optim.lr_scheduler.OneCycleLR(
        o, max_lr=0.1, total_steps=30
    ),
    "lambda": lambda o, c: torch.optim.lr_scheduler.LambdaLR(o, lambda n: 1 / (1 + n)),
}


@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedulers_step_after_each_batch(make, optimizer, name):
    estimator = make(mlp(), optimizer, scheduler_creator=SCHEDULERS[name])
    estimator.fit(shards(), epochs=2, batch_size=16)
    estimator.fit(shards(), epochs=1, batch_size=16)
    expected = mlp()
    theirs = optimizer(expected)
    scheduler = SCHEDULERS[name](theirs, {})
    plain_loop(expected, theirs, shards(), 3, 16, after_batch=scheduler.step)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))


@pytest.mark.parametrize(("frequency", "steps"), [("epoch", 2), ("manual", 0)])
def test_schedulers_step_as_often_as_asked(make, frequency, steps):
    estimator = make(
        mlp(),
        scheduler_creator=lambda o, c: torch.optim.lr_scheduler.ExponentialLR(o, 0.5),
        scheduler_step_freq=frequency,
    )
    estimator.fit(shards(), epochs=2)
    assert estimator._job.options[0][0]["lr"] == pytest.approx(0.05 * 0.5**steps)


@pytest.mark.parametrize("validated", [False, True])
def test_a_plateau_of_the_loss_lowers_the_rate(make, validated, tmp_path):
    def creator(optimizer, config):
        return torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, factor=0.5, patience=0, threshold=0.5
        )

    def started():
        return make(mlp(), scheduler_creator=creator, scheduler_step_freq="epoch")

    estimator = started()
    options = {"validation_data": shards(30)} if validated else {}
    history = estimator.fit(shards(), epochs=3, batch_size=16, **options)
    estimator.save(tmp_path / "state")
    history += estimator.fit(shards(), epochs=2, batch_size=16, **options)
    expected = mlp()
    theirs = sgd(expected)
    scheduler = creator(theirs, {})
    numbers = []
    for epoch, batch in batches_of(shards(), 5, 16):
        if numbers and numbers[-1] != epoch:
            name = "val_loss" if validated else "train_loss"
            scheduler.step(history[epoch - 1][name])
        numbers.append(epoch)
        theirs.zero_grad()
        torch.nn.functional.mse_loss(expected(batch[0]), batch[1]).backward()
        theirs.step()
    assert theirs.param_groups[0]["lr"] < 0.05
    assert_same(weights_of(estimator.get_model()), weights_of(expected))
    resumed = started()
    resumed.load(tmp_path / "state")
    resumed.fit(shards(), epochs=2, batch_size=16, **options)
    ours = weights_of(resumed.get_model())
    assert_same(ours, weights_of(estimator.get_model()), rtol=0, atol=0)


OTHERS = {
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "Rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
    "ASGD": lambda p: torch.optim.ASGD(p, lr=0.01),
}


@pytest.mark.parametrize("name", OTHERS)
def test_any_torch_optimizer_runs_as_itself(make, name, tmp_path):
    def creator(model, config=None):
        return OTHERS[name](model.parameters())

    estimator = make(mlp(), creator, workers=3)
    assert estimator.fit(shards(), epochs=2, batch_size=16)[-1]["num_samples"] == 100
    expected = mlp()
    plain_loop(expected, creator(expected), shards(), 2, 16)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))
    estimator.save(tmp_path / "state")
    estimator.fit(shards(), batch_size=16)
    resumed = make(mlp(), creator, workers=3)
    resumed.load(tmp_path / "state")
    resumed.fit(shards(), batch_size=16)
    ours = weights_of(resumed.get_model())
    assert_same(ours, weights_of(estimator.get_model()), rtol=0, atol=0)


def lbfgs(model, config=None):
    return torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=3)


def test_lbfgs_runs_in_one_replica(make, tmp_path):
    whole = make(mlp(), lbfgs, workers=1)
    history = whole.fit(shards(), epochs=2, batch_size=25)
    expected = mlp()
    theirs = lbfgs(expected)
    for _, batch in batches_of(shards(), 2, 25):
        x, y = batch

        def closure(x=x, y=y):
            theirs.zero_grad()
            loss = torch.nn.functional.mse_loss(expected(x), y)
            loss.backward()
            return loss

        theirs.step(closure)
    assert_same(weights_of(whole.get_model()), weights_of(expected))
    assert history[1]["train_loss"] < history[0]["train_loss"]
    whole.save(tmp_path / "state")
    whole.fit(shards(), batch_size=25)
    resumed = make(mlp(), lbfgs, workers=1)
    resumed.load(tmp_path / "state")
    resumed.fit(shards(), batch_size=25)
    ours = weights_of(resumed.get_model())
    assert_same(ours, weights_of(whole.get_model()), rtol=0, atol=0)


def batches_of(data, epochs, batch_size):
    from training import SEED

    from xshards.learn.feeder import Feeder

    feeder = Feeder(data, batch_size=batch_size, shuffle=True, seed=SEED)
    for epoch in range(epochs):
        for batch in feeder.epoch(epoch):
            yield epoch, [torch.from_numpy(array.copy()) for array in batch.arrays]


def test_lbfgs_is_refused_above_one_replica(make):
    with pytest.raises(ValueError, match="LBFGS evaluates the loss several times"):
        make(mlp(), lbfgs).fit(shards())


def test_parameter_groups_keep_their_options(make):
    def creator(model, config=None):
        return torch.optim.AdamW(
            [
                {"params": model[0].parameters(), "lr": 0.1, "weight_decay": 0.5},
                {"params": model[2].parameters()},
            ],
            lr=0.001,
        )

    estimator = make(mlp(), creator)
    estimator.fit(shards(), batch_size=16)
    expected = mlp()
    plain_loop(expected, creator(expected), shards(), 1, 16)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))


def test_optimizers_of_orca_train(make):
    estimator = make(mlp(), optimizers.Adam(learningrate=0.01))
    estimator.fit(shards(), epochs=2, batch_size=16)
    expected = mlp()
    plain_loop(expected, adam(expected), shards(), 2, 16)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))


def test_schedules_of_orca_change_the_rate(make):
    from xshards.learn.optimizers.schedule import Step

    chosen = optimizers.SGD(learningrate=0.1, learningrate_schedule=Step(3, 0.5))
    estimator = make(mlp(), chosen)
    estimator.fit(shards(), epochs=1, batch_size=16)  # 7 updates
    expected = mlp()
    theirs = torch.optim.SGD(expected.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(theirs, 3, gamma=0.5)
    plain_loop(expected, theirs, shards(), 1, 16, after_batch=scheduler.step)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))


@pytest.mark.parametrize(
    "optimizer", [sgd, lambda m, c: OTHERS["NAdam"](m.parameters())]
)
def test_gradients_are_clipped(make, optimizer):
    def train(clip):
        estimator = make(mlp(), optimizer)
        clip(estimator)
        estimator.fit(shards(), batch_size=16)
        return weights_of(estimator.get_model())

    def loop(clip):
        model = mlp()
        theirs = optimizer(model, {})
        step = theirs.step

        def clipped():
            clip(model)
            step()

        theirs.step = clipped
        plain_loop(model, theirs, shards(), 1, 16)
        return weights_of(model)

    assert_same(
        train(lambda e: e.set_constant_gradient_clipping(-0.01, 0.02)),
        loop(lambda m: [p.grad.clamp_(-0.01, 0.02) for p in m.parameters()]),
    )
    assert_same(
        train(lambda e: e.set_l2_norm_gradient_clipping(0.1)),
        loop(lambda m: torch.nn.utils.clip_grad_norm_(m.parameters(), 0.1)),
    )
    unclipped = train(lambda e: None)
    assert_same(
        train(
            lambda e: (
                e.set_l2_norm_gradient_clipping(0.1),
                e.clear_gradient_clipping(),
            )
        ),
        unclipped,
        rtol=0,
        atol=0,
    )


class Halved(TrainingOperator):
    def setup(self, config):
        self.factor = config["factor"]
        self.batches = 0

    def train_batch(self, batch, batch_info):
        *features, target = batch
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(*features), target) * self.factor
        loss.backward()
        self.optimizer.step()
        self.batches += 1
        return {"train_loss": loss.item(), "num_samples": len(target), "extra": 2.0}

    def validate(self, val_iterator, info, metrics=None):
        rows = sum(len(batch[-1]) for batch in val_iterator)
        return {"num_samples": rows, "seen": rows * 0 + self.world_rank}

    def state_dict(self):
        return {"batches": self.batches}

    def load_state_dict(self, state_dict):
        self.batches = state_dict["batches"]


def test_an_operator_trains_in_its_own_way(make, tmp_path):
    options = {"training_operator_cls": Halved, "config": {"factor": 0.5}}
    estimator = make(mlp(), **options)
    (stats,) = estimator.fit(shards(), batch_size=16)
    assert stats["extra"] == 2.0
    expected = mlp()
    halved = torch.optim.SGD(expected.parameters(), lr=0.025, momentum=0.9)
    (loss,) = plain_loop(expected, halved, shards(), 1, 16)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))
    assert stats["train_loss"] == pytest.approx(loss / 2)
    result = estimator.evaluate(shards(30))
    assert result["num_samples"] == 30
    assert result["seen"] == 0.5
    estimator.save(tmp_path / "state")
    other = make(mlp(), **options)
    other.load(tmp_path / "state")
    other.fit(shards(), batch_size=16)
    assert other.get_state_dict()["operator"] == {"batches": 14}


class Measures(TrainingOperator):
    def validate_batch(self, batch, batch_info):
        x, y = batch
        return {
            "highest": y.max().item(),
            "output": self.model(x),
            "num_samples": len(x),
        }

    def predict(self, pred_iterator):
        return [self.model(*batch) * 0 + 7 for batch in pred_iterator]


def test_an_operator_measures_and_predicts_in_its_own_way(make):
    estimator = make(mlp(), training_operator_cls=Measures, workers=2)
    data = {"x": arrays(40)["x"], "y": np.ones((40, 1))}
    result = estimator.evaluate(data, batch_size=8, validation_methods=[MAE()])
    assert result["highest"] == 1
    assert result["num_samples"] == 40
    assert result["MAE"] > 0
    assert set(estimator.predict(data["x"])[:, 0]) == {7}


class Pair(TrainingOperator):
    """Two models and two optimizers, stepped in turn."""

    def train_batch(self, batch, batch_info):
        x, y = batch
        first, _ = self.models
        losses = []
        for model, optimizer, target in zip(
            self.models, self.optimizers, (y, first(x).detach()), strict=True
        ):
            optimizer.zero_grad()
            loss = self.criterion(model(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return {"train_loss": losses[0], "second_loss": losses[1]}


def test_several_models_and_optimizers(make):
    estimator = make(
        lambda config: [mlp(1), mlp(2)],
        lambda models, config: [sgd(models[0]), adam(models[1])],
        training_operator_cls=Pair,
    )
    (stats,) = estimator.fit(shards(), batch_size=16)
    assert {"train_loss", "second_loss"} <= set(stats)
    first, second = estimator.get_model()
    expected = [mlp(1), mlp(2)]
    theirs = [sgd(expected[0]), adam(expected[1])]
    from training import SEED

    from xshards.learn.feeder import Feeder

    for batch in Feeder(shards(), batch_size=16, shuffle=True, seed=SEED).epoch(0):
        x, y = (torch.from_numpy(array.copy()) for array in batch.arrays)
        targets = (y, expected[0](x).detach())
        for model, optimizer, target in zip(expected, theirs, targets, strict=True):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), target).backward()
            optimizer.step()
    assert_same(weights_of(first), weights_of(expected[0]))
    assert_same(weights_of(second), weights_of(expected[1]))


@pytest.mark.parametrize("sync", [False, True])
def test_statistics_are_of_replica_0_or_of_all(make, sync):
    model = torch.nn.Sequential(
        torch.nn.BatchNorm1d(4, momentum=None), torch.nn.Linear(4, 1)
    )
    data = arrays(40)
    x = data["x"].astype("float32")
    estimator = make(model, workers=2, sync_stats=sync)
    estimator.fit(
        {"x": x, "y": data["y"].astype("float32")}, batch_size=40, shuffle=False
    )
    mean = estimator.get_model()[0].running_mean.numpy()
    expected = x.mean(0) if sync else x[:20].mean(0)
    np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-6)


def test_reports_of_each_replica(make):
    estimator = make(mlp(), workers=2)
    (each,) = estimator.fit(shards(), reduce_results=False, profile=True)
    assert [one["num_samples"] for one in each] == [51, 49] or sum(
        one["num_samples"] for one in each
    ) == 100


def test_the_optimizer_given_is_not_needed_in_replicas(make):
    model = mlp()
    optimizer = sgd(model)
    estimator = make(model, optimizer)
    estimator.fit(shards(), batch_size=16)
    # An instance is trained itself, as torch would.
    ours, copied = weights_of(model), copy.deepcopy(weights_of(estimator.get_model()))
    assert_same(ours, copied, rtol=0, atol=0)
    estimator.shutdown()
    assert_same(weights_of(model), copied, rtol=0, atol=0)
