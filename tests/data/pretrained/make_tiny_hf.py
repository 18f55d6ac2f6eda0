"""Writes tiny_FAMILY/ (config.json and safetensors of random weights, as transformers saves them) for every family that
Sextant imports, and tiny_hf.json: their logits, in float64 by numpy alone, from the definitions of the models.

    python3 make_tiny_hf.py          needs: pip install numpy safetensors
"""
import json
import math
import pathlib

import numpy as np
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
VOCABULARY, WIDTH, LAYERS, HEADS, KV_HEADS, MLP, CONTEXT, LENGTH = 40, 16, 2, 4, 2, 24, 32, 12
COMMON = {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
          "num_key_value_heads": KV_HEADS, "intermediate_size": MLP, "max_position_embeddings": CONTEXT,
          "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu", "torch_dtype": "float16", "use_cache": True}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": CONTEXT}
FAMILIES = {
    "llama": {"head_dim": 8, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False},
    "mistral": {"head_dim": 8, "tie_word_embeddings": False, "sliding_window": 5},
    "qwen2": {"tie_word_embeddings": True, "use_sliding_window": False, "sliding_window": 4, "max_window_layers": 1},
    "qwen3": {"head_dim": 8, "tie_word_embeddings": True, "attention_bias": False, "max_position_embeddings": 4 * CONTEXT,
              "rope_scaling": YARN},
    "gemma": {"head_dim": 8, "hidden_act": "gelu_pytorch_tanh"},
}


def random_weights(family, config, rng):
    head = config.get("head_dim", WIDTH // HEADS)
    q, kv = HEADS * head, KV_HEADS * head
    matrix = lambda *shape: rng.normal(size=shape, scale=0.4).astype(np.float16)
    gain = lambda size: ((0 if family == "gemma" else 1) + 0.2 * rng.normal(size=size)).astype(np.float32)
    w = {"model.embed_tokens.weight": rng.normal(size=(VOCABULARY, WIDTH)).astype(np.float16), "model.norm.weight": gain(WIDTH)}
    if family in ("llama", "mistral"):
        w["lm_head.weight"] = matrix(VOCABULARY, WIDTH)
    for n in range(LAYERS):
        p = f"model.layers.{n}."
        w[p + "input_layernorm.weight"], w[p + "post_attention_layernorm.weight"] = gain(WIDTH), gain(WIDTH)
        for name, rows in (("q", q), ("k", kv), ("v", kv)):
            w[p + f"self_attn.{name}_proj.weight"] = matrix(rows, WIDTH)
            if family == "qwen2":
                w[p + f"self_attn.{name}_proj.bias"] = matrix(rows)
        w[p + "self_attn.o_proj.weight"] = matrix(WIDTH, q)
        if family == "qwen3":
            w[p + "self_attn.q_norm.weight"], w[p + "self_attn.k_norm.weight"] = gain(head), gain(head)
        w[p + "mlp.gate_proj.weight"], w[p + "mlp.up_proj.weight"] = matrix(MLP, WIDTH), matrix(MLP, WIDTH)
        w[p + "mlp.down_proj.weight"] = matrix(WIDTH, MLP)
    if family == "qwen2":
        w["lm_head.weight"] = w["model.embed_tokens.weight"]  # saved beside the embedding that it is tied to
    return w


def frequencies(config, head):
    i = np.arange(head // 2)
    plain = config["rope_theta"] ** (-2 * i / head)
    scaling = config.get("rope_scaling")
    if not scaling:
        return plain, 1.0
    s, length, base = scaling["factor"], scaling["original_max_position_embeddings"], config["rope_theta"]
    pair = lambda turns: head * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))
    low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), head - 1)
    ramp = np.clip((i - low) / (high - low if high > low else 0.001), 0, 1)
    return ramp * plain / s + (1 - ramp) * plain, 0.1 * math.log(s) + 1


def logits(family, config, weights, tokens):
    w = {name: values.astype(np.float64) for name, values in weights.items()}
    head, length = config.get("head_dim", WIDTH // HEADS), len(tokens)
    inv_freq, factor = frequencies(config, head)
    more = 1 if family == "gemma" else 0

    def norm(x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + config["rms_norm_eps"]) * (more + w[name])

    def turn(x):
        angle = np.arange(length)[:, None, None] * inv_freq
        c, s, half = np.cos(angle) * factor, np.sin(angle) * factor, head // 2
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * c - b * s, b * c + a * s], -1)

    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    hidden = (distance < 0) | (distance >= config["sliding_window"] if family == "mistral" else False)
    x = w["model.embed_tokens.weight"][tokens] * (math.sqrt(WIDTH) if family == "gemma" else 1)
    for n in range(LAYERS):
        p = f"model.layers.{n}."
        h = norm(x, p + "input_layernorm.weight")

        def project(name, heads):
            y = h @ w[p + f"self_attn.{name}_proj.weight"].T + w.get(p + f"self_attn.{name}_proj.bias", 0)
            y = y.reshape(length, heads, head)
            return norm(y, p + f"self_attn.{name}_norm.weight") if family == "qwen3" and name != "v" else y

        q, k, v = turn(project("q", HEADS)), turn(project("k", KV_HEADS)), project("v", KV_HEADS)
        attended = np.empty((length, HEADS, head))
        for j in range(HEADS):
            g = j // (HEADS // KV_HEADS)
            score = np.where(hidden, -np.inf, q[:, j] @ k[:, g].T / math.sqrt(head))
            e = np.exp(score - score.max(-1, keepdims=True))
            attended[:, j] = e / e.sum(-1, keepdims=True) @ v[:, g]
        x = x + attended.reshape(length, -1) @ w[p + "self_attn.o_proj.weight"].T
        h = norm(x, p + "post_attention_layernorm.weight")
        gate, up = h @ w[p + "mlp.gate_proj.weight"].T, h @ w[p + "mlp.up_proj.weight"].T
        if family == "gemma":
            active = 0.5 * gate * (1 + np.tanh(math.sqrt(2 / math.pi) * (gate + 0.044715 * gate**3)))
        else:
            active = gate / (1 + np.exp(-gate))
        x = x + (active * up) @ w[p + "mlp.down_proj.weight"].T
    return norm(x, "model.norm.weight") @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T


def save(family, config, weights):
    folder = HERE / f"tiny_{family}"
    folder.mkdir(exist_ok=True)
    json.dump(config, open(folder / "config.json", "w"), indent=1)
    metadata = {"format": "pt"}
    if family != "qwen3":
        save_file(weights, folder / "model.safetensors", metadata)
        return
    names = sorted(weights)
    place = {name: f"model-0000{1 + (i >= len(names) // 2)}-of-00002.safetensors" for i, name in enumerate(names)}
    for file in set(place.values()):
        save_file({n: weights[n] for n in names if place[n] == file}, folder / file, metadata)
    size = sum(values.nbytes for values in weights.values())
    json.dump({"metadata": {"total_size": size}, "weight_map": place}, open(folder / "model.safetensors.index.json", "w"), indent=1)


def main():
    rng = np.random.default_rng(7)
    out = {}
    for family, own in FAMILIES.items():
        config = {"model_type": family, "architectures": ["Tiny"], **COMMON, **own}
        weights = random_weights(family, config, rng)
        tokens = rng.integers(0, VOCABULARY, size=LENGTH)
        save(family, config, weights)
        found = logits(family, config, weights, tokens)
        out[family] = {"tokens": tokens.tolist(), "last_logits": found[-2:].tolist(), "sum_of_squares": float((found**2).sum())}
    json.dump(out, open(HERE / "tiny_hf.json", "w"), indent=1)


if __name__ == "__main__":
    main()
