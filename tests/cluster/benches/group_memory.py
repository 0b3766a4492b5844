"""What a container's control group says of its memory, read from within by READ."""

# The files of cgroup v1, or those of v2.
READ = ("cd /sys/fs/cgroup; if [ -d memory ]; then cd memory; cat memory.usage_in_bytes memory.max_usage_in_bytes memory.stat; "
        "else cat memory.current memory.peak memory.stat; fi")


def unreclaimable(text):
    """Bytes in use without those of files, which the kernel takes back before a limit kills. `text`: what READ prints."""
    usage, _, *lines = text.split("\n")
    stat = dict(each.split() for each in lines if each)
    prefix, cached = ("total_", "cache") if "total_cache" in stat else ("", "file")
    shared = int(stat.get(f"{prefix}shmem", 0))  # counted as a file's, and not to be taken back
    return int(usage) - int(stat[f"{prefix}{cached}"]) + shared


def peak(text):
    return int(text.split("\n")[1])


def limit_of(workers):
    """MiB that a launcher of so many workers may have, as operator/plan/gang.h gives them."""
    return max(512, 256 + 4 * workers)
