"""Writes formats.gguf: random blocks of every number format that Sextant reads, and what they stand for.

For every format there are two tensors, NAME (raw blocks, random bits with finite scales) and NAME.values (float32, from the
numpy routines of the `gguf` package, which ggml's own tests hold against its C code). The metadata has one key of each type.

    python3 make_formats.py          needs: pip install gguf numpy
"""
import pathlib

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q
from gguf.quants import dequantize

ROWS, WIDTH = 2, 512
# Where the float16 scales of a block lie.
SCALES = {Q.F32: [], Q.F16: [], Q.BF16: [], Q.Q8_0: [0], Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0], Q.Q5_1: [0, 2],
          Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208]}


def random_halves(rng, count):
    """Scales of both signs, from subnormal to large; zero too."""
    halves = (rng.normal(size=count) * 10.0 ** rng.uniform(-7, 2, size=count)).astype(np.float16)
    halves[::17] = 0
    return halves


def random_blocks(rng, kind):
    block, size = gguf.GGML_QUANT_SIZES[kind]
    count = ROWS * WIDTH // block
    if kind == Q.F32:
        return rng.normal(size=(ROWS, WIDTH)).astype(np.float32).view(np.uint8)
    if kind == Q.F16:
        return random_halves(rng, count).reshape(ROWS, WIDTH).view(np.uint8)
    if kind == Q.BF16:
        bits = rng.normal(size=(ROWS, WIDTH)).astype(np.float32).view(np.uint32) >> 16
        return bits.astype(np.uint16).view(np.uint8)
    blocks = rng.integers(0, 256, size=(count, size), dtype=np.uint8)
    for at in SCALES[kind]:
        blocks[:, at:at + 2] = random_halves(rng, count).view(np.uint8).reshape(count, 2)
    return blocks.reshape(ROWS, -1)


def main():
    rng = np.random.default_rng(5)
    path = pathlib.Path(__file__).parent / "formats.gguf"
    out = gguf.GGUFWriter(path, "none")
    out.add_uint8("a.u8", 200)
    out.add_int8("a.i8", -100)
    out.add_uint16("a.u16", 60000)
    out.add_int16("a.i16", -30000)
    out.add_uint32("a.u32", 4000000000)
    out.add_int32("a.i32", -2000000000)
    out.add_float32("a.f32", 0.5)
    out.add_bool("a.bool", True)
    out.add_string("a.string", "grüße")
    out.add_array("a.strings", ["one", "", "three"])
    out.add_array("a.integers", [1, -2, 3])
    out.add_array("a.numbers", [0.25, 1.5])
    out.add_uint64("a.u64", 1 << 63)
    out.add_int64("a.i64", -(1 << 62))
    out.add_float64("a.f64", 1e300)
    for kind in SCALES:
        blocks = random_blocks(rng, kind)
        values = dequantize(blocks if kind not in (Q.F32, Q.F16) else blocks.view(np.float32 if kind == Q.F32 else np.float16),
                            kind).reshape(ROWS, WIDTH)
        assert np.isfinite(values).all(), kind
        if kind == Q.F32:
            out.add_tensor(kind.name, values)
        else:
            out.add_tensor(kind.name, blocks, raw_dtype=kind)
            out.add_tensor(kind.name + ".values", values.astype(np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    main()
