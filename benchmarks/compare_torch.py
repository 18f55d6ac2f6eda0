#!/usr/bin/env python3
"""Sextant beside PyTorch on the same CPU, in turns: the ratio table of docs/performance.md.

    benchmarks/compare_torch.py BUILD/bin/sextant_bench [--rounds 5] [--only attention,rope] [--json out.json]

PyTorch runs in its best setting, torch.set_float32_matmul_precision("medium"), on as many threads as Sextant (2). Where torch
is not installed the script says so and exits 0: it is no dependency. A round runs a case of both, in an order that
alternates; a row shows the medians and the median of the rounds' ratios, PyTorch / Sextant: above 1, Sextant is faster.
Models of PyTorch have the shapes of Sextant's and weights drawn at random, which does not change their speed.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time


def seconds_of(bench, name, min_time):
    """Seconds an iteration of one benchmark of Sextant."""
    run = subprocess.run([bench, "--benchmark_filter=^%s$" % re.escape(name), "--benchmark_format=json",
                          "--benchmark_min_time=%g" % min_time], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError("%s: %s" % (name, run.stderr[-500:]))
    found = json.loads(run.stdout or '{"benchmarks": []}')["benchmarks"]
    if len(found) != 1 or found[0].get("error_occurred"):
        raise RuntimeError("%s: %s" % (name, found[0]["error_message"] if found else "no such benchmark"))
    return found[0]["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[found[0]["time_unit"]]


def torch_seconds(work, min_time):
    """Seconds a call, after one that warms up."""
    work()
    count, begin = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - begin < min_time:
        work()
        count += 1
    return (time.perf_counter() - begin) / count


def alibi_slopes(torch, heads):
    return torch.tensor([2.0 ** (-8.0 * (n + 1) / heads) for n in range(heads)])


def attention_case(torch, shape, bias, backward, dtype):
    """SDPA: causal as such, or with a float mask that holds the bias, formed anew each time where it is trained."""
    F = torch.nn.functional
    b, h, l, d = shape
    q, k, v = (torch.randn(b, h, l, d, dtype=dtype, requires_grad=backward) for _ in range(3))
    grad = torch.randn(b, h, l, d, dtype=dtype)
    offset = torch.arange(l)[:, None] - torch.arange(l)[None, :]
    hidden = torch.zeros(l, l).masked_fill_(offset < 0, -math.inf)
    slope = alibi_slopes(torch, h)
    table = torch.nn.Parameter(torch.randn(h, l) * 0.1)
    r1, r2 = torch.nn.Parameter(torch.ones(h)), torch.nn.Parameter(torch.ones(h))
    distance = offset.clamp(min=0)

    def mask():
        if bias == "alibi":
            return -slope[:, None, None] * distance + hidden
        if bias == "t5":
            return table[:, distance] + hidden
        if bias == "kerple":
            return -r1[:, None, None] * torch.log1p(r2[:, None, None] * distance) + hidden
        return None

    constant = mask() if bias == "alibi" else None  # made once, as a user would

    def work():
        if bias is None:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            added = constant if bias == "alibi" else mask()
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=added[None].expand(b, h, l, l).to(dtype))
        if backward:
            out.backward(grad)

    def guarded():
        if backward:
            return work()
        with torch.no_grad():
            work()

    return guarded


def flex_case(torch, shape, bias):
    """FlexAttention, compiled: scores are changed where they are formed. On CPUs it has no backward."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    b, h, l, d = shape
    q, k, v = (torch.randn(b, h, l, d) for _ in range(3))
    slope = alibi_slopes(torch, h)

    def alibi(score, row, head, i, j):
        return score - slope[head] * (i - j)

    def kerple(score, row, head, i, j):
        return score - torch.log1p((i - j).clamp(min=0).to(torch.float32))

    causal = create_block_mask(lambda row, head, i, j: i >= j, None, None, l, l, device="cpu")
    run, change = torch.compile(flex_attention), {"alibi": alibi, "kerple": kerple}[bias]

    def work():
        with torch.no_grad():
            run(q, k, v, score_mod=change, block_mask=causal)

    return work


def make_llama(torch, vocabulary, width, layers, heads, kv_heads, mlp, length):
    F, nn = torch.nn.functional, torch.nn
    dim = width // heads

    def rms(x, gain):
        return F.rms_norm(x, (width,), gain, 1e-5)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * dim, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.gate_up = nn.Linear(width, 2 * mlp, bias=False)
            self.down = nn.Linear(mlp, width, bias=False)
            self.n1, self.n2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))

        def forward(self, x, cos, sin, cache, first):
            b, l, _ = x.shape
            y = self.qkv(rms(x, self.n1)).view(b, l, heads + 2 * kv_heads, dim).transpose(1, 2)
            q, k, v = y.split((heads, kv_heads, kv_heads), 1)
            turn = lambda t: t * cos + torch.cat((-t[..., dim // 2:], t[..., :dim // 2]), -1) * sin
            q, k = turn(q), turn(k)
            if cache is not None:
                cache[0][:, :, first:first + l], cache[1][:, :, first:first + l] = k, v
                k, v = cache[0][:, :, :first + l], cache[1][:, :, :first + l]
            a = F.scaled_dot_product_attention(q, k, v, is_causal=l > 1, enable_gqa=heads != kv_heads)
            x = x + self.out(a.transpose(1, 2).reshape(b, l, width))
            g, u = self.gate_up(rms(x, self.n2)).chunk(2, -1)
            return x + self.down(F.silu(g) * u)

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.Parameter(torch.ones(width))
            angle = torch.arange(length)[:, None] * 1e4 ** (-torch.arange(0, dim, 2) / dim)[None]
            self.register_buffer("cos", torch.cat((angle, angle), 1).cos())
            self.register_buffer("sin", torch.cat((angle, angle), 1).sin())
            nn.init.normal_(self.embedding.weight, std=0.02)

        def forward(self, tokens, caches=None, first=0, last_only=False):
            x = self.embedding(tokens)
            cos = self.cos[first:first + tokens.shape[1]].to(x.dtype)
            sin = self.sin[first:first + tokens.shape[1]].to(x.dtype)
            for n, block in enumerate(self.blocks):
                x = block(x, cos, sin, caches[n] if caches else None, first)
            x = rms(x[:, -1:] if last_only else x, self.norm)
            return F.linear(x, self.embedding.weight)

    return Llama()


def train_case(torch, autocast, compiled):
    model = make_llama(torch, 256, 256, 4, 4, 4, 688, 512)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    tokens, targets = torch.randint(256, (16, 512)), torch.randint(256, (16, 512))

    def loss_of():
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            return torch.nn.functional.cross_entropy(model(tokens).float().flatten(0, 1), targets.flatten())

    run = torch.compile(loss_of) if compiled else loss_of

    def work():
        run().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return work


def smollm2(torch, dtype, length):
    return make_llama(torch, 49152, 576, 30, 9, 3, 1536, length).to(dtype).eval()


def loss_case(torch, dtype, length):
    model, tokens = smollm2(torch, dtype, length), torch.randint(49152, (1, length + 1))

    def work():
        with torch.inference_mode():
            torch.nn.functional.cross_entropy(model(tokens[:, :-1])[0].float(), tokens[0, 1:])

    return work


def prefill_case(torch, dtype, length):
    model, tokens = smollm2(torch, dtype, length), torch.randint(49152, (1, length))
    caches = [[torch.zeros(1, 3, length, 64, dtype=dtype) for _ in range(2)] for _ in range(30)]

    def work():
        with torch.inference_mode():
            model(tokens, caches, 0, True)

    return work


def decode_case(torch, dtype, length, steps=16):
    model = smollm2(torch, dtype, length + steps)
    caches = [[torch.zeros(1, 3, length + steps, 64, dtype=dtype) for _ in range(2)] for _ in range(30)]
    token = torch.zeros(1, 1, dtype=torch.long)

    def work():
        with torch.inference_mode():
            for n in range(steps):
                token[0, 0] = model(token, caches, length + n, True)[0, 0].argmax()

    return work


def rope_case(torch, compiled):
    q, k = torch.randn(4, 16, 4096, 128), torch.randn(4, 16, 4096, 128)
    angle = torch.arange(4096)[:, None] * 1e4 ** (-torch.arange(0, 128, 2) / 128)[None]
    cos, sin = torch.cat((angle, angle), 1).cos(), torch.cat((angle, angle), 1).sin()

    def turn(x):
        return x * cos + torch.cat((-x[..., 64:], x[..., :64]), -1) * sin

    both = (lambda: (turn(q), turn(k)))
    run = torch.compile(both) if compiled else both

    def work():
        with torch.inference_mode():
            run()

    return work


def cases(torch):
    """(group, title, benchmark of Sextant, how to make PyTorch's)."""
    f32, bf16 = torch.float32, torch.bfloat16
    long, many = (1, 8, 4096, 64), (16, 4, 512, 64)
    name = lambda use, what, s: "family/%s/%s/B:%d/H:%d/L:%d/D:%d/real_time" % (what, use, *s)
    for use, title, bias in (("nope", "attention", None), ("alibi", "attention, linear bias", "alibi"),
                             ("t5", "attention, learned distance bias", "t5"),
                             ("kerple", "attention, logarithm a pair", "kerple")):
        for shape in (long, many):
            for backward, what in ((False, "forward"), (True, "forward+backward")):
                yield ("attention", "%s, %s, B%d H%d L%d D%d" % (title, what, *shape), name(use, what, shape),
                       lambda b=bias, s=shape, back=backward: attention_case(torch, s, b, back, f32))
    for use, title in (("alibi", "linear bias"), ("kerple", "logarithm a pair")):
        yield ("attention", "attention, %s, forward, beside FlexAttention" % title, name(use, "forward", long),
               lambda b=use: flex_case(torch, long, b))
    for shape in (long, many):  # the kernels alone: PyTorch's arrays are bf16, Sextant's floats that hold bf16 numbers
        for backward, what in ((False, "forward"), (True, "forward+backward")):
            yield ("attention", "attention bf16, %s, B%d H%d L%d D%d" % (what, *shape),
                   "attention/%s_bf16/B:%d/H:%d/L:%d/D:%d/with:0/real_time" % (what, *shape),
                   lambda s=shape, back=backward: attention_case(torch, s, None, back, bf16))
    yield ("train", "training step", "train_step/wide_rope/0/real_time", lambda: train_case(torch, False, False))
    yield ("train", "training step, compiled", "train_step/wide_rope/0/real_time", lambda: train_case(torch, False, True))
    yield ("train", "training step, bf16", "train_step/wide_bf16_rope/0/real_time", lambda: train_case(torch, True, False))
    yield ("train", "training step, bf16, compiled", "train_step/wide_bf16_rope/0/real_time", lambda: train_case(torch, True, True))
    for dtype, label in ((f32, "fp32"), (bf16, "bf16")):
        for length in (2048, 8192):
            yield ("smollm2", "SmolLM2 loss of %d tokens, %s" % (length, label), "smollm2_loss/%s/%d/real_time" % (label, length),
                   lambda t=dtype, n=length: loss_case(torch, t, n))
        yield ("decode", "SmolLM2 prefill of 2048, %s" % label, "smollm2_prefill/%s/2048/real_time" % label,
               lambda t=dtype: prefill_case(torch, t, 2048))
        for length in (512, 8192):
            yield ("decode", "SmolLM2 decode behind %d, 16 tokens, %s" % (length, label),
                   "smollm2_decode/%s/%d/real_time" % (label, length), lambda t=dtype, n=length: decode_case(torch, t, n))
    yield ("rope", "RoPE, beside PyTorch eager", "rope/out_of_place/real_time", lambda: rope_case(torch, False))
    yield ("rope", "RoPE, beside PyTorch compiled", "rope/out_of_place/real_time", lambda: rope_case(torch, True))


def measure(bench, case, options):
    ours, theirs = [], []
    work = case[3]()
    for n in range(options.rounds):
        for side in ("ours", "theirs") if n % 2 == 0 else ("theirs", "ours"):
            if side == "ours":
                ours.append(seconds_of(bench, case[2], options.min_time))
            else:
                theirs.append(torch_seconds(work, options.min_time))
    return {"case": case[1], "benchmark": case[2], "sextant": ours, "torch": theirs,
            "ratio": statistics.median(b / a for a, b in zip(ours, theirs))}


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("bench", help="sextant_bench")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--min-time", type=float, default=0.3, help="seconds a case and round")
    parse.add_argument("--threads", type=int, default=2)
    parse.add_argument("--only", help="groups of cases: attention, train, smollm2, decode, rope")
    parse.add_argument("--match", default="", help="cases whose title contains this")
    parse.add_argument("--json", help="write all times here")
    options = parse.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")  # as sextant_bench waits: neither loses to other work on the machine
    try:
        import torch
    except ImportError as error:
        print("compare_torch: skipped, PyTorch is not installed (%s)" % error)
        return 0
    torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision("medium")
    known = sorted({case[0] for case in cases(torch)})
    groups = options.only.split(",") if options.only else known
    for name in groups:
        if name not in known:
            parse.error("--only: there is no group %s, expected some of %s" % (name, ", ".join(known)))
    print("PyTorch %s (medium), %d threads, %d rounds; ms; ratio = PyTorch / Sextant" %
          (torch.__version__, options.threads, options.rounds), flush=True)
    rows = []
    for case in cases(torch):
        if case[0] not in groups or options.match not in case[1]:
            continue
        try:
            row = measure(options.bench, case, options)
        except Exception as error:  # a case that one side cannot run says so, and the others go on
            print("| %s | %s |" % (case[1], str(error).strip().split("\n")[0]), flush=True)
            continue
        rows.append(row)
        ratios = [theirs / ours for ours, theirs in zip(row["sextant"], row["torch"])]
        print("| %s | %.1f | %.1f | %.2f | %.2f to %.2f |" % (
            row["case"], 1e3 * statistics.median(row["sextant"]), 1e3 * statistics.median(row["torch"]), row["ratio"],
            min(ratios), max(ratios)), flush=True)
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"torch": torch.__version__, "threads": options.threads, "rows": rows}, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
