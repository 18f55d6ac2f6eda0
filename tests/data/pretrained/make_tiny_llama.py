"""Writes tiny_llama.gguf, a Llama model of random weights, and tiny_llama.json: what it computes, in float64 by numpy alone.

The forward pass takes the rows of attn_q and attn_k as GGUF stores them, pair by pair, and turns channels (2i, 2i + 1);
Sextant moves the rows when it imports them and turns (i, i + n/2). Frequencies are from the formulas of the papers.

    python3 make_tiny_llama.py       needs: pip install gguf numpy
"""
import hashlib
import json
import math
import pathlib

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q
from gguf.quants import dequantize, quantize

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD, MLP, CONTEXT, THETA, EPS = 2, 32, 4, 2, 8, 64, 64, 10000.0, 1e-5
HERE = pathlib.Path(__file__).parent
MERGES = ["t h", "th e", "Ġ the", "i n", "Ġ a", "e r", "a n", "an d", "Ġ and", "in g"]
SPECIAL = ["<|start|>", "<|end|>"]
TEXT = "the thing and another thing, in the rain"


def byte_letters():
    """GPT-2's letters for the 256 bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(rest)) for b in range(256)]


def tokens_of(text, vocabulary):
    """Byte-level BPE of a text without digits, split before every space as GPT-2's pattern does here."""
    letters, ranks = byte_letters(), {m: r for r, m in enumerate(MERGES)}
    words, out = [], []
    for character in text:
        if character in " ," or not words:
            words.append("")
        words[-1] += character
    for word in words:
        parts = [letters[b] for b in word.encode()]
        while True:
            found = [(ranks[f"{a} {b}"], i) for i, (a, b) in enumerate(zip(parts, parts[1:])) if f"{a} {b}" in ranks]
            if not found:
                break
            _, i = min(found)
            parts[i:i + 2] = ["".join(parts[i:i + 2])]
        out += [vocabulary.index(p) for p in parts]
    return out


def random_weights():
    rng = np.random.default_rng(11)
    vocabulary = SPECIAL + byte_letters() + [m.replace(" ", "") for m in MERGES]

    def matrix(rows, columns, kind, std):
        values = (std * rng.normal(size=(rows, columns))).astype(np.float32)
        if kind in (Q.F32, Q.F16):
            raw = values if kind == Q.F32 else values.astype(np.float16)
            return kind, raw, raw.astype(np.float64)
        raw = quantize(values, kind)
        return kind, raw, dequantize(raw, kind).astype(np.float64)

    def gain(size):
        values = (1 + 0.2 * rng.normal(size=size)).astype(np.float32)
        return Q.F32, values, values.astype(np.float64)

    weights = {"token_embd.weight": matrix(len(vocabulary), WIDTH, Q.Q8_0, 1.0), "output_norm.weight": gain(WIDTH)}
    for n in range(LAYERS):
        b = f"blk.{n}."
        weights[b + "attn_norm.weight"] = gain(WIDTH)
        weights[b + "attn_q.weight"] = matrix(HEADS * HEAD, WIDTH, Q.Q4_1, 0.4)
        weights[b + "attn_k.weight"] = matrix(KV_HEADS * HEAD, WIDTH, Q.Q5_1, 0.4)
        weights[b + "attn_v.weight"] = matrix(KV_HEADS * HEAD, WIDTH, Q.F16, 0.3)
        weights[b + "attn_output.weight"] = matrix(WIDTH, HEADS * HEAD, Q.BF16, 0.3)
        weights[b + "ffn_norm.weight"] = gain(WIDTH)
        weights[b + "ffn_gate.weight"] = matrix(MLP, WIDTH, Q.Q4_0, 0.3)
        weights[b + "ffn_up.weight"] = matrix(MLP, WIDTH, Q.Q5_0, 0.3)
        weights[b + "ffn_down.weight"] = matrix(WIDTH, MLP, Q.F32, 0.3)
    return vocabulary, weights


def write_gguf(path, vocabulary, weights):
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("tiny llama of random weights")
    out.add_block_count(LAYERS)
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_feed_forward_length(MLP)
    out.add_head_count(HEADS)
    out.add_head_count_kv(KV_HEADS)
    out.add_rope_freq_base(THETA)
    out.add_rope_dimension_count(HEAD)
    out.add_layer_norm_rms_eps(EPS)
    out.add_vocab_size(len(vocabulary))
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(vocabulary)
    out.add_token_types([3] * len(SPECIAL) + [1] * (len(vocabulary) - len(SPECIAL)))
    out.add_token_merges(MERGES)
    out.add_bos_token_id(0)
    out.add_eos_token_id(1)
    out.add_add_bos_token(False)
    for name, (kind, raw, _) in weights.items():
        out.add_tensor(name, raw, raw_dtype=None if kind in (Q.F32, Q.F16) else kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def frequencies(method, params):
    i = np.arange(HEAD // 2)
    plain, s = THETA ** (-2 * i / HEAD), params.get("factor", 1.0)
    if method == "default":
        return plain, 1.0
    if method == "linear":
        return plain / s, 1.0
    if method == "ntk":
        return (THETA * s ** (HEAD / (HEAD - 2))) ** (-2 * i / HEAD), 1.0
    if method == "yarn":
        length = params["original_max_position_embeddings"]
        pair = lambda turns: HEAD * math.log(length / (2 * math.pi * turns)) / (2 * math.log(THETA))
        low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), HEAD - 1)
        ramp = np.clip((i - low) / (high - low if high > low else 0.001), 0, 1)
        return ramp * plain / s + (1 - ramp) * plain, 0.1 * math.log(s) + 1
    raise ValueError(method)


def norm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * gain


def turn(x, inv_freq, factor, start):  # [tokens, heads, HEAD], neighbours in pairs
    angle = (start + np.arange(len(x)))[:, None, None] * inv_freq
    c, s, out = np.cos(angle) * factor, np.sin(angle) * factor, np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
    out[..., 1::2] = x[..., 1::2] * c + x[..., 0::2] * s
    return out


def halves(x):  # neighbours in pairs to the half layout
    return np.concatenate([x[0::2], x[1::2]])


def run(weights, tokens, name, method, params, start=0):
    inv_freq, factor = frequencies(method, params)
    w = {key: values for key, (_, _, values) in weights.items()}
    x, length = w["token_embd.weight"][tokens], len(tokens)
    probes = {}
    hidden = np.triu(np.full((length, length), -np.inf), 1)
    for n in range(LAYERS):
        b = f"blk.{n}."
        h = norm(x, w[b + "attn_norm.weight"])
        project = lambda part, heads: (h @ w[b + part].T).reshape(length, heads, HEAD)
        q = turn(project("attn_q.weight", HEADS), inv_freq, factor, start)
        k = turn(project("attn_k.weight", KV_HEADS), inv_freq, factor, start)
        v = project("attn_v.weight", KV_HEADS)
        attended = np.empty((length, HEADS, HEAD))
        for head in range(HEADS):
            key = head * KV_HEADS // HEADS
            logits = q[:, head] @ k[:, key].T / math.sqrt(HEAD) + hidden
            p = np.exp(logits - logits.max(-1, keepdims=True))
            attended[:, head] = p / p.sum(-1, keepdims=True) @ v[:, key]
        x = x + attended.reshape(length, -1) @ w[b + "attn_output.weight"].T
        h = norm(x, w[b + "ffn_norm.weight"])
        gate = h @ w[b + "ffn_gate.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w[b + "ffn_up.weight"].T)) @ w[b + "ffn_down.weight"].T
        if n == 0:
            probes = {"layer0_head0_q_rotated": halves(q[-1, 0]), "layer0_head0_k_rotated": halves(k[-1, 0]),
                      "layer0_output": x[-1, :16]}
    x = norm(x, w["output_norm.weight"])
    probes["final_norm_output"] = x[-1, :16]
    logits = x @ w["token_embd.weight"].T
    nll = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
    total = float(sum(nll[t] - logits[t, tokens[t + 1]] for t in range(length - 1)))
    best = lambda t: np.argsort(-logits[t], kind="stable")[:5]
    return {"name": name, "method": method, "params": {"head_dim": HEAD, "rope_theta": THETA, **params},
            "start_pos": start, "attention_factor": factor, "inv_freq": inv_freq.tolist(), "nll_total": total,
            "perplexity": math.exp(total / (length - 1)),
            "top5": [{"position": t, "ids": best(t).tolist(), "logits": logits[t][best(t)].tolist()}
                     for t in (0, 1, 7, length // 2, length - 1)],
            "probes_last_position": {key: values.tolist() for key, values in probes.items()}}


def main():
    vocabulary, weights = random_weights()
    path = HERE / "tiny_llama.gguf"
    write_gguf(path, vocabulary, weights)
    content = path.read_bytes()
    tokens = tokens_of(TEXT, vocabulary)
    checked = ["token_embd.weight", "blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.1.ffn_down.weight", "output_norm.weight"]
    weights_check = [{"tensor": name, "shape": list(values.shape), "last_row_first_8": (values if values.ndim == 1 else values[-1])[:8].tolist(),
                      "sum": values.sum(), "sum_of_squares": (values * values).sum()}
                     for name in checked for values in [weights[name][2]]]
    yarn = {"factor": 4.0, "original_max_position_embeddings": CONTEXT, "max_position_embeddings": 4 * CONTEXT}
    runs = [run(weights, tokens, "default", "default", {}), run(weights, tokens, "start_4000", "default", {}, 4000),
            run(weights, tokens, "linear_s4", "linear", {"factor": 4.0}),
            run(weights, tokens, "ntk_s4", "ntk", {"factor": 4.0}), run(weights, tokens, "yarn_s4", "yarn", yarn)]
    config = {"layers": LAYERS, "context_length": CONTEXT, "hidden_size": WIDTH, "intermediate_size": MLP, "heads": HEADS,
              "kv_heads": KV_HEADS, "head_dim": HEAD, "rope_theta": THETA, "rms_norm_eps": float(np.float32(EPS)),
              "vocab_size": len(vocabulary)}
    json.dump({"format": "sextant-smollm2", "version": 1,
               "model": {"file": path.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(),
                         "tensor_types": sorted({kind.name for kind, _, _ in weights.values()}), "config": config,
                         "tied_embeddings": True},
               "weights_check": weights_check, "text": TEXT, "tokens": tokens, "logit_atol": 2e-4,
               "nll_total_atol": 1e-3, "runs": runs}, open(HERE / "tiny_llama.json", "w"), indent=1)


if __name__ == "__main__":
    main()
