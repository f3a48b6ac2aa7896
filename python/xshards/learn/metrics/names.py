# SPDX-License-Identifier: Apache-2.0
"""Metrics by name, as users may write them in place of an object."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.learn.metrics import accuracies, classes, errors

if TYPE_CHECKING:
    from xshards.learn.metrics.metric import Metric

__all__ = ["metric_names", "metric_of_name", "more_is_better"]

#: The class of each metric, and its names; class names count too.
_ALIASES: dict[type[Metric], tuple[str, ...]] = {
    accuracies.Accuracy: ("accuracy", "acc"),
    accuracies.BinaryAccuracy: ("binary_accuracy",),
    accuracies.CategoricalAccuracy: ("categorical_accuracy",),
    accuracies.SparseCategoricalAccuracy: ("sparse_categorical_accuracy",),
    accuracies.Top5Accuracy: ("top5_accuracy", "top_5_accuracy", "top5"),
    classes.AUC: ("auc", "auroc", "roc_auc"),
    classes.ConfusionMatrix: ("confusion_matrix",),
    classes.F1Score: ("f1", "f1_score"),
    classes.Precision: ("precision",),
    classes.PrecisionRecallCurve: ("precision_recall_curve",),
    classes.ROC: ("roc", "roc_curve"),
    classes.Recall: ("recall",),
    errors.BinaryCrossEntropy: ("binary_crossentropy", "bce", "log_loss"),
    errors.CategoricalCrossEntropy: ("categorical_crossentropy",),
    errors.KLDivergence: ("kl_divergence", "kld"),
    errors.MAE: ("mae", "mean_absolute_error", "l1"),
    errors.MSE: ("mse", "mean_squared_error", "l2"),
    errors.Poisson: ("poisson",),
    errors.SparseCategoricalCrossEntropy: ("sparse_categorical_crossentropy",),
}
_MORE_IS_BETTER = (
    accuracies.Accuracy,
    accuracies.BinaryAccuracy,
    accuracies.CategoricalAccuracy,
    accuracies.SparseCategoricalAccuracy,
    accuracies.Top5Accuracy,
    classes.AUC,
    classes.F1Score,
    classes.Precision,
    classes.Recall,
)


def _plain(name: str) -> str:
    """Write a name as it is looked up: "F1-Score" and "f1_score" are one."""
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


_BY_NAME = {
    _plain(name): kind
    for kind, names in _ALIASES.items()
    for name in (*names, kind.__name__)
}


def metric_names() -> list[str]:
    """List the names that metrics can be given by, without their aliases.

    Returns
    -------
    list of str
        In the order of the alphabet.

    Examples
    --------
    >>> from xshards.learn.metrics import metric_names
    >>> metric_names()[:3]
    ['accuracy', 'auc', 'binary_accuracy']
    """
    return sorted(names[0] for names in _ALIASES.values())


def metric_of_name(name: str) -> Metric:
    """Make the metric of a name; its results are listed under the name as given.

    Parameters
    ----------
    name
        One of `metric_names`, an alias of it or the name of a class, in any case.

    Returns
    -------
    Metric
        With its default options.

    Raises
    ------
    XShardsValueError
        If there is no such metric.

    Examples
    --------
    >>> from xshards.learn.metrics import metric_of_name
    >>> metric_of_name("acc")
    Accuracy('acc')
    """
    kind = _BY_NAME.get(_plain(name))
    if kind is None:
        near = difflib.get_close_matches(_plain(name), _BY_NAME, 1)
        hint = ""
        if near:
            hint = f"; did you mean {_ALIASES[_BY_NAME[near[0]]][0]!r}?"
        msg = (
            f"metrics by name are {', '.join(metric_names())}, or objects of "
            f"xshards.learn.metrics; got {name!r}{hint}"
        )
        raise XShardsValueError(msg)
    made: Any = kind()
    made._listed_as = name
    metric: Metric = made
    return metric


def more_is_better(name: str) -> bool:
    """Return whether larger values are better: of accuracies, not of errors.

    Parameters
    ----------
    name
        Of a metric, with or without "val_" before it.

    Returns
    -------
    bool
        False for losses and for names that are not known.

    Examples
    --------
    >>> from xshards.learn.metrics import more_is_better
    >>> more_is_better("val_accuracy"), more_is_better("val_loss")
    (True, False)
    """
    return _BY_NAME.get(_plain(name.removeprefix("val_"))) in _MORE_IS_BETTER
