"""One bed a machine, for control groups and addresses are the machine's: a file says whose bed it has, and is
locked while a command changes that bed."""
import contextlib
import fcntl
import os
import pathlib
import time

from place import FOLDER, REPOSITORY, BedError

FILE = pathlib.Path("/run/atoll-bed.holder")


@contextlib.contextmanager
def changing(command):
    """Runs a command that changes the bed: alone, and only where no bed of another folder is."""
    with _lock() as file:
        folder, _, rest = file.read().partition(" ")
        if folder and folder != str(FOLDER):
            raise BedError(f"this machine has a bed already, in {folder} ({rest.strip()}): take that one down first: "
                           f"ATOLL_BED={folder} tests/cluster/bed down")
        file.truncate(0)
        file.write(f"{FOLDER} of {REPOSITORY}, bed {command} as process {os.getpid()} at {time.strftime('%F %T')}\n")
        file.flush()
        try:
            yield
        finally:
            if not FOLDER.exists():  # taken down, or never begun
                FILE.unlink(missing_ok=True)


@contextlib.contextmanager
def _lock():
    while True:
        with open(FILE, "a+", encoding="utf-8") as file:
            file.seek(0)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BedError(f"another command is changing the bed right now: {file.read().strip()}") from None
            if _is_current(file):  # else its holder released it between our open and our lock
                yield file
                return


def _is_current(file):
    try:
        return os.path.samestat(os.fstat(file.fileno()), FILE.stat())
    except FileNotFoundError:
        return False
