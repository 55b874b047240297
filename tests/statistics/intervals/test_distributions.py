import pytest

from evenhand.statistics.intervals.distributions import (
    NORMAL,
    beta_cdf,
    beta_quantile,
    binomial_cdf,
    f_quantile,
    t_cdf,
    t_quantile,
)
from tests.statistics import oracles


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 3.0), (2.5, 60.0), (400.0, 3.0), (5000.0, 4000.0)])
@pytest.mark.parametrize("p", [1e-6, 0.025, 0.5, 0.9, 0.999])
def test_beta_against_scipy(a: float, b: float, p: float) -> None:
    assert beta_quantile(p, a, b) == pytest.approx(oracles.quantile("beta", p, a, b), rel=1e-9)
    assert beta_cdf(0.3, a, b) == pytest.approx(oracles.cdf("beta", 0.3, a, b), abs=1e-12)


@pytest.mark.parametrize("df", [1.0, 2.7, 10.0, 99.0, 12345.0, 2e6])
@pytest.mark.parametrize("p", [0.001, 0.025, 0.5, 0.8, 0.975])
def test_t_against_scipy(df: float, p: float) -> None:
    assert t_quantile(p, df) == pytest.approx(oracles.quantile("t", p, df), rel=2e-6, abs=1e-12)
    assert t_cdf(1.3, df) == pytest.approx(oracles.cdf("t", 1.3, df), abs=1e-9)
    assert t_cdf(-2.1, df) == pytest.approx(oracles.cdf("t", -2.1, df), abs=1e-9)


@pytest.mark.parametrize(("df1", "df2"), [(1.0, 1.0), (5.0, 18.0), (5.0, 3.2), (99.0, 297.0), (9999.0, 40000.0)])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.975])
def test_f_against_scipy(df1: float, df2: float, p: float) -> None:
    assert f_quantile(p, df1, df2) == pytest.approx(oracles.quantile("f", p, df1, df2), rel=1e-7)


def test_binomial_against_scipy() -> None:
    for successes in (0, 3, 17, 20):
        assert binomial_cdf(successes, 20, 0.3) == pytest.approx(oracles.cdf("binom", successes, 20, 0.3), abs=1e-12)
    assert binomial_cdf(-1, 20, 0.3) == 0.0


def test_normal_quantile() -> None:
    assert NORMAL.inv_cdf(0.975) == pytest.approx(1.959963984540054, abs=1e-12)
