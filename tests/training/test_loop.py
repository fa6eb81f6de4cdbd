"""The loop: schedule, determinism, best epoch, resumption, masks, divergence."""

import math

import numpy as np
import pytest
import torch

from scoregnn.config import Config
from scoregnn.graphs.store import MoleculeStore
from scoregnn.molecules import FeaturizeOptions, featurize_one
from scoregnn.training.checkpoint import Checkpoint
from scoregnn.training.data import TrainingData, shuffled_batches
from scoregnn.training.loop import DivergedError, schedule, train_network
from scoregnn.training.model import fit_model
from scoregnn.training.task import Task

SMILES = ["C", "CC", "CCC", "CCO", "CCCC", "CCCO", "c1ccccc1", "Cc1ccccc1", "CC(=O)O", "CCN", "[Na+].[Cl-]", "OCCO"]
TASK = Task("regression", ("y",), ("",))
SMALL = Config(hidden=16, heads=2, epochs=4, batch_size=4, head_layers=1)


def make_data(targets=None, smiles=SMILES, weights=None):
    store = MoleculeStore.from_molecules([featurize_one(text, FeaturizeOptions()) for text in smiles])
    if targets is None:
        targets = [len(text) - 2.5 for text in smiles]
    columns = torch.tensor(targets, dtype=torch.float64).reshape(len(smiles), -1)
    return TrainingData(
        store=store,
        targets=columns,
        bounds=torch.zeros(columns.shape, dtype=torch.int8),
        weights=torch.ones(len(smiles), dtype=torch.float64) if weights is None else torch.tensor(weights),
        features=torch.empty(len(smiles), 0, dtype=torch.float64),
    )


TRAIN, VALIDATION = np.arange(8), np.arange(8, 12)


def weights_of(model):
    return {name: value for network in model.networks for name, value in network.state_dict().items()}


def assert_same(one, other):
    for (name, first), second in zip(weights_of(one).items(), weights_of(other).values(), strict=True):
        assert torch.equal(first, second), name


def test_schedule_warms_up_linearly_then_follows_half_a_cosine():
    config = Config(epochs=10, warmup=0.2)
    rates = [schedule(step, 4, config) for step in range(40)]
    assert rates[:8] == pytest.approx([(step + 1) / 8 for step in range(8)])
    assert rates[8] == pytest.approx(1.0)
    assert rates[24] == pytest.approx(0.5)
    assert rates[39] == pytest.approx(0.5 * (1 + math.cos(math.pi * 31 / 32)))


def test_every_row_is_in_one_batch_and_batches_are_even():
    rows = torch.arange(100, 133)
    batches = list(shuffled_batches(rows, 16, torch.Generator().manual_seed(0)))
    assert sorted(torch.cat(batches).tolist()) == rows.tolist()
    assert [len(batch) for batch in batches] == [11, 11, 11]


def test_same_seed_same_numbers_and_another_seed_others():
    data = make_data()
    first, second = (fit_model(data, TRAIN, VALIDATION, SMALL, TASK) for _ in range(2))
    assert_same(first, second)
    other = fit_model(data, TRAIN, VALIDATION, Config(**SMALL.to_dict() | {"seed": 1}), TASK)
    assert not np.allclose(first.predict(data.store)[0], other.predict(data.store)[0])


def test_the_users_random_state_is_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    fit_model(make_data(), TRAIN, VALIDATION, SMALL, TASK)
    assert torch.equal(torch.rand(3), expected)


def test_nothing_but_training_and_validation_rows_is_looked_at():
    targets = [len(text) - 2.5 for text in SMILES]
    base = fit_model(make_data(targets), TRAIN, VALIDATION[:2], SMALL, TASK)
    garbage = fit_model(make_data([*targets[:10], 1e6, -1e6]), TRAIN, VALIDATION[:2], SMALL, TASK)
    molecules = fit_model(make_data(targets, [*SMILES[:10], "C1CC1Br", "FC(F)F"]), TRAIN, VALIDATION[:2], SMALL, TASK)
    assert_same(base, garbage)
    assert_same(base, molecules)


def test_the_best_epoch_is_kept():
    config = Config(**SMALL.to_dict() | {"epochs": 12, "learning_rate": 0.05})
    data = make_data()
    model = fit_model(data, TRAIN, VALIDATION, config, TASK)
    progress = model.progress[0]
    losses = [record.validation_loss for record in progress.history]
    assert progress.best_epoch == int(np.argmin(losses)) + 1
    scaled = (data.targets - model.target_scaler.mean) / model.target_scaler.scale
    predicted = (model.predict(data.store)[0] - model.target_scaler.mean.item()) / model.target_scaler.scale.item()
    assert np.mean((predicted - scaled[:, 0].numpy())[VALIDATION] ** 2) == pytest.approx(min(losses), rel=1e-5)


def test_patience_stops_and_no_validation_keeps_the_last_epoch():
    config = Config(**SMALL.to_dict() | {"epochs": 40, "patience": 2, "learning_rate": 0.2})
    progress = fit_model(make_data(), TRAIN, VALIDATION, config, TASK).progress[0]
    assert progress.epoch == progress.best_epoch + 2 < 40
    progress = fit_model(make_data(), TRAIN, VALIDATION[:0], SMALL, TASK).progress[0]
    assert (progress.epoch, progress.best_epoch) == (4, 4)


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_broken_run_that_is_resumed_gives_bit_equal_weights(tmp_path, stop_after):
    class PowerCutError(Exception):
        pass

    def cut(network, record):
        if network == 0 and record.epoch == stop_after:
            raise PowerCutError

    config = Config(**SMALL.to_dict() | {"ensemble": 2})
    data = make_data()
    unbroken = fit_model(data, TRAIN, VALIDATION, config, TASK)
    with pytest.raises(PowerCutError):
        fit_model(data, TRAIN, VALIDATION, config, TASK, checkpoints=tmp_path, on_epoch=cut)
    resumed = fit_model(data, TRAIN, VALIDATION, config, TASK, checkpoints=tmp_path)
    assert_same(unbroken, resumed)
    assert [p.best_epoch for p in unbroken.progress] == [p.best_epoch for p in resumed.progress]
    assert [len(p.history) for p in resumed.progress] == [4, 4]


def test_a_damaged_checkpoint_is_named(tmp_path):
    data = make_data()
    fit_model(data, TRAIN, VALIDATION, SMALL, TASK, checkpoints=tmp_path)
    path = tmp_path / "network-0.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(Exception, match=r"checkpoint .*network-0\.safetensors cannot be read"):
        fit_model(data, TRAIN, VALIDATION, SMALL, TASK, checkpoints=tmp_path)


def test_checkpoint_of_another_network_is_refused(tmp_path):
    data = make_data()
    fit_model(data, TRAIN, VALIDATION, SMALL, TASK, checkpoints=tmp_path)
    with pytest.raises(Exception, match="cannot be read"):
        fit_model(data, TRAIN, VALIDATION, Config(**SMALL.to_dict() | {"hidden": 8}), TASK, checkpoints=tmp_path)
    assert Checkpoint(tmp_path / "none").load(torch.nn.Linear(1, 1), None) is None


def test_weights_of_zero_hide_a_row_and_doubling_all_weights_changes_nothing():
    data = make_data()
    ones = fit_model(data, TRAIN, VALIDATION, SMALL, TASK)
    twos = fit_model(make_data(weights=[2.0] * 12), TRAIN, VALIDATION, SMALL, TASK)
    np.testing.assert_allclose(ones.predict(data.store)[0], twos.predict(data.store)[0], rtol=1e-5)


def test_an_infinite_loss_stops_with_a_reason():
    network = fit_model(make_data(), TRAIN, VALIDATION, SMALL, TASK).networks[0]
    with torch.no_grad():
        network.head[0].weight.fill_(float("nan"))
    from scoregnn.training.data import ScaledData

    data = make_data()
    scaled = ScaledData(data.store, data.targets.float(), data.bounds, data.weights.float(), torch.empty(12, 0))
    with pytest.raises(DivergedError, match="epoch 1, batch 1, at learning rate"):
        train_network(network, scaled, TASK, torch.arange(8), torch.arange(8, 12), SMALL, seed=0)


def test_a_model_can_learn_the_number_of_oxygens():
    smiles = ["C" * n + "O" * m for n in range(1, 7) for m in range(5)]
    data = make_data([float(text.count("O")) for text in smiles], smiles)
    config = Config(hidden=32, epochs=120, batch_size=8, dropout=0.0)
    rows = np.random.default_rng(0).permutation(len(smiles))
    model = fit_model(data, rows[:22], rows[22:26], config, TASK)
    error = model.predict(data.store)[0][rows[26:]] - data.targets[rows[26:], 0].numpy()
    assert np.abs(error).max() < 0.5
