#!/usr/bin/env python3
"""Makes sentence_piece.json: a SentencePiece BPE vocabulary of 700 pieces with byte fallback, as Llama 2 and Mistral have
one, and what the sentencepiece library encodes the hard strings to. Needs `pip install sentencepiece` and the package
bible-kjv."""
import io
import json
import pathlib
import subprocess

import sentencepiece

HERE = pathlib.Path(__file__).parent


def main():
    strings = json.loads((HERE / "hard_strings.json").read_text())
    kjv = subprocess.run("bible -l100000 gen1:1-gen3:24", shell=True, check=True, capture_output=True, text=True).stdout
    lines = [line for line in kjv.splitlines() if line] + 3 * [s for s in strings if s.strip() and "\n" not in s and "\0" not in s]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="bpe", vocab_size=700, byte_fallback=True,
        character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=True,
        split_digits=True, allow_whitespace_only_pieces=True, minloglevel=2)
    sp = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    kinds = [2 if sp.is_unknown(i) else 3 if sp.is_control(i) else 6 if sp.is_byte(i) else 1 for i in range(len(sp))]
    (HERE / "sentence_piece.json").write_text(json.dumps({
        "tokens": [sp.id_to_piece(i) for i in range(len(sp))],
        "scores": [sp.get_score(i) for i in range(len(sp))],
        "types": kinds, "bos": sp.bos_id(), "eos": sp.eos_id(), "unk": sp.unk_id(),
        "ids": [sp.encode(s) for s in strings]}, separators=(",", ":")).replace("]],", "]],\n") + "\n")


if __name__ == "__main__":
    main()
