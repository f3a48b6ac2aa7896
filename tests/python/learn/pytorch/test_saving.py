# SPDX-License-Identifier: Apache-2.0
"""What is saved is all that is needed, and no more."""

import copy
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from training import (
    adam,
    assert_same,
    estimator_of,
    mlp,
    plain_loop,
    sgd,
    shards,
    weights_of,
)

from xshards.learn.trigger import EveryEpoch, SeveralIteration

HERE = Path(__file__).parent


def step_lr(optimizer, config):
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.7)


def with_norm():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Sequential(
            torch.nn.Linear(4, 6),
            torch.nn.BatchNorm1d(6),
            torch.nn.Dropout(0.2),
            torch.nn.Linear(6, 1),
        ).double()


@pytest.mark.parametrize("optimizer", [sgd, adam])
def test_training_goes_on_from_a_file_as_if_it_had_not_stopped(
    make, optimizer, tmp_path
):
    whole = make(with_norm(), optimizer, scheduler_creator=step_lr)
    whole.fit(shards(), epochs=2, batch_size=16)
    whole.save(tmp_path / "state")
    whole.fit(shards(), epochs=2, batch_size=16)
    resumed = make(with_norm(), optimizer, scheduler_creator=step_lr)
    resumed.load(tmp_path / "state")
    history = resumed.fit(shards(), epochs=2, batch_size=16)
    assert history[-1]["epoch"] == 4
    ours = weights_of(resumed.get_model())
    assert_same(ours, weights_of(whole.get_model()), rtol=0, atol=0)
    assert resumed._job.options == whole._job.options


def test_state_is_that_of_torch(make):
    estimator = make(mlp(), adam, workers=1)
    estimator.fit(shards(), epochs=2, batch_size=16)
    state = estimator.get_state_dict()
    assert state["epoch"] == 2
    model = mlp()
    model.load_state_dict(state["models"][0])
    optimizer = adam(model)
    optimizer.load_state_dict(copy.deepcopy(state["optimizers"][0]))
    assert optimizer.state[model[0].weight]["step"] == 14
    # A step of torch from there is a step of ours from there.
    plain_loop(model, optimizer, shards(16), 1, 16)
    estimator.load_state_dict({**state, "epoch": 0})
    estimator.fit(shards(16), batch_size=16)
    assert_same(weights_of(estimator.get_model()), weights_of(model))


def test_a_file_contains_only_the_weights(make, tmp_path):
    estimator = make(torch.nn.Linear(4, 1), sgd)
    estimator.fit(shards())
    torch.save(torch.nn.Linear(4, 1).state_dict(), tmp_path / "model")
    expected = (tmp_path / "model").stat().st_size
    torch.save(estimator.get_model().state_dict(), tmp_path / "model")
    assert (tmp_path / "model").stat().st_size == expected
    other = make(torch.nn.Linear(4, 1), sgd)
    other.load(tmp_path / "model")  # what torch saved
    ours = weights_of(other.get_model())
    assert_same(ours, weights_of(estimator.get_model()), rtol=0, atol=0)


def test_entire_models_are_sealed(make, tmp_path):
    estimator = make(mlp(), sgd)
    estimator.fit(shards())
    path = tmp_path / "model"
    estimator.save(path, entire=True, key="secret")
    other = make(torch.nn.Linear(1, 1), None)
    with pytest.raises(ValueError, match="sealed with another key"):
        other.load(path, key="wrong")
    other.load(path, key="secret")
    ours = weights_of(other.get_model())
    assert_same(ours, weights_of(estimator.get_model()), rtol=0, atol=0)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="changed after it was written"):
        other.load(path, key="secret")


def test_untrusted_files_run_no_code(make, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save({"models": [Evil()]}, tmp_path / "evil")
    with pytest.raises(ValueError, match="is not loaded"):
        make(mlp()).load(tmp_path / "evil")
    assert not (tmp_path / "ran").exists()
    with pytest.raises(FileNotFoundError, match="nothing"):
        make(mlp()).load(tmp_path / "nothing")


def test_checkpoints_are_written_when_triggered(make, tmp_path):
    estimator = make(mlp(), model_dir=str(tmp_path))
    estimator.fit(
        shards(), epochs=2, batch_size=16, checkpoint_trigger=SeveralIteration(4)
    )  # 7 updates an epoch
    (run,) = tmp_path.iterdir()
    names = sorted(file.name for file in run.iterdir())
    assert names == [
        "model.12",
        "model.4",
        "model.8",
        "optimMethod-xshards.12",
        "optimMethod-xshards.4",
        "optimMethod-xshards.8",
    ]
    assert estimator.latest_checkpoint(tmp_path).endswith("model.12")
    with pytest.raises(ValueError, match="model_dir"):
        make(mlp()).fit(shards(), checkpoint_trigger=EveryEpoch())


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_epoch_is_finished(make, tmp_path, workers):
    def train(**options):
        return make(
            with_norm(),
            adam,
            scheduler_creator=step_lr,
            workers=workers,
            model_dir=str(tmp_path),
            **options,
        )

    whole = train()
    history = whole.fit(
        shards(), epochs=3, batch_size=16, checkpoint_trigger=SeveralIteration(4)
    )
    expected = weights_of(whole.get_model())
    for version, epochs_left in [(4, 3), (8, 2), (12, 2)]:
        resumed = train()
        resumed.load_orca_checkpoint(tmp_path, version)
        again = resumed.fit(shards(), epochs=epochs_left, batch_size=16)
        assert_same(weights_of(resumed.get_model()), expected, rtol=0, atol=0)
        assert again == history[-epochs_left:]


JOB = """
import sys
sys.path.insert(0, {here!r})
import xshards as xs
from training import adam, estimator_of, shards
from test_saving import step_lr, with_norm
from xshards.learn.trigger import SeveralIteration
if __name__ == "__main__":
    xs.init(cores=2)
    estimator = estimator_of(
        with_norm(), adam, scheduler_creator=step_lr, model_dir={directory!r}
    )
    print("begun", flush=True)
    estimator.fit(
        shards(5000), epochs=50, batch_size=16, checkpoint_trigger=SeveralIteration(50)
    )
"""


def test_a_job_that_is_killed_is_resumed_bitwise(make, tmp_path):
    job = subprocess.Popen(
        [sys.executable, "-c", JOB.format(here=str(HERE), directory=str(tmp_path))],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert job.stdout.readline() == b"begun\n"
        while not list(tmp_path.glob("*/model.*")):
            assert job.poll() is None
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        job.stdout.close()
    resumed = estimator_of(with_norm(), adam, scheduler_creator=step_lr)
    resumed.load_orca_checkpoint(tmp_path)
    assert resumed._job.epoch == 0
    resumed.fit(shards(5000), epochs=1, batch_size=16)
    whole = make(with_norm(), adam, scheduler_creator=step_lr)
    whole.fit(shards(5000), epochs=1, batch_size=16)
    ours = weights_of(resumed.get_model())
    resumed.shutdown()
    assert_same(ours, weights_of(whole.get_model()), rtol=0, atol=0)


def test_the_order_of_rows_goes_on_whatever_the_seed(make, tmp_path):
    whole = make(with_norm(), adam, seed=1, model_dir=str(tmp_path))
    whole.fit(shards(), batch_size=16, checkpoint_trigger=SeveralIteration(3))
    resumed = make(with_norm(), adam, seed=2)
    resumed.load_orca_checkpoint(tmp_path, 3)
    resumed.fit(shards(), batch_size=16)
    ours = weights_of(resumed.get_model())
    assert_same(ours, weights_of(whole.get_model()), rtol=0, atol=0)


def test_copies_of_a_model_in_training_are_compact(make, tmp_path):
    model = torch.nn.Linear(4, 1)
    estimator = make(model, sgd)
    estimator.fit(shards())
    weights = model.weight.data_ptr()
    for given in (copy.deepcopy(model), estimator.get_model()):
        assert given.weight.data_ptr() != weights
        assert given.weight.untyped_storage().nbytes() == 4 * 4
    path = tmp_path / "model"
    torch.save(torch.nn.Linear(4, 1), path)
    expected = path.stat().st_size
    torch.save(model, path)  # while its weights are the server's
    assert path.stat().st_size == expected
    for values in estimator.get_state_dict()["models"][0].values():
        assert values.untyped_storage().nbytes() == values.nbytes


def test_fewer_replicas_go_on_where_more_were(make, tmp_path):
    many = make(mlp(), adam, workers=3, model_dir=str(tmp_path))
    many.fit(shards(), epochs=1, batch_size=16, checkpoint_trigger=SeveralIteration(4))
    few = make(mlp(), adam, workers=2)
    few.load_orca_checkpoint(tmp_path)
    (stats,) = few.fit(shards(), batch_size=16)
    assert stats["num_samples"] == 100
    assert_same(weights_of(few.get_model()), weights_of(many.get_model()))
