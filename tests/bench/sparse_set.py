"""A data set of coauthor-physics' shape: 34,493 vertices, 8,415 features of which 0.4 % are 1, 14 arcs a vertex. Written as .npy and .npz files."""
import array
import random
import struct
import zipfile

VERTICES, FEATURES, CLASSES, ONES, SEED = 34_493, 8_415, 5, (20, 46), 20261129
OF_CLASS = 1_600  # features that a class's vertices have more often than others


def npy(code, values, shape):
    kind = {"q": "<i8", "i": "<i4", "f": "<f4"}[code]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(11 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + array.array(code, values).tobytes()


def npz(path, **arrays):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in arrays.items():
            file.writestr(f"{name}.npy", data)


def arcs(draw, labels):
    of_class = [[v for v, label in enumerate(labels) if label == c] for c in range(CLASSES)]
    for v in range(VERTICES):
        for _ in range(draw.randint(5, 9)):
            u = draw.choice(of_class[labels[v]]) if draw.random() < 0.7 else draw.randrange(VERTICES)
            if u != v:
                yield from (v, u)


def ones(draw, label):
    """Features of a vertex: some of its class's, the others by popularity."""
    found = set()
    wanted = draw.randint(*ONES)
    while len(found) < wanted:
        found.add(label * OF_CLASS + draw.randrange(OF_CLASS) if draw.random() < 0.25 else int(FEATURES * draw.random() ** 2.5))
    return sorted(found)


def write(folder):
    draw = random.Random(SEED)
    folder.mkdir(parents=True)
    labels = [draw.randrange(CLASSES) for _ in range(VERTICES)]
    edges = list(arcs(draw, labels))
    begins, columns = [0], []
    for label in labels:
        columns += ones(draw, label)
        begins.append(len(columns))
    (folder / "edges.npy").write_bytes(npy("q", edges, (len(edges) // 2, 2)))
    (folder / "labels.npy").write_bytes(npy("q", labels, (VERTICES,)))
    npz(folder / "features.npz", indices=npy("i", columns, (len(columns),)), indptr=npy("i", begins, (VERTICES + 1,)),
        data=npy("f", [1.0] * len(columns), (len(columns),)), shape=npy("q", (VERTICES, FEATURES), (2,)),
        format=b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|S3', 'fortran_order': False, 'shape': (), }".ljust(117) + b"\ncsr")
    order = list(range(VERTICES))
    draw.shuffle(order)
    ends = 0, int(0.6 * VERTICES), int(0.8 * VERTICES), VERTICES
    npz(folder / "split.npz", **{name: npy("q", sorted(order[ends[i]:ends[i + 1]]), (ends[i + 1] - ends[i],))
                                 for i, name in enumerate(("train", "val", "test"))})
