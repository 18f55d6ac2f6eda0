"""Writes more_encodings.h5: cases in the format of encodings.h5 with settings that file does not have.

    python3 make_more_encodings.py      # Debian: python3-h5py

Every formula is written out here once more, plainly, in numpy; gradients are complex-step derivatives of the loss, exact to
rounding. Nothing of Sextant is used.
"""
import json
import numpy as np
import h5py

random = np.random.default_rng(3)
file = h5py.File("more_encodings.h5", "w")
file.attrs["format"] = np.bytes_("sextant-encodings-1")


def slopes(heads):
    power = 2 ** int(np.floor(np.log2(heads)))
    return np.array(([2 ** (-8 * (h + 1) / power) for h in range(power)]
                     + [2 ** (-8 * (h + 1) / (2 * power)) for h in range(0, 2 * power, 2)])[:heads])


def ladder(base, n):
    return base ** (-2 * np.arange(n // 2) / n)


def turn(x, phase, theta, layout):
    """x [B, H, L, D], phase [B, L], theta [pairs] or [H, pairs]"""
    angle = phase[:, None, :, None] * (theta if theta.ndim == 1 else theta[None, :, None, :])
    c, s, y, n = np.cos(angle), np.sin(angle), x.astype(np.result_type(x, angle)), theta.shape[-1]
    first, second = (slice(0, n), slice(n, 2 * n)) if layout == "half" else (slice(0, 2 * n, 2), slice(1, 2 * n, 2))
    a, b = x[..., first], x[..., second]
    y[..., first], y[..., second] = a * c - b * s, b * c + a * s
    return y


def offsets(p):
    return p[:, None, :, None] - p[:, None, None, :]


def softplus(z):
    return np.log1p(np.exp(z))


def loss_of(tensors, rule, positions, mask, scale, weight):
    q, k, bias = rule(tensors, positions)
    logits = scale * np.einsum("bhid,bhjd->bhij", q, k) + bias
    shown = np.where(mask != 0, logits - np.where(mask != 0, logits.real, -np.inf).max(-1, keepdims=True), -np.inf)
    weights = np.exp(shown)
    out = (weights / weights.sum(-1, keepdims=True)) @ tensors["v"]
    return (out * weight).sum(), out, logits, q, k, bias


def case(name, method, options, rule, shape, positions, mask, scale=None, x=None, learned={}):
    B, H, L, D, Dv = shape
    scale = scale or 1 / np.sqrt(D)
    group = file.create_group(name)
    for key, value in options.items():
        if value is not None:
            group.attrs[key] = np.bytes_(value) if isinstance(value, str) else value
    words = dict(method=method, params=json.dumps(options), learned=",".join(learned))
    group.attrs.update({key: np.bytes_(value) for key, value in words.items()})
    causal = int((mask == np.tril(np.ones_like(mask))).all())
    group.attrs.update(dict(B=B, H=H, L=L, D=D, Dv=Dv, Dm=x.shape[-1] if x is not None else H * D, scale=scale, causal=causal,
                            start=int(np.ravel(positions)[0])))
    tensors = dict(q=random.normal(size=(B, H, L, D)), k=random.normal(size=(B, H, L, D)),
                   v=random.normal(size=(B, H, L, Dv)), **({} if x is None else dict(x=x)), **learned)
    weight = random.normal(size=(B, H, L, Dv))
    at = np.broadcast_to(positions, (B, L)).astype(float)
    value, out, logits, q, k, bias = loss_of(tensors, rule, at, mask, scale, weight)
    for key, array in tensors.items():
        group[("par/" if key in learned else "in/") + key] = array
    group["in/positions"], group["in/mask"], group["in/loss_w"] = positions, mask.astype("int64"), weight
    group["out/logits"], group["out/o"] = np.where(mask != 0, logits, 0), out
    if np.ndim(bias):
        group["out/bias"] = np.where(mask != 0, np.broadcast_to(bias, logits.shape), 0)
    if q is not tensors["q"]:
        group["out/q_rot"], group["out/k_rot"] = q, k
    for key, array in tensors.items():
        slope = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            moved = dict(tensors)
            moved[key] = array.astype(complex)
            moved[key][index] += 1e-30j
            slope[index] = loss_of(moved, rule, at, mask, scale, weight)[0].imag / 1e-30
        group["grad/" + key] = slope


def causal(length):
    return np.tril(np.ones((length, length)))


def alibi(m):
    return lambda t, p: (t["q"], t["k"], -m[None, :, None, None] * abs(offsets(p)))


def rope(theta, layout, bias=lambda t, p: 0.0):
    return lambda t, p: (turn(t["q"], p, theta, layout), turn(t["k"], p, theta, layout), bias(t, p))


odd = causal(9)  # neither causal nor full
odd[5, 2], odd[2, 7], odd[8, :4] = 0, 1, 0
case("alibi_fixed_odd_mask", "alibi", dict(slope_exponent=4.0, slope_order="press", bias_max=0.0),
     alibi(2.0 ** (-4 * (np.arange(8) + 1) / 8)), (1, 8, 9, 4, 5), np.arange(100, 109), odd)

for turned, layout in ((0, "half"), (6, "interleaved")):
    m, theta = slopes(5), ladder(500.0, 6)
    rule = alibi(m) if turned == 0 else rope(theta, layout, lambda t, p: alibi(m)(t, p)[2])
    case(f"hybrid_dims_{turned}_of_6", "hybrid_dims", dict(rope_dims=turned, layout=layout, base=500.0), rule,
         (1, 5, 7, 6, 6), np.arange(7), causal(7))


def heads(n, m):
    def rule(t, p):
        own = np.concatenate([np.zeros(n), m])
        out = []
        for key in "qk":
            y = t[key].copy()
            y[:, :n] = turn(t[key][:, :n], p, ladder(10000.0, 4), "half")
            out.append(y)
        return out[0], out[1], -own[None, :, None, None] * abs(offsets(p))
    return rule


for n in (0, 2, 6):
    for words, m in (("subset", slopes(6 - n) if n < 6 else np.zeros(0)), ("full", slopes(6)[n:])):
        case(f"hybrid_heads_{n}_{words}", "hybrid_heads", dict(rope_heads=n, layout="half", base=10000.0, slope_set=words),
             heads(n, m), (1, 6, 6, 4, 4), np.arange(6) + 3, causal(6))

case("rope_any_positions_full_mask", "rope", dict(layout="half", base=10000.0, rotary_dim=4),
     rope(ladder(10000.0, 4), "half"), (2, 2, 6, 10, 3), random.integers(0, 5000, (2, 6)), np.ones((6, 6)), scale=0.7)
case("rope_defaults_long", "rope", dict(layout=None, base=None, rotary_dim=None), rope(ladder(10000.0, 4), "half"),
     (1, 1, 66, 4, 2), np.arange(66) * 3, causal(66))


def bent(t, p):
    starts, ends, rates = (10, 20, 40), (20, 40, np.inf), (1, 0.5, 0.25)
    phase = sum(r * np.clip(p - a, 0, b - a) for r, a, b in zip(rates, starts, ends))
    return turn(t["q"], phase, ladder(300.0, 4), "interleaved"), turn(t["k"], phase, ladder(300.0, 4), "interleaved"), 0.0


case("segments_of_positions_from_10", "segmented_theta",
     dict(axis="positions", layout="interleaved", base=300.0, seg_start=[10, 20, 40], seg_rate=[1.0, 0.5, 0.25], seg_base=[1.0]),
     bent, (1, 1, 40, 4, 2), np.arange(10, 50), causal(40))


def bucket(ahead, total, most):
    nb = total // 2  # two-sided
    n, exact = abs(ahead), nb // 2
    far = exact + np.floor(np.log(np.maximum(n, 1) / exact) / np.log(most / exact) * (nb - exact) + 1e-9)
    return (np.where(ahead > 0, nb, 0) + np.where(n < exact, n, np.minimum(far, nb - 1))).astype(int)


case("t5_positions_per_row", "t5", dict(bidirectional=1, num_buckets=10, max_distance=20),
     lambda t, p: (t["q"], t["k"], np.moveaxis(t["rel_bias"][bucket(-offsets(p)[:, 0], 10, 20)], -1, 1)),
     (2, 3, 8, 4, 4), random.integers(0, 60, (2, 8)), np.ones((8, 8)), scale=1.0,
     learned=dict(rel_bias=random.normal(size=(10, 3))))


def forget(t, p):
    log_f = -softplus(-(np.einsum("bld,hd->bhl", t["x"], t["w_f"]) + t["b_f"][None, :, None]))
    total = log_f.cumsum(-1)
    return total[..., :, None] - total[..., None, :]


case("fox_rope_interleaved", "fox", dict(gate="full", rope=1, layout="interleaved", base=200.0),
     rope(ladder(200.0, 4), "interleaved", forget), (2, 2, 9, 4, 3), np.arange(9) + 5, causal(9),
     x=random.normal(size=(2, 9, 7)), learned=dict(w_f=random.normal(size=(2, 7)), b_f=random.normal(size=2)))

case("grape_a_gapped_positions", "grape_a", dict(gate="k", use_slopes=1, unit_gate=0, unit_eps=1e-6),
     lambda t, p: (t["q"], t["k"], -offsets(p) * (softplus(t["omega_raw"]) * slopes(3))[None, :, None, None]
                   * softplus(np.einsum("bhjd,hd->bhj", t["k"], t["u_gate"]) / np.sqrt(6))[:, :, None, :]),
     (2, 3, 8, 6, 2), np.sort(random.integers(0, 40, (2, 8)), -1), causal(8),
     learned=dict(omega_raw=random.normal(size=3), u_gate=random.normal(size=(3, 6))))

case("grape_m_clockwise_per_head", "grape_m",
     dict(layout="half", orientation=-1, per_head=1, base=10000.0, log_freq_scale=2.0),
     lambda t, p: tuple(turn(t[key], p, -np.exp(t["log_freq"] / 2), "half") for key in "qk") + (0.0,),
     (1, 3, 8, 4, 4), np.arange(8) + 20, causal(8), learned=dict(log_freq=random.normal(size=(3, 2))))

for factor, strength in ((32.0, 0.7), (1.0, 1.0)):
    m = 0.1 * strength * np.log(factor) + 1 if factor > 1 else 1.0
    name = f"yarn_temperature_{int(factor)}"
    case(name, "yarn_temperature", dict(factor=factor, mscale=strength, base=500.0, layout="half"),
         lambda t, p, m=m: (m * turn(t["q"], p, ladder(500.0, 4), "half"), m * turn(t["k"], p, ladder(500.0, 4), "half"), 0.0),
         (1, 2, 8, 4, 4), np.arange(8), causal(8))
    file[name + "/out/mscale"] = m

file.attrs["cases"] = len(file)
