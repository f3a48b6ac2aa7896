# SPDX-License-Identifier: Apache-2.0
"""Metrics against formulas in numpy, and the same value however rows are split."""

import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.learn import metrics
from xshards.learn.metrics import convert_metrics

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

EPSILON = 1e-7


def one_hot(classes, count):
    return np.eye(count)[classes]


def probabilities(random, rows, classes):
    scores = random.random((rows, classes)) + 0.01
    return scores / scores.sum(1, keepdims=True)


def mean_log_loss(preds, targets):
    return -np.log(preds[np.arange(len(preds)), targets]).mean()


def in_top_five(scores, targets):
    better = (scores > scores[np.arange(len(scores)), targets][:, None]).sum(1)
    return (better < 5).mean()


def area(scores, targets):
    """How often a positive is above a negative, a tie being half a time."""
    above = scores[targets == 1][:, None] - scores[targets == 0][None, :]
    return ((above > 0) + 0.5 * (above == 0)).mean()


def ratios(preds, targets, label=1):
    hits = ((preds == label) & (targets == label)).sum()
    predicted, wanted = (preds == label).sum(), (targets == label).sum()
    precision = hits / predicted if predicted else 0.0
    recall = hits / wanted if wanted else 0.0
    both = predicted + wanted
    return precision, recall, 2 * hits / both if both else 0.0


# A metric, what makes predictions and targets for it, and its formula.
def classes_case(random, rows):
    return random.random((rows, 7)), random.integers(0, 7, rows)


def column_of_classes_case(random, rows):
    return random.random((rows, 7)), random.integers(0, 7, (rows, 1))


def one_hot_case(random, rows):
    classes = random.integers(0, 7, rows)
    return probabilities(random, rows, 7), one_hot(classes, 7)


def binary_case(random, rows):
    # Few different scores, so that ties are common.
    return random.integers(0, 11, rows) / 10, random.integers(0, 2, rows)


def column_case(random, rows):
    return random.integers(0, 11, (rows, 1)) / 10, random.integers(0, 2, rows)


def values_case(random, rows):
    return random.normal(size=(rows, 3)), random.normal(size=(rows, 3))


def value_column_case(random, rows):
    return random.normal(size=(rows, 1)), random.normal(size=rows)


def counts_case(random, rows):
    return random.random((rows, 2)) * 5, random.poisson(2, (rows, 2))


def labels_case(random, rows):
    return random.integers(0, 4, rows), random.integers(0, 4, rows)


def clipped(preds):
    return np.clip(preds, EPSILON, 1 - EPSILON)


def binary_cross_entropy(preds, targets):
    preds = clipped(preds.reshape(targets.shape))
    return -(targets * np.log(preds) + (1 - targets) * np.log(1 - preds)).mean()


def argmax_matches(preds, targets):
    return (preds.argmax(1) == targets.reshape(-1)).mean()


CASES = [
    (metrics.Accuracy(), classes_case, argmax_matches),
    (metrics.Accuracy(), column_of_classes_case, argmax_matches),
    (metrics.Accuracy(), binary_case, lambda p, t: ((p >= 0.5) == t).mean()),
    (metrics.Accuracy(), column_case, lambda p, t: ((p[:, 0] >= 0.5) == t).mean()),
    (metrics.Accuracy(), labels_case, lambda p, t: (p == t).mean()),
    (
        metrics.Accuracy(zero_based_label=False),
        lambda r, n: (r.random((n, 7)), r.integers(1, 8, n)),
        lambda p, t: (p.argmax(1) + 1 == t).mean(),
    ),
    (metrics.SparseCategoricalAccuracy(), classes_case, argmax_matches),
    (metrics.SparseCategoricalAccuracy(), column_of_classes_case, argmax_matches),
    (
        metrics.CategoricalAccuracy(),
        one_hot_case,
        lambda p, t: (p.argmax(1) == t.argmax(1)).mean(),
    ),
    (metrics.BinaryAccuracy(), binary_case, lambda p, t: ((p > 0.5) == t).mean()),
    (metrics.Top5Accuracy(), classes_case, in_top_five),
    (metrics.MAE(), values_case, lambda p, t: np.abs(p - t).mean()),
    (metrics.MAE(), value_column_case, lambda p, t: np.abs(p[:, 0] - t).mean()),
    (metrics.MSE(), values_case, lambda p, t: ((p - t) ** 2).mean()),
    (metrics.MSE(), value_column_case, lambda p, t: ((p[:, 0] - t) ** 2).mean()),
    (metrics.BinaryCrossEntropy(), binary_case, binary_cross_entropy),
    (metrics.BinaryCrossEntropy(), column_case, binary_cross_entropy),
    (
        metrics.CategoricalCrossEntropy(),
        one_hot_case,
        lambda p, t: mean_log_loss(p, t.argmax(1)),
    ),
    (
        metrics.SparseCategoricalCrossEntropy(),
        lambda r, n: (probabilities(r, n, 7), r.integers(0, 7, n)),
        mean_log_loss,
    ),
    (
        metrics.KLDivergence(),
        lambda r, n: (probabilities(r, n, 4), probabilities(r, n, 4)),
        lambda p, t: (t * np.log(t / p)).sum(1).mean(),
    ),
    (
        metrics.Poisson(),
        counts_case,
        lambda p, t: (p - t * np.log(p + EPSILON)).mean(),
    ),
    (metrics.AUC(), binary_case, area),
    (metrics.AUC(20), column_case, lambda p, t: area(p[:, 0], t)),
    (metrics.Precision(), binary_case, lambda p, t: ratios(p >= 0.5, t)[0]),
    (metrics.Recall(), binary_case, lambda p, t: ratios(p >= 0.5, t)[1]),
    (metrics.F1Score(), binary_case, lambda p, t: ratios(p >= 0.5, t)[2]),
    (metrics.F1Score(), labels_case, lambda p, t: (p == t).mean()),
    (metrics.Precision(), classes_case, argmax_matches),
    (
        metrics.Recall(average="macro"),
        labels_case,
        lambda p, t: np.mean([ratios(p, t, k)[1] for k in np.union1d(p, t)]),
    ),
    (
        metrics.Precision(average="binary"),
        labels_case,
        lambda p, t: ratios(p, t)[0],
    ),
    (
        metrics.CustomizedMetric(
            lambda p, t: (p - t).abs().max(1).values.mean(), "top"
        ),
        values_case,
        lambda p, t: np.abs(p - t).max(1).mean(),
    ),
]
IDS = [f"{m.get_name()}-{make.__name__}" for m, make, _ in CASES]


def added(metric, preds, targets, cuts=()):
    made = metric.get_metric("pytorch")
    edges = [0, *sorted(cuts), len(preds)]
    for begin, end in itertools.pairwise(edges):
        made(torch.tensor(preds[begin:end]), torch.tensor(targets[begin:end]))
    return made


def both_classes(preds, targets):
    """Make sure that there is a positive and a negative, for the area."""
    if targets.ndim == 1 and set(targets) <= {0, 1}:
        targets[:2] = [0, 1]
    return preds, targets


@pytest.mark.parametrize(("metric", "make", "formula"), CASES, ids=IDS)
@pytest.mark.parametrize("rows", [2, 3, 100])
def test_equals_the_formula(metric, make, formula, rows):
    preds, targets = both_classes(*make(np.random.default_rng(rows), rows))
    value = added(metric, preds, targets, [1, rows // 2]).compute()
    assert value.item() == pytest.approx(formula(preds, targets), rel=1e-12)


@pytest.mark.parametrize(("metric", "make", "formula"), CASES, ids=IDS)
@settings(max_examples=15)
@given(data=st.data())
def test_any_split_over_replicas_gives_the_same_value(metric, make, formula, data):
    rows = data.draw(st.integers(2, 40))
    preds, targets = both_classes(*make(np.random.default_rng(rows), rows))
    # Replicas may get nothing, and each takes its rows in batches.
    owner = data.draw(
        st.lists(st.integers(0, 3), min_size=rows, max_size=rows).map(np.array)
    )
    whole = metric.get_metric("pytorch")
    for replica in range(4):
        mine = owner == replica
        cuts = data.draw(st.lists(st.integers(0, int(mine.sum())), max_size=3))
        part = added(metric, preds[mine], targets[mine], cuts)
        # As it travels between processes.
        whole.merge(pickle.loads(pickle.dumps(part.state())))
    expected = formula(preds, targets)
    assert whole.compute().item() == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_counting_metrics_merge_to_the_last_bit():
    random = np.random.default_rng(1)
    preds, targets = binary_case(random, 1001)
    for metric in (metrics.Accuracy(), metrics.AUC(), metrics.F1Score()):
        whole = added(metric, preds, targets).compute()
        merged = added(metric, preds[:7], targets[:7])
        merged.merge(added(metric, preds[7:], targets[7:]).state())
        assert torch.equal(merged.compute(), whole)


def test_roc_is_the_rates_at_each_threshold():
    preds, targets = binary_case(np.random.default_rng(4), 60)
    made = added(metrics.ROC(), preds[:20], targets[:20])
    made.merge(added(metrics.ROC(), preds[20:], targets[20:]).state())
    false_rate, true_rate, thresholds = made.compute()
    assert thresholds.tolist() == [np.inf, *sorted(set(preds), reverse=True)]
    for at, threshold in enumerate(thresholds.tolist()):
        taken = preds >= threshold
        assert false_rate[at].item() == pytest.approx(taken[targets == 0].mean())
        assert true_rate[at].item() == pytest.approx(taken[targets == 1].mean())


def test_precision_recall_curve_is_both_at_each_threshold():
    preds, targets = binary_case(np.random.default_rng(5), 60)
    curve = added(metrics.PrecisionRecallCurve(), preds, targets, [30]).compute()
    precision, recall, thresholds = (each.tolist() for each in curve)
    assert thresholds == sorted(set(preds))
    for at, threshold in enumerate(thresholds):
        expected = ratios(preds >= threshold, targets)
        assert (precision[at], recall[at]) == pytest.approx(expected[:2])
    assert (precision[-1], recall[-1]) == (1, 0)


def test_many_scores_are_counted_in_bounded_room(monkeypatch):
    from xshards.learn.pytorch.metrics import curves

    monkeypatch.setattr(curves, "_PENDING_ROWS", 50)
    preds, targets = binary_case(np.random.default_rng(6), 1000)
    made = added(metrics.AUC(), preds, targets, range(0, 1000, 10))
    assert made._pending_rows <= 50
    assert len(made.state()["scores"]) == 11
    assert made.compute().item() == pytest.approx(area(preds, targets))


def test_classes_in_dimension_one_as_torchs_losses_have_them():
    random = np.random.default_rng(2)
    scores, targets = random.random((4, 3, 5, 6)), random.integers(0, 3, (4, 5, 6))
    expected = (scores.argmax(1) == targets).mean()
    for metric in (metrics.Accuracy(), metrics.SparseCategoricalAccuracy()):
        assert added(metric, scores, targets).compute().item() == expected
    last = np.moveaxis(scores, 1, -1)
    assert added(metrics.Accuracy(), last, targets).compute().item() == expected


def test_values_of_float32_models_are_added_up_in_float64():
    preds = torch.full((100_000,), 0.1, requires_grad=True)
    mae = metrics.MAE().get_metric("pytorch")
    for _ in range(10):
        mae(preds, torch.zeros(100_000))
    assert mae.compute().item() == pytest.approx(float(np.float32(0.1)), rel=1e-13)


def test_predictions_are_not_changed():
    preds = torch.tensor([0.0, 1.0])
    metrics.BinaryCrossEntropy().get_metric("pytorch")(preds, torch.tensor([0, 1]))
    assert preds.tolist() == [0, 1]


def test_reset_forgets():
    for metric, make, _ in CASES:
        preds, targets = both_classes(*make(np.random.default_rng(0), 9))
        made = added(metric, preds, targets)
        made.reset()
        fresh = metric.get_metric("pytorch")
        for key, value in fresh.state().items():
            assert torch.equal(made.state()[key], value)


@pytest.mark.parametrize("metric", [metrics.Accuracy(), metrics.AUC(), metrics.MSE()])
def test_nothing_added_is_not_a_number(metric):
    assert metric.get_metric("pytorch").compute().isnan()


def test_area_of_one_class_is_not_a_number():
    made = added(metrics.AUC(), np.array([0.1, 0.2]), np.array([1, 1]))
    assert made.compute().isnan()


def test_mistakes_are_named():
    wide, column = np.zeros((4, 3)), np.zeros(4, np.int64)
    for metric in (metrics.MSE(), metrics.AUC(), metrics.BinaryAccuracy()):
        with pytest.raises(XShardsValueError, match=r"\(4, 3\).*\(4,\)"):
            added(metric, wide, column)
    with pytest.raises(XShardsValueError, match="score for each class"):
        added(metrics.Top5Accuracy(), column, column)
    with pytest.raises(XShardsValueError, match="one-hot"):
        added(metrics.CategoricalAccuracy(), wide, column)
    with pytest.raises(XShardsValueError, match="AUC: expected targets of 0 and 1"):
        added(metrics.AUC(), np.zeros(2), np.array([0, 2]))
    with pytest.raises(XShardsValueError, match="not a number"):
        added(metrics.AUC(), np.array([np.nan, 0]), np.array([0, 1]))
    with pytest.raises(XShardsValueError, match="class indices"):
        added(metrics.F1Score(), column, column - 1)
    with pytest.raises(XShardsValueError, match="binary, micro, macro"):
        metrics.F1Score(average="weighted").get_metric("pytorch")
    with pytest.raises(XShardsValueError, match=r"one number.*\(4, 3\)"):
        added(metrics.CustomizedMetric(lambda p, t: p), wide, column)
    with pytest.raises(XShardsNotImplementedError, match="'mxnet'"):
        metrics.MAE().get_metric("mxnet")


def error_share(preds, targets):
    return (preds != targets).float().mean()


def test_lists_of_metrics_by_name():
    made = convert_metrics([metrics.Accuracy(), error_share, metrics.AUC])
    assert list(made) == ["Accuracy", "error_share", "AUC"]
    assert [m.get_name() for m in made.values()] == list(made)
    assert list(convert_metrics(metrics.MAE())) == ["MAE"]
    assert convert_metrics(None) == convert_metrics([]) == {}
    with pytest.raises(XShardsValueError, match="two metrics are named MAE"):
        convert_metrics([metrics.MAE(), metrics.MAE()])
    with pytest.raises(XShardsTypeError, match="got 3"):
        convert_metrics(3)


def test_naming_metrics_loads_no_framework():
    code = (
        "import sys, xshards, xshards.learn.metrics as m, xshards.learn.trigger\n"
        "m.Accuracy(), m.CustomizedMetric(max)\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_metric_has_a_name():
    kinds = {
        kind
        for kind in vars(metrics).values()
        if isinstance(kind, type) and issubclass(kind, metrics.Metric)
    }
    kinds -= {metrics.Metric, metrics.CustomizedMetric}
    named = {type(metrics.metric_of_name(name)) for name in metrics.metric_names()}
    assert named == kinds


@pytest.mark.parametrize("name", ["accuracy", "acc", "Accuracy", "ACCURACY"])
def test_names_and_aliases_lead_to_one_metric(name):
    made = convert_metrics([name])
    assert list(made) == [name]  # listed as given
    assert type(made[name]).__name__ == "Accuracy"


def test_names_objects_and_functions_go_together():
    def worst(preds, targets):
        return (preds - targets).abs().max()

    given = ["mae", metrics.MSE(), metrics.AUC, worst]
    assert list(convert_metrics(given)) == ["mae", "MSE", "AUC", "worst"]
    assert list(convert_metrics("f1-score")) == ["f1-score"]


def test_an_unknown_name_is_answered_with_all_names():
    with pytest.raises(XShardsValueError) as caught:
        convert_metrics(["acuracy"])
    message = str(caught.value)
    assert all(name in message for name in metrics.metric_names())
    assert message.endswith("got 'acuracy'; did you mean 'accuracy'?")
    with pytest.raises(XShardsValueError, match=r"got ''$"):
        convert_metrics([""])


def test_two_of_the_same_name_are_refused():
    with pytest.raises(XShardsValueError, match="two metrics are named mae"):
        convert_metrics(["mae", "mae"])
    assert list(convert_metrics(["acc", "accuracy"])) == ["acc", "accuracy"]


def test_higher_is_better_for_accuracies():
    better = [name for name in metrics.metric_names() if metrics.more_is_better(name)]
    assert better == [
        "accuracy",
        "auc",
        "binary_accuracy",
        "categorical_accuracy",
        "f1",
        "precision",
        "recall",
        "sparse_categorical_accuracy",
        "top5_accuracy",
    ]
    assert not metrics.more_is_better("val_loss")
    assert metrics.more_is_better("val_Accuracy")


@pytest.mark.parametrize("parts", [1, 3])
def test_confusion_matrix_counts_pairs(parts):
    random = np.random.default_rng(0)
    scores = random.random((40, 4))
    targets = random.integers(0, 3, 40)  # class 3 is predicted alone
    expected = np.zeros((4, 4), dtype=int)
    np.add.at(expected, (targets, scores.argmax(1)), 1)
    whole = convert_metrics(["confusion_matrix"])["confusion_matrix"]
    for rows in np.array_split(np.arange(40), parts):
        part = convert_metrics(["confusion_matrix"])["confusion_matrix"]
        part(torch.from_numpy(scores[rows]), torch.from_numpy(targets[rows]))
        whole.merge(pickle.loads(pickle.dumps(part.state())))
    assert whole.compute().tolist() == expected.tolist()


def test_confusion_matrix_grows_with_the_classes():
    matrix = metrics.ConfusionMatrix().get_metric("pytorch")
    assert matrix.compute().tolist() == []
    matrix(torch.tensor([0.7, 0.2]), torch.tensor([[1.0], [1.0]]).reshape(2))
    assert matrix.compute().tolist() == [[0, 0], [1, 1]]
    matrix(torch.tensor([2]), torch.tensor([0]))
    assert matrix.compute().tolist() == [[0, 0, 1], [1, 1, 0], [0, 0, 0]]
    with pytest.raises(XShardsValueError, match="ConfusionMatrix: expected class ind"):
        matrix(torch.tensor([1]), torch.tensor([-1]))
