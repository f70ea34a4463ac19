"""Values that `simulate` is given in the types that numpy and pathlib have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from confee import simulate
from confee.core.errors import ConfeeError

BASE = {
    "policy": "hyque",
    "adversary": "switching",
    "gap": 0.25,
    "K": 2,
    "T": 5000,
    "B": 800,
    "V": 2.0,
    "seeds": 3,
}


@pytest.mark.parametrize(
    "values",
    [
        {name: kind(BASE[name]) for name in names}
        for kind, names in (
            (np.int64, ("K", "T", "B", "seeds")),
            (np.uint16, ("T",)),
            (np.float32, ("V", "gap")),
            (np.float64, ("T", "V")),
            (np.array, ("K", "B")),
        )
    ],
)
def test_numpys_numbers_play_the_same_runs(values):
    pd.testing.assert_frame_equal(simulate(**BASE), simulate(**BASE | values))


def test_options_may_be_numpys_as_well():
    mine = simulate(**BASE, options={"scale": np.float32(0.5), "quota": np.str_("block")})
    pd.testing.assert_frame_equal(mine, simulate(**BASE, options={"scale": 0.5, "quota": "block"}))
    hard = {"adversary": "hard", "c": np.int8(3), "adaptive": np.bool_(True)}
    rows = simulate("ucb1", **hard, K=2, T=5000, B=800, V=2, seeds=2)
    assert (rows["adversary.adaptive"] == 1).all()


def test_a_file_may_be_a_path(tmp_path):
    file = tmp_path / "series.csv"
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(np.exp(np.cumsum(rng.normal(0, 0.1, (80, 4)), axis=0)))
    rows.insert(0, "day", range(80))
    rows.to_csv(file, index=False)
    played = [
        simulate("ucb1", "trace", file=one, window=5, K=2, T=2000, B=400, V=1, seeds=2)
        for one in (file, str(file), Path(file))
    ]
    for other in played[1:]:
        pd.testing.assert_frame_equal(played[0], other)


@pytest.mark.parametrize("wrong", [np.float64("nan"), np.array([1, 2]), np.int64(0), 1.5, None])
def test_what_is_no_size_is_still_refused(wrong):
    with pytest.raises(ConfeeError, match=r"^T=.*: must be a whole number in \[1, "):
        simulate(**BASE | {"T": wrong})


def test_the_callers_hydra_and_resolvers_stay(tmp_path):
    from hydra import compose, initialize_config_dir, version
    from omegaconf import OmegaConf

    (tmp_path / "mine.yaml").write_text("a: ${test_of_values:}\n", encoding="utf-8")
    OmegaConf.register_new_resolver("test_of_values", lambda: 3, replace=True)
    with initialize_config_dir(str(tmp_path), version_base="1.2"):
        assert compose("mine").a == 3
        before = version.getbase()
        simulate(**BASE)
        assert version.getbase() == before
        assert compose("mine").a == 3
    OmegaConf.clear_resolver("test_of_values")


def test_threads_play_what_they_do_one_by_one():
    from concurrent.futures import ThreadPoolExecutor

    seeds = range(6)
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda seed: simulate(**BASE, first_seed=seed), seeds)]
    for seed, rows in zip(seeds, found, strict=True):
        pd.testing.assert_frame_equal(rows, simulate(**BASE, first_seed=seed))
