"""Losses and scalers by hand and against torch, numpy and scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler
from torch.nn import functional

from scoregnn.training.losses import elementwise_loss, mean_loss
from scoregnn.training.scaling import ColumnScaler, TargetScaler
from scoregnn.training.task import Task

NAN = float("nan")
TWO_NUMBERS = Task("regression", ("a", "b"), ("", ""))
MIXED_CLASSES = Task("classification", ("a", "b"), ("", ""), (("no", "yes"), ("x", "y", "z")))


def exact(targets):
    return torch.zeros(targets.shape, dtype=torch.int8)


def test_squared_error_with_missing_labels_by_hand():
    outputs = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    targets = torch.tensor([[0.0, NAN], [5.0, 4.0]])
    losses, known = elementwise_loss(TWO_NUMBERS, outputs, targets, exact(targets))
    assert losses.tolist() == [[1.0, 0.0], [4.0, 1.0]]
    assert known.tolist() == [[True, False], [True, True]]
    assert mean_loss(TWO_NUMBERS, outputs, targets, exact(targets), torch.tensor([3.0, 0.5])).item() == pytest.approx(
        (3 * 1 + 0.5 * 4 + 0.5 * 1) / 3
    )


@pytest.mark.parametrize("task", [TWO_NUMBERS, MIXED_CLASSES])
def test_missing_labels_have_zero_gradient_and_known_ones_have_not(task):
    torch.manual_seed(0)
    outputs = torch.randn(3, task.num_outputs, requires_grad=True)
    targets = torch.tensor([[1.0, NAN], [NAN, NAN], [0.0, 2.0]])
    mean_loss(task, outputs, targets, exact(targets), torch.ones(3)).backward()
    first, rest = outputs.grad[:, :1], outputs.grad[:, 1:]
    assert torch.equal(first[1], torch.zeros(1))
    assert torch.equal(rest[:2], torch.zeros_like(rest[:2]))
    assert bool((first[[0, 2]] != 0).all()) and bool((rest[2] != 0).all())


def test_a_batch_without_labels_gives_zero_and_no_nan():
    outputs = torch.randn(2, 2, requires_grad=True)
    targets = torch.full((2, 2), NAN)
    loss = mean_loss(TWO_NUMBERS, outputs, targets, exact(targets), torch.ones(2))
    loss.backward()
    assert loss.item() == 0.0
    assert torch.equal(outputs.grad, torch.zeros(2, 2))


def test_bounds_count_only_on_their_wrong_side():
    # Targets 3 as "> 3", "< 3" and exact; predictions 2 and 5.
    task = Task("regression", ("a",), ("",))
    outputs = torch.tensor([[2.0], [5.0], [2.0], [5.0], [2.0]])
    targets = torch.full((5, 1), 3.0)
    bounds = torch.tensor([[1], [1], [-1], [-1], [0]], dtype=torch.int8)
    losses, _ = elementwise_loss(task, outputs, targets, bounds)
    assert losses[:, 0].tolist() == [1.0, 0.0, 0.0, 4.0, 1.0]


def test_cross_entropies_are_torchs():
    torch.manual_seed(0)
    outputs = torch.randn(4, 4)
    targets = torch.tensor([[0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    losses, _ = elementwise_loss(MIXED_CLASSES, outputs, targets, exact(targets))
    binary = functional.binary_cross_entropy(outputs[:, 0].sigmoid(), targets[:, 0], reduction="none")
    several = functional.nll_loss(outputs[:, 1:].log_softmax(1), targets[:, 1].long(), reduction="none")
    torch.testing.assert_close(losses, torch.stack([binary, several], dim=1))


def test_target_scaler_ignores_missing_values_and_bounds():
    targets = torch.tensor([[1.0, 7.0], [3.0, NAN], [NAN, 7.0], [100.0, 7.0]], dtype=torch.float64)
    bounds = torch.tensor([[0, 0], [0, 0], [0, 0], [1, 0]], dtype=torch.int8)
    scaler = TargetScaler.fit(targets, bounds)
    assert scaler.mean.tolist() == [2.0, 7.0]
    assert scaler.scale.tolist() == [1.0, 1.0]  # population deviation of (1, 3); 1 for a constant
    torch.testing.assert_close(scaler.inverse(scaler.transform(targets)), targets, equal_nan=True)


def test_a_target_of_bounds_only_is_centred_on_them():
    targets = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    assert TargetScaler.fit(targets, torch.ones(2, 1, dtype=torch.int8)).mean.item() == 2.0


def test_columns_without_compression_are_standardised_as_scikit_learn_does():
    values = np.random.default_rng(0).normal(3, 5, size=(20, 4))
    scaler = ColumnScaler.fit(torch.from_numpy(values), compress=False)
    other = np.random.default_rng(1).normal(3, 50, size=(6, 4))
    expected = StandardScaler().fit(values).transform(other)
    np.testing.assert_allclose(scaler.transform(torch.from_numpy(other)).numpy(), expected, rtol=1e-5)


def test_compressed_columns_are_imputed_clipped_and_finite():
    column = torch.tensor([[0.0], [1.0], [1e12], [NAN], [float("inf")], [3.0]], dtype=torch.float64)
    scaler = ColumnScaler.fit(column, compress=True)
    log = np.log1p(np.array([0.0, 1.0, 1e12, 3.0]))
    median = np.sort(log)[1]  # torch takes the lower one of the two in the middle
    filled = np.array([log[0], log[1], log[2], median, median, log[3]])
    expected = (filled - filled.mean()) / filled.std()
    np.testing.assert_allclose(scaler.transform(column)[:, 0].numpy(), expected, rtol=1e-5)
    unseen = scaler.transform(torch.tensor([[1e300], [-1e300], [NAN]], dtype=torch.float64))[:, 0]
    assert unseen.tolist() == pytest.approx([expected[2], expected[0], expected[3]], rel=1e-5)


def test_a_column_without_any_finite_value_and_a_constant_one_become_zero():
    values = torch.tensor([[NAN, 5.0], [float("inf"), 5.0]], dtype=torch.float64)
    scaler = ColumnScaler.fit(values, compress=True)
    assert scaler.transform(values).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert scaler.transform(torch.tensor([[8.0, 9.0]], dtype=torch.float64)).tolist() == [[0.0, 0.0]]


def test_scalers_of_no_columns():
    scaler = ColumnScaler.fit(torch.empty(3, 0, dtype=torch.float64), compress=True)
    assert scaler.transform(torch.empty(2, 0, dtype=torch.float64)).shape == (2, 0)
