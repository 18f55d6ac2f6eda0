#!/usr/bin/env python3
"""Trains a tiny decoder for 20 AdamW steps in float64 and writes all that is needed to follow it.

    python3 make_training_reference.py            writes training_reference.json beside this file
    python3 make_training_reference.py --check    compares every gradient with central differences instead

Needs numpy. Nothing of Sextant is used: the forward and the backward below are written out from the formulas, so that
the C++ and this file are two readings of them. Pre-norm blocks with RMSNorm, RoPE in half pairing on query and key,
SwiGLU, grouped key heads, a tied embedding; cosine schedule with warm-up; clipping by the global norm; AdamW with decay
of matrices only.
"""
import json
import pathlib
import sys

import numpy as np

MODEL = dict(vocabulary=17, layers=2, width=16, heads=2, kv_heads=1, head_dim=8, mlp_width=24, norm_eps=1e-5,
             rope_base=10000.0)
TRAIN = dict(steps=20, rows=3, length=11, rate=1e-2, warmup=4, floor=0.1, beta1=0.9, beta2=0.95, eps=1e-8, decay=0.1,
             clip=1.0)


def draw_weights(rng):
    m = MODEL
    q, kv, w = m["heads"] * m["head_dim"], m["kv_heads"] * m["head_dim"], m["width"]
    shapes = {"embedding.weight": (m["vocabulary"], w)}
    for i in range(m["layers"]):
        shapes |= {f"layers.{i}.attention.norm.weight": (w,),
                   f"layers.{i}.attention.query.weight": (q, w),
                   f"layers.{i}.attention.key.weight": (kv, w),
                   f"layers.{i}.attention.value.weight": (kv, w),
                   f"layers.{i}.attention.output.weight": (w, q),
                   f"layers.{i}.mlp.norm.weight": (w,),
                   f"layers.{i}.mlp.gate.weight": (m["mlp_width"], w),
                   f"layers.{i}.mlp.up.weight": (m["mlp_width"], w),
                   f"layers.{i}.mlp.down.weight": (w, m["mlp_width"])}
    shapes["norm.weight"] = (w,)
    draw = lambda name, shape: (1 if len(shape) == 1 else 0) + 0.25 * rng.standard_normal(shape)
    return {name: np.round(draw(name, shape), 4) for name, shape in shapes.items()}


def norm(x, gain):
    scale = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + MODEL["norm_eps"])
    return x * scale * gain, scale


def norm_backward(grad, x, gain, scale):
    g, n = grad * gain, x * scale
    return scale * (g - n * (g * n).mean(-1, keepdims=True)), (grad * n).reshape(-1, x.shape[-1]).sum(0)


def turn(x, direction):
    """x [batch, heads, length, head_dim]; channel p pairs with p + head_dim / 2."""
    half = x.shape[-1] // 2
    inv_freq = MODEL["rope_base"] ** (-2.0 * np.arange(half) / x.shape[-1])
    angle = direction * np.arange(x.shape[2])[:, None] * inv_freq
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)


def heads(x, count):
    return x.reshape(*x.shape[:2], count, MODEL["head_dim"]).transpose(0, 2, 1, 3)


def joined(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def loss_and_gradient(weights, tokens):
    m, w = MODEL, weights
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    rows, length = inputs.shape
    group, scale = m["heads"] // m["kv_heads"], 1 / np.sqrt(m["head_dim"])
    future = np.triu(np.ones((length, length), bool), 1)
    kept = []
    x = w["embedding.weight"][inputs]
    for i in range(m["layers"]):
        p = lambda part: w[f"layers.{i}.{part}.weight"]
        n1, s1 = norm(x, p("attention.norm"))
        q = turn(heads(n1 @ p("attention.query").T, m["heads"]), 1)
        k = np.repeat(turn(heads(n1 @ p("attention.key").T, m["kv_heads"]), 1), group, 1)
        v = np.repeat(heads(n1 @ p("attention.value").T, m["kv_heads"]), group, 1)
        logits = np.where(future, -np.inf, q @ k.transpose(0, 1, 3, 2) * scale)
        probs = np.exp(logits - logits.max(-1, keepdims=True))
        probs /= probs.sum(-1, keepdims=True)
        attended = joined(probs @ v)
        middle = x + attended @ p("attention.output").T
        n2, s2 = norm(middle, p("mlp.norm"))
        gate, up = n2 @ p("mlp.gate").T, n2 @ p("mlp.up").T
        sigmoid = 1 / (1 + np.exp(-gate))
        active = gate * sigmoid * up
        kept.append((x, n1, s1, q, k, v, probs, attended, middle, n2, s2, gate, up, sigmoid, active))
        x = middle + active @ p("mlp.down").T
    final, s = norm(x, w["norm.weight"])
    logits = final @ w["embedding.weight"].T
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    at = (np.arange(rows)[:, None], np.arange(length), targets)
    loss = -log_probs[at].mean()

    flat = lambda a: a.reshape(-1, a.shape[-1])
    g = {name: np.zeros_like(value) for name, value in w.items()}
    grad_logits = np.exp(log_probs)
    grad_logits[at] -= 1
    grad_logits /= rows * length
    g["embedding.weight"] += flat(grad_logits).T @ flat(final)
    grad, g["norm.weight"] = norm_backward(grad_logits @ w["embedding.weight"], x, w["norm.weight"], s)
    for i in reversed(range(m["layers"])):
        p = lambda part: w[f"layers.{i}.{part}.weight"]
        def put(part, value): g[f"layers.{i}.{part}.weight"] = value
        x, n1, s1, q, k, v, probs, attended, middle, n2, s2, gate, up, sigmoid, active = kept[i]
        put("mlp.down", flat(grad).T @ flat(active))
        grad_active = grad @ p("mlp.down")
        grad_up = grad_active * gate * sigmoid
        grad_gate = grad_active * up * sigmoid * (1 + gate * (1 - sigmoid))
        put("mlp.up", flat(grad_up).T @ flat(n2))
        put("mlp.gate", flat(grad_gate).T @ flat(n2))
        back, gain = norm_backward(grad_up @ p("mlp.up") + grad_gate @ p("mlp.gate"), middle, p("mlp.norm"), s2)
        put("mlp.norm", gain)
        grad = grad + back
        put("attention.output", flat(grad).T @ flat(attended))
        grad_attended = heads(grad @ p("attention.output"), m["heads"])
        grad_probs = grad_attended @ v.transpose(0, 1, 3, 2)
        grad_scores = probs * (grad_probs - (grad_probs * probs).sum(-1, keepdims=True)) * scale
        grouped = lambda a: a.reshape(rows, m["kv_heads"], group, length, m["head_dim"]).sum(2)
        grad_q = joined(turn(grad_scores @ k, -1))
        grad_k = joined(turn(grouped(grad_scores.transpose(0, 1, 3, 2) @ q), -1))
        grad_v = joined(grouped(probs.transpose(0, 1, 3, 2) @ grad_attended))
        back = 0
        for part, value in (("query", grad_q), ("key", grad_k), ("value", grad_v)):
            put(f"attention.{part}", flat(value).T @ flat(n1))
            back = back + value @ p(f"attention.{part}")
        back, gain = norm_backward(back, x, p("attention.norm"), s1)
        put("attention.norm", gain)
        grad = grad + back
    np.add.at(g["embedding.weight"], inputs, grad)
    return loss, g


def rate_at(step):
    t = TRAIN
    if step <= t["warmup"]:
        return t["rate"] * step / t["warmup"]
    done = (step - t["warmup"]) / (t["steps"] - t["warmup"])
    return t["rate"] * (t["floor"] + (1 - t["floor"]) * 0.5 * (1 + np.cos(np.pi * done)))


def train(weights, batches):
    t, losses, norms = TRAIN, [], []
    weights = {name: value.copy() for name, value in weights.items()}
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    for step, tokens in enumerate(batches, 1):
        loss, grads = loss_and_gradient(weights, tokens)
        length = np.sqrt(sum((g * g).sum() for g in grads.values()))
        losses.append(float(loss))
        norms.append(float(length))
        factor = min(1.0, t["clip"] / length)
        for name, value in weights.items():
            g = grads[name] * factor
            first[name] = t["beta1"] * first[name] + (1 - t["beta1"]) * g
            second[name] = t["beta2"] * second[name] + (1 - t["beta2"]) * g * g
            if value.ndim == 2:
                value *= 1 - rate_at(step) * t["decay"]
            value -= rate_at(step) * (first[name] / (1 - t["beta1"] ** step)) / (
                np.sqrt(second[name] / (1 - t["beta2"] ** step)) + t["eps"])
    return losses, norms


def check(weights, tokens):
    _, grads = loss_and_gradient(weights, tokens)
    worst = 0.0
    for name, value in weights.items():
        for at in np.ndindex(value.shape):
            kept, h = value[at], 1e-6
            value[at] = kept + h
            above, _ = loss_and_gradient(weights, tokens)
            value[at] = kept - h
            below, _ = loss_and_gradient(weights, tokens)
            value[at] = kept
            worst = max(worst, abs((above - below) / (2 * h) - grads[name][at]))
    print(f"largest difference from central differences: {worst:.2e}")
    assert worst < 1e-8


def main():
    rng = np.random.default_rng(20240817)
    weights = draw_weights(rng)
    # Rows that can be learned: each token is the one before it plus the row's own step, with some noise.
    starts, steps = rng.integers(0, 17, (20, TRAIN["rows"], 1)), rng.integers(1, 4, (20, TRAIN["rows"], 1))
    batches = (starts + steps * np.arange(TRAIN["length"] + 1)) % 17
    noise = rng.random(batches.shape) < 0.1
    batches = np.where(noise, rng.integers(0, 17, batches.shape), batches)
    if "--check" in sys.argv:
        return check(weights, batches[0])
    losses, norms = train(weights, batches)
    out = dict(model=MODEL, train=TRAIN, batches=batches.tolist(), losses=losses, gradient_norms=norms,
               weights={name: value.ravel().tolist() for name, value in weights.items()})
    path = pathlib.Path(__file__).with_name("training_reference.json")
    path.write_text(json.dumps(out, separators=(",", ":")) + "\n")
    print(f"{path.name}: loss {losses[0]:.4f} to {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
