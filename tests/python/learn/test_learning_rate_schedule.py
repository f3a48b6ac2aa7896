# SPDX-License-Identifier: Apache-2.0
"""The binding of the schedules; the values themselves are checked in C++ too."""

import pytest

from xshards._core import LearningRateSchedule as Schedule


def rates(schedule, base, iterations):
    return [schedule.rate_at(base, iteration) for iteration in iterations]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (Schedule.default(0.5), [8, 16 / 3, 4, 16 / 5, 8 / 3]),
        (Schedule.poly(1, 4), [8, 6, 4, 2, 0]),
        (Schedule.exponential(2, 0.25, False), [8, 4, 2, 1, 0.5]),
        (Schedule.exponential(2, 0.25, True), [8, 8, 2, 2, 0.5]),
        (Schedule.step(2, 0.5), [8, 8, 4, 4, 2]),
        (Schedule.multi_step([1, 4], 0.5), [8, 4, 4, 4, 2]),
        (Schedule.warmup(0.5), [8, 8.5, 9, 9.5, 10]),
        (
            Schedule.sequential([(Schedule.warmup(1), 1), (Schedule.step(1, 0.5), 9)]),
            [8, 9, 4.5, 2.25, 1.125],
        ),
    ],
)
def test_rates_of_the_first_iterations(schedule, expected):
    assert rates(schedule, 8, range(5)) == pytest.approx(expected)


def test_plateau_is_restored_from_its_state():
    first = Schedule.plateau(factor=0.5, patience=0)
    for loss in [1.0, 1.0]:
        first.observe(loss, 8, 0)
    second = Schedule.plateau(factor=0.5, patience=0)
    second.restore(first.state)
    assert first.rate_at(8, 9) == second.rate_at(8, 9) == 4


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="Plateau: factor must be below 1, got 2"):
        Schedule.plateau(factor=2)
    with pytest.raises(ValueError, match="Step: step_size must be at least 1, got 0"):
        Schedule.step(0, 1)
