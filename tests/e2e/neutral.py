"""Small data sets in the neutral layout (docs/datasets.md), written without NumPy: .npy and .npz byte by byte."""
import io
import struct
import zipfile

CODES = {"<i4": "i", "<i8": "q", "<f4": "f", "|b1": "?", "<f8": "d"}


def npy(code, shape, values, order="<", fortran=False):
    """The bytes of a .npy array; `code` as NumPy writes it ("<i4"), big-endian where order is ">"."""
    described = code if order == "<" else ">" + code[1:]
    shape_text = "(" + "".join(f"{extent}, " for extent in shape).rstrip(" ") + ")"
    header = f"{{'descr': '{described}', 'fortran_order': {fortran}, 'shape': {shape_text}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    data = struct.pack(f"{order}{len(values)}{CODES[code]}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npz(arrays):
    """The bytes of a .npz archive of {name: bytes of a .npy}."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def masks(vertices, train, val, test):
    def mask(chosen):
        return npy("|b1", (vertices,), [v in chosen for v in range(vertices)])
    return npz({"train": mask(train), "val": mask(val), "test": mask(test)})


VERTICES = 6


def ring():
    """{file: bytes} of a ring of six vertices, two features, two classes."""
    arcs = [(v, (v + 1) % VERTICES) for v in range(VERTICES)] + [((v + 1) % VERTICES, v) for v in range(VERTICES)]
    return {
        "edges.npy": npy("<i4", (len(arcs), 2), [end for arc in arcs for end in arc]),
        "features.npy": npy("<f4", (VERTICES, 2), [float(i % 5) for i in range(2 * VERTICES)]),
        "labels.npy": npy("<i8", (VERTICES,), [v % 2 for v in range(VERTICES)]),
        "split.npz": masks(VERTICES, {0, 1}, {2, 3}, {4, 5}),
    }


def store(folder, files):
    folder.mkdir(parents=True)
    for name, content in files.items():
        if content is not None:
            (folder / name).write_bytes(content)
    return folder
