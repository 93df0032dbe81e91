#!/usr/bin/env python3
"""Reference values for tests/integration/scipy_reference.rs from implementations that are not ours. Test only; Pippin does not need it.

Regenerate:
    python3 -m venv /tmp/reference && /tmp/reference/bin/pip install numpy scipy pymannkendall
    /tmp/reference/bin/python crates/stats/tests/integration/scipy_reference.py > crates/stats/tests/integration/scipy_reference.json
The data are drawn here with fixed seeds and stored beside the results, so that the Rust test needs no equal random numbers.
With --factors it prints instead, in a minute, the widening factors of bootstrap.rs for the median of n trials.
"""
import json
import sys
from importlib.metadata import version

import numpy as np
import pymannkendall
import scipy
from scipy import optimize, stats


def usl(n, lam, sigma, kappa):
    return lam * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def quantiles(rng):
    cases = []
    for size in (1, 2, 5, 10, 101):
        samples = rng.lognormal(3, 1, size)
        levels = [0.0, 0.025, 0.5, 0.9, 0.99, 1.0]
        cases.append({"samples": samples.tolist(), "levels": levels, "quantiles": np.quantile(samples, levels).tolist(),
                      "variance": float(np.var(samples, ddof=1)) if size > 1 else None})
    return cases


def trends(rng):
    """Theil and Sen's slope, and Mann and Kendall's z, on seven values each: below eight the variance is not corrected for
    autocorrelation unless the residuals show it, so that only series without positive autocorrelation are kept for z."""
    cases = []
    while len(cases) < 6:
        values = np.round(100 + rng.normal(0, 4) * np.arange(7) + rng.normal(0, 5, 7), 1)
        slope = stats.theilslopes(values)[0]
        rest = values - slope * np.arange(7)
        rest = rest - rest.mean()
        if (rest[1:] * rest[:-1]).sum() > 0:
            continue
        cases.append({"values": values.tolist(), "relative_change": slope * 6 / float(np.median(values)),
                      "z": float(pymannkendall.original_test(values).z)})
    return cases


def usl_fits(rng):
    users = np.array([1, 2, 4, 8, 16, 32, 64, 128], dtype=float)
    cases = []
    for lam, sigma, kappa, noise in [(1000, 0.05, 0.0005, 0.01), (37000, 0.02, 0.00002, 0.03), (250, 0.3, 0.004, 0.02), (9000, 0.01, 0.001, 0.005)]:
        x = usl(users, lam, sigma, kappa) * (1 + noise * rng.normal(size=users.size))
        fitted, covariance = optimize.curve_fit(usl, users, x, p0=[x[0], 0.1, 0.001], sigma=x, absolute_sigma=False, bounds=([0, 0, 0], np.inf),
                                                xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=100000, x_scale=[x[0], 0.1, 0.001])
        rest = x - usl(users, *fitted)
        cases.append({"n": users.tolist(), "x": x.tolist(), "parameters": fitted.tolist(), "standard_errors": np.sqrt(np.diag(covariance)).tolist(),
                      "r_squared": float(1 - (rest @ rest) / ((x - x.mean()) @ (x - x.mean())))})
    return cases


def intervals(rng):
    """The bootstrap of bootstrap.rs for trials without windows, written anew with NumPy: logarithms, widened percentiles."""
    factors = {2: 12.5, 3: 4.4, 5: 1.35, 7: 1.55}
    cases = []
    for n, factor in factors.items():
        values = 1000 * (1 + 0.02 * rng.normal(size=n))
        logs = np.log(values)
        centre = np.median(logs)
        drawn = np.median(rng.choice(logs - centre, size=(200_000, n)), axis=1) * factor
        low, high = np.quantile(drawn, [0.025, 0.975])
        cases.append({"values": values.tolist(), "low": float(np.median(values) * np.exp(low)), "high": float(np.median(values) * np.exp(high))})
    return cases


def window_intervals(rng):
    """One trial of independent windows: SciPy's bias-corrected bootstrap of the mean, widened as Student's t widens the normal distribution,
    has nearly the same ends where blocks of one window suffice (below 12 windows without correlation)."""
    cases = []
    while len(cases) < 3:
        windows = 1000 * (1 + 0.03 * rng.normal(size=11))
        rest = windows - windows.mean()
        r = (rest[1:] @ rest[:-1]) / (rest @ rest)
        if r + (1 + 4 * r) / 11 > 0:
            continue
        found = stats.bootstrap((windows,), np.mean, n_resamples=100_000, method="percentile", rng=rng).confidence_interval
        factor = stats.t.ppf(0.975, 10) / stats.norm.ppf(0.975) * np.sqrt(11 / 10)
        mean = windows.mean()
        cases.append({"windows": windows.tolist(), "low": float(mean + factor * (found.low - mean)), "high": float(mean + factor * (found.high - mean))})
    return cases


def print_factors():
    rng = np.random.default_rng(2)
    for n in range(2, 13):
        need = []
        for _ in range(6000):
            x = rng.normal(size=n)
            median = np.median(x)
            low, high = np.quantile(np.median(x[rng.integers(0, n, (600, n))], axis=1), [0.025, 0.975])
            down, up = median - low, high - median
            side = (median, down) if median > 0 else (-median, up)
            need.append(side[0] / side[1] if side[1] > 0 else np.inf)
        print(n, round(float(np.quantile(need, 0.95)), 2))


def main():
    if "--factors" in sys.argv:
        print_factors()
        return
    rng = np.random.default_rng(20261121)
    degrees = [1, 1.25, 1.5, 2, 2.5, 3, 5, 9, 12, 30, 100]
    json.dump({
        "made_with": {"numpy": np.__version__, "scipy": scipy.__version__, "pymannkendall": version("pymannkendall")},
        "quantiles": quantiles(rng),
        "trends": trends(rng),
        "usl": usl_fits(rng),
        "intervals": intervals(rng),
        "window_intervals": window_intervals(rng),
        "student_t_975": [[df, float(stats.t.ppf(0.975, df))] for df in degrees],
    }, sys.stdout, indent=1)
    print()


main()
