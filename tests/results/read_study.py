"""Reads a study file as docs/results.md tells a stranger to, and prints what it finds."""
import sys

import h5py

t = h5py.File(sys.argv[1])["summary/results"]
df = {c: (t[c].asstr() if t[c].dtype.kind == "O" else t[c])[:] for c in t}
print(list(df))
for i in range(len(df["run"])):
    print(*(df[c][i] for c in df))

f = t.file
print(f.attrs["schema"], f.attrs["default"], f[f.attrs["default"]].attrs["default"])
curves = f["summary/curves"]
signal, axis = curves.attrs["signal"], curves.attrs["axes"][0]
print(signal, curves[signal][:].tolist(), "over", axis, curves[axis][:].tolist(), curves[axis].attrs["units"])
print(list(curves.attrs["auxiliary_signals"]), curves[signal].dims[0][0].name)

numbers, filters = [], set()
def visit(name, item):
    if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiub":
        numbers.append(name)
        assert item.attrs["units"] and item.attrs["long_name"], name
        if item.size:
            filters.add((item.compression, item.compression_opts, item.shuffle, item.fletcher32))
f.visititems(visit)
print(len(numbers) > 5, filters)
print(f["spec/source"].asstr()[()] == "sextant: 1\n", len(f["spec/source"].attrs["sha256"]))
for name, run in f["runs"].items():
    print(name, run.attrs["status"], int(run.attrs["seed"]), run.attrs["arm"], list(run.attrs["parents"]))
print(bool(f["provenance"].attrs["dirty"]), f["provenance/inputs/name"].asstr()[:].tolist())
