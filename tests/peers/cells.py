"""Measured cells in one JSON file, saved after each, so that a benchmark can be cut short and taken up again."""
import json
import os


class Cells:
    def __init__(self, path):
        self.path = path
        self.cells = json.loads(path.read_text())["cells"] if path.exists() else {}

    def get(self, name):
        return self.cells.get(name)

    def put(self, name, cell):
        self.cells[name] = cell
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps({"cells": self.cells}, indent=1) + "\n")
        os.replace(partial, self.path)
