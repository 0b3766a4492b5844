"""The #include lines of the engine's C++ files, for the lint scripts that judge them."""
import pathlib
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def sources(engine):
    """C++ and CUDA files below `engine`, in a fixed order."""
    return sorted(p for p in engine.rglob("*") if p.suffix in {".h", ".cc", ".cuh", ".cu"})


def includes(path):
    """Yields (line number, header, is_ours) for each include of a file; ours are written in quotes."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(1) is not None


def engine_of(arguments):
    """The engine folder of the tree that a script was called for: its first argument, or this checkout."""
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    return root / "engine"
