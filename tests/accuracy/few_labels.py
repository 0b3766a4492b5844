"""Splits with as many training vertices of each class, drawn anew for each column (Shchur et al. 2018): a copy of a data set's folder that has
them in the place of its own."""
import ast
import random
import shutil
import struct
import zipfile
from array import array

TRAIN, VALIDATION = 20, 30  # vertices of each class; the others are tested on
CODES = {"<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b"}


def copy_with_split(source, place, columns):
    """`place` gets the files of `source`, and `split.npz` of so many columns."""
    place.mkdir()
    for file in source.iterdir():
        if not file.name.startswith("split"):
            shutil.copy(file, place)
    masks = split(read_integers(source / "labels.npy"), columns)
    with zipfile.ZipFile(place / "split.npz", "w") as archive:
        for part, mask in masks.items():
            archive.writestr(f"{part}.npy", npy(mask, (len(mask) // columns, columns)))


def split(labels, columns):
    """By part, (vertices, columns) bytes of 0 and 1, row by row. A column's draw depends on its number alone."""
    masks = {part: bytearray(len(labels) * columns) for part in ("train", "val", "test")}
    for column in range(columns):
        draw = random.Random(f"few labels {column}")
        for of_class in sorted(set(labels) - {-1}):
            vertices = [vertex for vertex, label in enumerate(labels) if label == of_class]
            draw.shuffle(vertices)
            for place, vertex in enumerate(vertices):
                part = "train" if place < TRAIN else "val" if place < TRAIN + VALIDATION else "test"
                masks[part][vertex * columns + column] = 1
    return masks


def read_integers(path):
    """A one-dimensional .npy file of integers."""
    data = path.read_bytes()
    length, = struct.unpack("<H", data[8:10])
    head = ast.literal_eval(data[10:10 + length].decode())
    values = array(CODES[head["descr"]])
    values.frombytes(data[10 + length:])
    return list(values)


def npy(mask, shape):
    head = f"{{'descr': '|b1', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(11 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(mask)
