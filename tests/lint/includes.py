"""The #include lines of the project's C++ files, for the lint scripts that judge them."""
import pathlib
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def sources(root):
    """C++ and CUDA files of the engine, then of the operator, in a fixed order."""
    return [path for folder in ("engine", "operator")
            for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in {".h", ".cc", ".cuh", ".cu"})]


def file_of(header, root):
    """Where a header of ours lies: the operator's are named by their whole path, the engine's from engine/."""
    return root / header if header.startswith("operator/") else root / "engine" / header


def includes(path):
    """Yields (line number, header, is_ours) for each include of a file; ours are written in quotes."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(1) is not None


def root_of(arguments):
    """The tree that a script was called for: its first argument, or this checkout."""
    return pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
