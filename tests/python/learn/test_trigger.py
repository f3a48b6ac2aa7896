# SPDX-License-Identifier: Apache-2.0
"""Triggers, over the states that a run goes through."""

import pickle

import pytest

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.trigger import (
    And,
    EveryEpoch,
    MaxEpoch,
    MaxIteration,
    MaxScore,
    MinLoss,
    Or,
    SeveralIteration,
    TrainingState,
    convert_trigger,
)

# Two epochs of three updates; the loss falls, a score comes with each epoch's end.
RUN = [
    TrainingState(0, 1, 0.9),
    TrainingState(0, 2, 0.7),
    TrainingState(1, 3, 0.5, 0.6, epoch_finished=True),
    TrainingState(1, 4, 0.4, 0.6),
    TrainingState(1, 5, 0.3, 0.6),
    TrainingState(2, 6, 0.2, 0.8, epoch_finished=True),
]


@pytest.mark.parametrize(
    ("trigger", "iterations"),
    [
        (EveryEpoch(), [3, 6]),
        (SeveralIteration(1), [1, 2, 3, 4, 5, 6]),
        (SeveralIteration(2), [2, 4, 6]),
        (SeveralIteration(7), []),
        (MaxEpoch(1), [3, 4, 5, 6]),
        (MaxEpoch(2), [6]),
        (MaxIteration(5), [5, 6]),
        (MinLoss(0.4), [5, 6]),
        (MaxScore(0.6), [6]),
        (And(EveryEpoch(), SeveralIteration(2)), [6]),
        (EveryEpoch() & SeveralIteration(2) & MinLoss(0.1), []),
        (Or(EveryEpoch(), SeveralIteration(2)), [2, 3, 4, 6]),
        (EveryEpoch() | MaxIteration(5), [3, 5, 6]),
        (Or("everyepoch"), [3, 6]),
    ],
    ids=repr,
)
def test_fires(trigger, iterations):
    assert [state.iteration for state in RUN if trigger.fires(state)] == iterations
    copy = pickle.loads(pickle.dumps(trigger))
    assert copy == trigger
    assert hash(copy) == hash(trigger)


def test_nothing_fires_before_the_first_update():
    start = TrainingState(0, 0)
    for trigger in (SeveralIteration(1), EveryEpoch(), MinLoss(9), MaxScore(-9)):
        assert not trigger.fires(start)


@pytest.mark.parametrize("name", ["everyepoch", "EveryEpoch", "EVERYEPOCH"])
def test_a_trigger_by_name(name):
    assert convert_trigger(name) == EveryEpoch()


def test_a_trigger_is_returned_unchanged():
    trigger = SeveralIteration(4)
    assert convert_trigger(trigger) is trigger


def test_mistakes_are_named():
    with pytest.raises(XShardsValueError, match="'severaliteration'"):
        convert_trigger("severaliteration")
    with pytest.raises(XShardsTypeError, match="got int"):
        convert_trigger(3)
    with pytest.raises(XShardsTypeError, match="got float"):
        EveryEpoch() & And(EveryEpoch(), 1.5)
    for make in (SeveralIteration, MaxEpoch, MaxIteration):
        with pytest.raises(XShardsValueError, match=f"{make.__name__}.*got 0"):
            make(0)
        with pytest.raises(XShardsTypeError, match="got float"):
            make(1.0)
    with pytest.raises(TypeError):
        EveryEpoch() | 3
