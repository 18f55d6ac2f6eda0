"""Values of the tests of statistics, computed by scipy and numpy: python3 make_statistics.py > statistics.json

Nothing here is shared with Sextant: t-tests are scipy.stats.ttest_1samp, the two-way analysis of variance is written out
with numpy, power is an integral over the density of the sample deviation, and Holm's correction is a loop over ranks.
"""
import json

import numpy as np
from scipy import integrate, stats


def panel(seed, seeds, windows, effect, by_seed, by_window, rest):
    """Differences of two arms, [seeds, windows], and the arms themselves."""
    rng = np.random.default_rng(seed)
    difference = (effect + by_seed * rng.standard_normal((seeds, 1)) + by_window * rng.standard_normal((1, windows))
                  + rest * rng.standard_normal((seeds, windows)))
    base = 1.5 + 0.3 * rng.standard_normal((1, windows)) + 0.02 * rng.standard_normal((seeds, windows))
    return base + difference, base


def t_tests(a, b, margin):
    per_seed = (a - b).mean(axis=1)
    low, high = stats.ttest_1samp(per_seed, 0).confidence_interval(0.95)
    return {
        "effect": per_seed.mean(),
        "low": low,
        "high": high,
        "less": stats.ttest_1samp(per_seed, -margin, alternative="less").pvalue,
        "greater": stats.ttest_1samp(per_seed, margin, alternative="greater").pvalue,
        "within": max(stats.ttest_1samp(per_seed, margin, alternative="less").pvalue,
                      stats.ttest_1samp(per_seed, -margin, alternative="greater").pvalue),
    }


def crossed_error(d):
    """Standard error of a mean over seeds and windows that are both drawn: the conservative sum of the two mean squares
    (Clark 1973, min F'), and Satterthwaite's degrees of freedom."""
    s, w = d.shape
    seeds = d.mean(axis=1).var(ddof=1) / s
    windows = d.mean(axis=0).var(ddof=1) / w
    return np.sqrt(seeds + windows), (seeds + windows) ** 2 / (seeds**2 / (s - 1) + windows**2 / (w - 1))


def bootstrap(a, b, margin, replicates=400_000):
    """Windows drawn with replacement, seeds as Student's t, both widened for their number; numpy's own random numbers."""
    rng = np.random.default_rng(2026)
    d = a - b
    s, w = d.shape
    by_seed, by_window = d.mean(axis=1), d.mean(axis=0)
    of_seeds = by_seed.std(ddof=1) / np.sqrt(s) * rng.standard_t(s - 1, replicates)
    drawn = by_window[rng.integers(0, w, (replicates, w))].mean(axis=1) - by_window.mean()
    of_windows = drawn * np.sqrt(w / (w - 1)) * np.sqrt((w - 1) / rng.chisquare(w - 1, replicates))
    all_of = d.mean() + of_seeds + of_windows
    low, high = np.quantile(all_of, [0.025, 0.975])
    return {"low": low, "high": high, "less": (all_of >= -margin).mean(), "greater": (all_of <= margin).mean()}


def power_beyond(excess, error, dof, alpha):
    critical = stats.t.ppf(1 - alpha, dof)
    inner = lambda s: stats.norm.cdf(excess / error - critical * s) * density(s, dof)
    return integrate.quad(inner, 0, np.inf, limit=400)[0]


def power_within(effect, margin, error, dof, alpha):
    critical = stats.t.ppf(1 - alpha, dof)

    def inner(s):
        room = margin - critical * s * error
        if room <= 0:
            return 0.0
        return (stats.norm.cdf((room - effect) / error) - stats.norm.cdf((-room - effect) / error)) * density(s, dof)

    return integrate.quad(inner, 0, margin / (critical * error), limit=400)[0]


def density(s, dof):  # of the sample deviation over the true one
    return stats.chi2.pdf(dof * s * s, dof) * 2 * dof * s


def holm(p):
    order = np.argsort(p, kind="stable")
    out, running = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p) - rank) * p[i]))
        out[i] = running
    return out


cases = []
for k, (seeds, windows, effect, by_seed, by_window, rest, margin) in enumerate([
        (3, 8, -0.06, 0.01, 0.02, 0.02, 0.02), (5, 12, 0.0, 0.01, 0.01, 0.03, 0.03), (8, 6, 0.2, 0.05, 0.0, 0.01, 0.1)]):
    a, b = panel(k, seeds, windows, effect, by_seed, by_window, rest)
    a, b = np.round(a, 6), np.round(b, 6)
    error, dof = crossed_error(a - b)
    half = stats.t.ppf(0.975, dof) * error
    cases.append({"a": a.tolist(), "b": b.tolist(), "margin": margin, "t": t_tests(a, b, margin),
                  "bootstrap": bootstrap(a, b, margin), "crossed": {"error": error, "dof": dof, "half": half}})

p = [0.01, 0.04, 0.03, 0.005, 0.2]
print(json.dumps({
    "panels": cases,
    "holm": {"p": p, "adjusted": holm(p)},
    "power_beyond": [dict(zip(("excess", "error", "dof", "alpha", "power"), c + (power_beyond(*c),))) for c in [
        (0.5, 0.2, 4, 0.05), (0.05, 0.02, 2, 0.025), (1.0, 0.25, 10.5, 0.01), (0.0, 1.0, 5, 0.05)]],
    "power_within": [dict(zip(("effect", "margin", "error", "dof", "alpha", "power"), c + (power_within(*c),))) for c in [
        (0.0, 0.02, 0.006, 4, 0.05), (0.005, 0.02, 0.006, 9, 0.05), (0.0, 0.05, 0.01, 2.5, 0.025),
        (0.0, 0.01, 0.02, 2, 0.05)]],
}, indent=1))
