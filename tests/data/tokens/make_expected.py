#!/usr/bin/env python3
"""Makes tiny.json (a byte-level vocabulary of about 1300 tokens) and expected.json (what Hugging Face's library encodes the
hard strings to), the data of tests/tokens. Needs `pip install tokenizers gguf` and SmolLM2's GGUF file:

    make_expected.py SmolLM2-135M-Instruct.Q4_1.gguf

tiny.json is trained on the King James text (package bible-kjv) and on the hard strings themselves.
"""
import json
import pathlib
import subprocess
import sys

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*|\p{{N}}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{{N}}{{1,3}}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def split(*patterns):
    cuts = [pre_tokenizers.Split(Regex(p), "isolated") for p in patterns]
    return pre_tokenizers.Sequence(cuts + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
PRE = {  # name in GGUF: (pre-tokenizer, ignore_merges)
    "gpt-2": (BYTES, False),
    "smollm": (pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTES]), False),
    "llama-bpe": (split(LLAMA3), True),
    "qwen2": (split(QWEN2), False),
    "tekken": (split(TEKKEN), True),
    "gpt-4o": (split(GPT4O), False),
    "default": (split(r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"), False),
}
OTHER = {  # what tokenizer.json can say and no name of GGUF stands for
    "a space first": (pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True), False),
    "numbers together": (pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=False), BYTES]), False),
    "at a string": (pre_tokenizers.Sequence([pre_tokenizers.Split("th", "isolated"), BYTES]), False),
    "Chinese apart": (pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\p{Han}+|[^\u0000-\u007F]"), "isolated"), BYTES]),
                      False),
}


def train(strings):
    kjv = subprocess.run("bible -l100000 gen1:1-gen3:24", shell=True, check=True, capture_output=True, text=True).stdout
    tiny = Tokenizer(models.BPE())
    tiny.pre_tokenizer, tiny.decoder = split(LLAMA3), decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=1300, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tiny.train_from_iterator([kjv] + 3 * strings, trainer)
    tiny.add_tokens([AddedToken("<think>", special=False, normalized=False)])
    tiny.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=False, special=True, normalized=False)])
    return tiny


def of_gguf(path):
    fields = gguf.GGUFReader(path).fields
    get = lambda key: fields["tokenizer.ggml." + key].contents()
    tokens = get("tokens")
    whole = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)},
                                 merges=[tuple(m.split(" ")) for m in get("merges")]))
    whole.pre_tokenizer, whole.decoder = PRE["smollm"][0], decoders.ByteLevel()
    whole.add_special_tokens([t for t, kind in zip(tokens, get("token_type")) if kind == 3])
    return whole


def encode(tokenizer, strings, control):
    tokenizer.encode_special_tokens = not control
    return [tokenizer.encode(s, add_special_tokens=False).ids for s in strings]


def main():
    strings = json.loads((HERE / "hard_strings.json").read_text())
    tiny = train(strings)
    tiny.save(str(HERE / "tiny.json"), pretty=False)
    plain = json.loads((HERE / "tiny.json").read_text())
    expected = {"tiny": {}, "other": {}}
    for name, (pre, ignore_merges) in (PRE | OTHER).items():
        settings = json.loads(json.dumps(plain))
        settings["pre_tokenizer"] = pre_tokenizer_json(pre)
        settings["model"]["ignore_merges"] = ignore_merges
        one = Tokenizer.from_str(json.dumps(settings))
        expected["tiny" if name in PRE else "other"][name] = {"pre_tokenizer": settings["pre_tokenizer"], "ignore_merges": ignore_merges,
                                  "text": encode(one, strings, False), "control": encode(one, strings, True)}
    tiny.normalizer = normalizers.NFC()
    expected["nfc"] = encode(tiny, strings, False)
    whole = of_gguf(sys.argv[1])
    expected["smollm2"] = {"text": encode(whole, strings, False), "control": encode(whole, strings, True)}
    (HERE / "expected.json").write_text(json.dumps(expected, separators=(",", ":")).replace("]],", "]],\n") + "\n")


def pre_tokenizer_json(pre):
    one = Tokenizer(models.BPE())
    one.pre_tokenizer = pre
    return json.loads(one.to_str())["pre_tokenizer"]


if __name__ == "__main__":
    main()
