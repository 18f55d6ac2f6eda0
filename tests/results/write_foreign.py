"""Writes what others write and Sextant never does: old string types, odd widths, big endian, links, chunks."""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "w") as f:
    f.attrs["variable"] = "käse"
    f.attrs["fixed"] = np.bytes_("fixed")
    f.attrs["int32"] = np.int32(-3)
    f.attrs["uint16"] = np.uint16(65535)
    f.attrs["float32"] = np.float32(0.25)
    f.attrs["bool"] = True
    f.attrs["list"] = np.array([1, 2, 3], ">i8")
    f.attrs["floats"] = np.array([0.5, 1.5], "f4")
    f.attrs["words"] = ["a", "bc"]
    f.attrs["matrix"] = np.eye(2)
    f.attrs["empty"] = h5py.Empty("f8")
    g = f.create_group("numbers")
    g["big_endian"] = np.array([1.5, -2.5], ">f8")
    g["half"] = np.array([0.5, 65504], "f2")
    g["uint16"] = np.array([0, 65535], "u2")
    g["uint32"] = np.array([0, 2**32 - 1], "u4")
    g["uint64"] = np.array([0, 2**63 - 1], "u8")
    g["bool"] = np.array([True, False])
    g["scalar"] = 7
    g.create_dataset("chunked", data=np.arange(24.0).reshape(2, 3, 4), chunks=(1, 2, 3), compression="gzip",
                     maxshape=(None, 3, 4))
    g.create_dataset("fixed", data=np.array([b"ab", b"c"], "S2"))
    g.create_dataset("strings", data=["x", "", "yz"])
    g["length"] = np.array([128, 256])
    g["loss"] = np.array([[1.0, 2.0]])
    g["length"].make_scale("length")
    g["loss"].dims[1].attach_scale(g["length"])
    o = f.create_group("odd")
    o["complex"] = np.array([1 + 2j])
    o["table"] = np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")])
    o["too_large"] = np.array([1.0], "g") if np.dtype("g").itemsize > 8 else np.array([1j])
    o["dangling"] = h5py.SoftLink("/nowhere")
    o["alias"] = h5py.SoftLink("/numbers/half")
