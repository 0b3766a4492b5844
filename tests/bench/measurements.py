"""The cells: each measures one thing within ten minutes, given atoll and the cells stored so far, and returns rows
{"name", "figure", "unit", "limit", "note"}. A figure at or under its limit meets it; a limit of None is not one."""
import json
import re
import shutil
import subprocess
from pathlib import Path
from statistics import median

import sparse_set
from atoll import ROOT, Failed, Skipped


def row(name, figure, unit, limit=None, note=""):
    return {"name": name, "figure": figure, "unit": unit, "limit": limit, "note": note}


def timed_rows(lines):
    """Rows of `atoll bench`: seconds against a limit that depends on the machine's rates of the same minute."""
    rates = next(line for line in lines if line["event"] == "rates")
    rows = [row(line["name"], line["seconds"] * 1e3, "ms", line.get("limitSeconds", 0) * 1e3 or None,
                line.get("formula", "")) for line in lines if line["event"] == "bench"]
    return rows + rate_rows(rates)


def rate_rows(rates):
    return [row("triad", rates["triadBytes"] / 1e9, "GB/s"), row("gather of rows", rates["gatherBytes"] / 1e9, "GB/s"),
            row("peak of products", rates["productFlops"] / 1e9, "Gflop/s")]


def machine(atoll, _):
    return rate_rows(atoll.lines("bench", "machine", "--json")[0])


def ops(atoll, _):
    return timed_rows(atoll.lines("bench", "ops", atoll.dataset("ogbn_arxiv"), "--json"))


def epoch(manifest, *fields):
    def cell(atoll, _):
        atoll.dataset("ogbn_arxiv")
        return timed_rows(atoll.on_data("bench epoch", manifest, *settings(fields)))
    return cell


def precisions(manifest, rounds=5):
    """An epoch in bfloat16 beside one in float32, in turn; goal: two thirds of the time, on processors that multiply bfloat16."""
    def cell(atoll, _):
        if "avx512_bf16" not in Path("/proc/cpuinfo").read_text():
            raise Skipped("the processor has no AVX512-BF16")
        atoll.dataset("ogbn_arxiv")
        turns = []
        for _ in range(rounds):
            turns.append([next(line["seconds"] for line in atoll.on_data("bench epoch", manifest, *settings([f"training.precision={precision}"]))
                               if line["event"] == "bench") for precision in ("float32", "bfloat16")])
        ratios = [half / whole for whole, half in turns]
        return [row("bfloat16 / float32", median(ratios), "×", 1 / 1.5, f"{min(ratios):.2f} … {max(ratios):.2f} in {rounds} rounds"),
                row("float32", median(whole for whole, _ in turns) * 1e3, "ms"), row("bfloat16", median(half for _, half in turns) * 1e3, "ms")]
    return cell


def settings(fields):
    return [word for field in fields for word in ("--set", field)]


def two_ranks(atoll, _, rounds=4, epochs=6):
    """Two ranks of one thread against one rank of two, in turn; a second one-rank run tells the noise."""
    atoll.dataset("ogbn_arxiv")
    turns, busy = [], []
    for _ in range(rounds):
        turn = {}
        for name, ranks, threads in (("one", 1, 2), ("two", 2, 1), ("again", 1, 2)):
            fields = settings([f"training.epochs={epochs}", f"training.evaluateEvery={epochs}"])
            result = atoll.train("arxiv-gcn.yaml", "--ranks", ranks, "--threads", threads, *fields)
            turn[name] = median(result["epochSeconds"][1:])
            if name == "one":
                busy.append(atoll.cpu_seconds / atoll.wall_seconds)
        turns.append(turn)
    if median(busy) < 1.5:
        raise Failed(f"one rank with two threads used {median(busy):.2f} cores: not the comparison that was meant")
    ratios = [turn["two"] / turn["one"] for turn in turns]
    return [row("2 ranks on 2 cores / 1 rank with 2 threads", median(ratios), "×", 1.15),
            row("1 rank / 1 rank", median(turn["again"] / turn["one"] for turn in turns), "×", None, "noise"),
            row("cores used by the one rank", median(busy), "cores")]


COMMUNITY = "dataset={{synthetic: {{kind: community, vertices: {}, averageDegree: 50, features: 64, classes: 16}}}}"


def arcs(vertices, beside=None):
    """Nanoseconds an arc of an epoch on a generated graph of degree 50; at most 1.2 times those of the graph `beside`, the
    first whose matrices are larger than four last-level caches of 32 MiB: larger ones cost as much, smaller ones less."""
    def cell(atoll, stored):
        fields = [COMMUNITY.format(vertices), "model.options={aggregator: mean}"]
        lines = atoll.on_data("bench epoch", "synthetic-reddit.yaml", "--epochs", 3, *settings(fields))
        seconds = next(line["seconds"] for line in lines if line["event"] == "bench")
        before = beside and stored.get(beside)
        limit = 1.2 * before["rows"][0]["figure"] if before else None
        name = f"epoch, {vertices * 50 // 10**6}M arcs"
        return [row(name, seconds / (vertices * 50) * 1e9, "ns/arc", limit)] + rate_rows(lines[0])
    return cell


def generation(atoll, _):
    """1M vertices, 50M arcs, from the command to the data set on disk."""
    place = atoll.data / "generated"
    shutil.rmtree(place, ignore_errors=True)
    peak = atoll.peak_bytes("dataset", "generate", "--vertices", 1_000_000, "--averageDegree", 50, "--features", 64,
                            "--classes", 16, "--quiet", place)
    shutil.rmtree(place)
    return [row("1M vertices, 50M arcs", atoll.wall_seconds, "s", 60),
            row("its peak memory", peak / 2**20, "MiB", 256, "stated in docs/datasets.md")]


def startup(atoll, _):
    """From the command to the first epoch, the partition included."""
    place = atoll.dataset("ogbn_arxiv")
    rows = []
    for ranks in (1, 2):
        shutil.rmtree(place / "prepared", ignore_errors=True)
        result = atoll.train("arxiv-gcn.yaml", "--ranks", ranks, *settings(["training.epochs=1"]))
        rows.append(row(f"start to first epoch, {ranks} rank{'s' * (ranks > 1)}", result["startupSeconds"], "s", 5))
    return rows


def predicted_memory(atoll, _):
    """Each rank's reported peak against the planned one; the figure is the difference."""
    atoll.dataset("ogbn_arxiv")
    gat = ["model={kind: gat, layers: 2, hidden: 32, options: {heads: 4}}"]
    rows = []
    for name, manifest, ranks, fields in (("gcn", "arxiv-gcn.yaml", 1, []), ("gcn", "arxiv-gcn.yaml", 2, []),
                                          ("gcn, recompute", "arxiv-gcn.yaml", 2, ["training.recompute=layer"]),
                                          ("sage", "arxiv-sage.yaml", 1, []), ("sage", "arxiv-sage.yaml", 2, []),
                                          ("gat", "arxiv-gcn.yaml", 1, gat), ("gat", "arxiv-gcn.yaml", 2, gat),
                                          ("gcnii", "arxiv-gcn.yaml", 2, ["model={kind: gcnii, layers: 8, hidden: 64}"]),
                                          ("resgcn", "arxiv-gcn.yaml", 2, ["model={kind: resgcn, layers: 4, hidden: 64, norm: layer}"]),
                                          ("inductive", "arxiv-gcn.yaml", 2, ["training.setting=inductive"]),
                                          ("sage, reddit/20", "synthetic-reddit.yaml", 2, [])):
        rows += memory_rows(atoll, name, manifest, ["--ranks", ranks, *settings(fields)])
    return rows


def memory_rows(atoll, name, manifest, arguments):
    plan = atoll.on_data("plan", manifest, "--rates", "20,10,100", *arguments)[0]
    peaks = atoll.train(manifest, *arguments, *settings(["training.epochs=2"]))["peakMemoryBytes"]
    rows = []
    for rank, (planned, peak) in enumerate(zip(plan["peakMemoryBytes"], peaks)):
        off = abs(planned / peak - 1) * 100
        rows.append(row(f"{name}, rank {rank} of {len(peaks)}", off, "%", 10,
                        f"planned {planned / 2**20:.0f} MiB, used {peak / 2**20:.0f} MiB"))
    return rows


def objectives(atoll, _):
    """Rows exchanged with METIS' two objectives; the volume's must not be the worse one."""
    place = atoll.dataset("ogbn_arxiv")
    rows = []
    for parts in (2, 4, 8):
        volume, cut = (atoll.lines("partition", place, "--parts", parts, "--objective", objective, "--json")[0]["volume"]
                       for objective in ("volume", "cut"))
        rows.append(row(f"{parts} parts, volume", volume, "rows", cut, f"cut: {cut} rows"))
    return rows


def build_time(*_):
    """`make build` without a compiler cache."""
    done = subprocess.run([ROOT / "tests/bench/build_time"], capture_output=True, text=True)
    told = re.search(r"build of atoll: (\d+) s on \d+ jobs \(limit (\d+) s", done.stdout)
    if not told:
        raise Failed(f"no build: {done.stdout[-300:]}{done.stderr[-300:]}")
    return [row("build of atoll, nothing cached", float(told[1]), "s", float(told[2]), "of the 5 minutes of `make demo`")]


def wide_set(atoll):
    """Made once."""
    place = atoll.data / "wide_sparse"
    if not place.exists():
        raw = atoll.data / "wide_sparse.raw"
        shutil.rmtree(raw, ignore_errors=True)
        sparse_set.write(raw)
        atoll.lines("dataset", "import", "--format", "npy", "--symmetrise", raw, place)
        shutil.rmtree(raw)


def sparse_batches(name, make, share, rounds=3, epochs=6):
    """Mini-batches of sparse features beside full batches, in turn: sage 2 x 64, 10 and 10 neighbours, 4 ranks."""
    def cell(atoll, _):
        make(atoll)
        fields = [f"dataset.name={name}", "model={kind: sage, layers: 2, hidden: 64}", f"training.epochs={epochs}", f"training.evaluateEvery={epochs}"]
        batches = ["strategy.kind=minibatch", "strategy.minibatch.fanout=[10, 10]"]
        turns = []
        for _ in range(rounds):
            full = atoll.train("arxiv-gcn.yaml", "--ranks", 4, *settings(fields))
            drawn = atoll.train("arxiv-gcn.yaml", "--ranks", 4, *settings(fields + batches))
            turns.append((median(full["epochSeconds"][1:]), median(drawn["epochSeconds"][1:])))
        run = json.loads((atoll.data / "run/run.json").read_text())
        sent = sum(each["bytes"] for each in run["trainingTraffic"] if each["purpose"] == "features") / epochs
        last = json.loads((atoll.data / "run/metrics.jsonl").read_text().splitlines()[-1])
        dense = 4 * last["batches"]["fetchedRows"] * (8 + 4 * run["setting"]["features"])
        ratios = [drawn / full for full, drawn in turns]
        return [row("an epoch of mini-batches / of graph", median(ratios), "×", 8, f"{min(ratios):.1f} … {max(ratios):.1f} in {rounds} rounds"),
                row("graph", median(full for full, _ in turns) * 1e3, "ms"), row("mini-batches", median(drawn for _, drawn in turns) * 1e3, "ms"),
                row("features sent / as dense rows", sent / dense, "×", share, "of as many rows as rank 0 fetches, on each rank"),
                row("memory of a rank", max(run["peakMemoryBytes"]) / 2**20, "MiB")]
    return cell


def large_graph(atoll, _):
    """2M vertices, 100M arcs, 64 features, 2 layers of 64."""
    fields = settings([COMMUNITY.format(2_000_000), "model.options={aggregator: mean}", "training.epochs=3"])
    result = atoll.train("synthetic-reddit.yaml", "--ranks", 1, *fields)
    return [row("peak memory", sum(result["peakMemoryBytes"]) / 1e9, "GB", 20),
            row("epoch", median(result["epochSeconds"]), "s"), row("start", result["startupSeconds"], "s")]


CELLS = {
    "machine": machine,
    "kernels on ogbn_arxiv": ops,
    "epoch of gcn on ogbn_arxiv": epoch("arxiv-gcn.yaml"),
    "epoch of sage on ogbn_arxiv": epoch("arxiv-sage.yaml"),
    "epoch of gat on ogbn_arxiv": epoch("arxiv-gcn.yaml", "model={kind: gat, layers: 2, hidden: 32, options: {heads: 4}}"),
    "bfloat16 of gcn on ogbn_arxiv": precisions("arxiv-gcn.yaml"),
    "bfloat16 of sage on ogbn_arxiv": precisions("arxiv-sage.yaml"),
    "ranks and threads": two_ranks,
    "arcs: 30M": arcs(600_000),
    "arcs: 1M": arcs(20_000, "arcs: 30M"),
    "arcs: 10M": arcs(200_000, "arcs: 30M"),
    "arcs: 100M": arcs(2_000_000, "arcs: 30M"),
    "generation": generation,
    "partition objectives": objectives,
    "build": build_time,
    "start": startup,
    "predicted memory": predicted_memory,
    "batches of coauthor_cs": sparse_batches("coauthor_cs", lambda atoll: atoll.dataset("coauthor_cs"), 1 / 30),
    "batches of 34,493 x 8,415 features": sparse_batches("wide_sparse", wide_set, 1 / 100),
    "2M vertices, 100M arcs": large_graph,
}
