"""Pages of docs/benchmarks from the stored cells of tests/bench/simulated."""
import simulated_cells
from simulated_cells import BASELINE, PRELOADING, SAMPLING

COMMON = """
Made by `make simulated` from simulated.json; don't edit. All ranks were recorded on this machine, one at a time, and replayed in virtual time
over the named topology (docs/simulate.md; manifests/topologies has the files and their sources). Generated graphs have the named graph's
shape at a smaller scale (tests/bench/simulated_cells.py).
"""


def told():
    return ", ".join(f"{name} {100 * share:.1f} %" for name, share in simulated_cells.EXTERNAL.items())


HEADS = {
    "gnnpipe": "# GNNPipe's pipelines in virtual time\n" + COMMON + """
Links are made faster or slower, all alike, until `graph:overlap=false:haloRows=inputs` communicates for the paper's share of its epoch (Tables 3 and 5).
The model has 32 layers × 100 (squirrel: × 1000). `stages=4`, on 8 ranks, is the paper's hybrid.

- Goals: at least the paper's speed-up; at least 0.9 of what the ranks' computing and their order allow (free links / epoch); computing of
  all ranks at most 1.15 × the baseline's.
- bubbles: the time that ranks are idle where links are free. communication: what an epoch is longer than with free links. volume: the baseline's
  bytes over the strategy's.
- The goals of squirrel's GCN and GraphSAGE can't be met: without any communication the baseline would be 2.49 and 1.84 times as fast, and of
  that 32 chunks in 8 stages leave 82 %, if they compute as fast as the whole: 2.05 and 1.51, where the paper has 2.38 and 1.80. Its
  baseline lost more than communication to its eight parts.
- The paper's baseline, missed three times of three: Tables 4 and 5 have 25.7 ms for each GB of squirrel, 27.0 of Flickr and 43.7 of Reddit, so that one
  rate can't meet all. The topology's is squirrel's, which is therefore no check of the rate: what is off there are the bytes, 34 % more than the paper's.
  METIS puts the generated graphs' neighbouring parts on one server: 25 % of generated Reddit's bytes go between servers, and 54 % of squirrel's, a factor
  of 2.2 of the 5.8 that are missing. Eight parts in turn on two servers, by METIS' objective cut (by volume it takes over ten minutes), miss by
  42 % instead of 83. The rest needs Reddit itself, whose parts differ more in size.
""",
    "granndis": "# GraNNDis in virtual time\n" + COMMON + f"""
Three layers are GraphSAGE, more are ResGCN+, 64 wide. Each cell was replayed with cards that compute 1, 2, 4, … 32 times as
fast as a core here. Shown is the speed at which external communication takes nearest to a given part of an
epoch: {told()}. The paper tells the first two, for 56 layers; Reddit's is assumed, from its speed-ups. `{PRELOADING}` is shared preloading, `{SAMPLING}` expansion-aware sampling, 1 hop and 15 copies.

- by equations: the paper's model (its Equations 3 and 4) with computing and bytes as they were measured here.
- external: the part of the baseline's epoch that goes when links between servers take no time.
- Goal of expansion-aware sampling: the paper's speed-up (Table 4), or 0.9 of what removing the external part can give, whichever is less.
- Random parts: the paper's Figure 14. The more vertices depend on other servers, the more there is to gain, and generated products' depend most.
- The artifact's settings: 3 convolutions and a linear layer, inductive; cards 64 times as fast as a core here, as an A6000's memory about is. With such
  cards 87 % of the baseline and more is communication, so that ratios are those of bytes and sums: that is why ogbn_arxiv gains more than in the artifact,
  whose times include what DGL takes for each layer. It isn't the partitioner: with parts by ids, as the artifact cuts them, ogbn_arxiv's ratios are farther from it.
- Over other systems: the paper has 1.68 to 10.74 × over CAGNET, BNS and Sancus, on Products and Reddit with 256 columns; told where they were simulated together.
- Preloading everything gains nothing at 56 layers here, where the paper has 1.65 ×: each of 4 servers computes nearly all of ogbn_arxiv, 3.9 times the baseline's
  work, and a core here is busy with it. Whether the paper's cards were, or waited for kernels to be launched, it doesn't tell.
- Batches of a server and of a rank: `minibatch` draws 20 neighbours in each layer, for steps over as many vertices as `granndis` has in 4 batches. Makers of
  batches have 8 threads. "With batches at hand" leaves out the time in which the next batch wasn't made. What remains between the two is
  what `minibatch` computes twice, because each rank draws for itself, and what it fetches. The paper's 14 to 136 is, by its text to
  Figure 9, mainly time in which DistDGL's sampler was behind.
""",
    "p3": "# P3 in virtual time\n" + COMMON + f"""
Two layers of 32 (gat: 8 heads of 8), 25 neighbours of a batch's vertices and 10 of each of those, batches of 1,000, features by columns over servers; parts by
hash unless told. Cards compute {simulated_cells.P100} times as fast as a
core here; that is a guess of what a P100 does, and with it of how much of an epoch is communication. The paper's ratios (Table 4, of the same graph) are over DGL 0.5, whose time includes
its calls between processes; `minibatch` here makes its batches ahead of time and asks for each row once, and `p3` sends its summands to the byte.

- by bytes: the first strategy's bytes between servers over another's, which is what links alone would allow.
- with batches at hand: an epoch without the time in which the next batch wasn't made.
- GAT's scores are made whole for every row that batches read, not for the rows that have products alone: 4(P − 1)·heads values for a row, there and back, where its features are (P − 1)/P·columns. With 8
  heads on 4 servers that is more than features by rows send up to 128 columns, and P3 can't win by bytes without copies. The paper's own times leave such sums out.
- With parts by METIS, generated graphs' neighbours are mostly on one server, and features by rows win. Of real graphs it depends on how wide features are.
- The columns of amazon_computers, musae_facebook and fb_nyu are 0 or 1. Batches send a bit for each, or the places of the ones, and P3's summands are float32: with 767
  columns (amazon_computers) P3 sends more than batches and loses, with some 5,000 it is 1.4 to 2.4 × as fast.
- On 8 servers products' shape gains next to nothing: summands grow with the number of servers, features by rows hardly do.
- Where the two meet: with more columns in the hidden layer, summands outgrow features. `atoll plan` predicts the width where both send the same; the cells of 64 to 96
  columns lie around it. With fewer features it is the other way round.
- More layers: a step reads more rows of the first layer, nearly the whole graph here, and each has its summands; rows of the graph that a batch reads
  twice are sent once. So P3 gains less with 3 and 4 layers, where the paper's gains grow.
- The pipeline (delay=3): where computing is 16 × as fast as here, links are busy nearly all the time with and without it. The more there is to compute
  while links are busy, the more it hides: see the cells of pipelining, where the structure is mapped, so that batches don't wait for it. The paper has 30 to 50 %.
- Copies: with all columns on every server (copies=4) nothing of the first layer is sent; what is left is structure, which structure=mapped reads from files.
""",
    "dgs": "# DGS: fewer rows and columns of others\n" + COMMON + f"""
GraphSAGE, 2 × 16, 64 neighbours in each layer, batches of 1,024 for each worker (of scaled graphs as much less), workers of 20 cores and 10 Gbit/s, parts by METIS
unless told (Wan et al. 2022, section V-A). Cards compute {simulated_cells.P100} times as fast as a core here; that is a guess. Epochs are judged in which masks apply.

- by bytes: the first strategy's bytes between servers over another's, which is what links alone would allow.
- with batches at hand: an epoch without the time in which the next batch wasn't made. The rest is links: epochs are what fetching takes.
- `minibatch` draws at random, `featureRate=0.85` is +RF; DGS with `featureRate=1` chooses vertices alone, with `vertices=random` features alone.
- The paper's goals: 24 to 28 % fewer bytes, 1.07 to 1.25 × FastGCN's speed, 1.44 × with random parts. Its FastGCN draws each vertex' neighbours, as many as random
  does, by a weight for each; that sends what `minibatch` sends. The engine's `fastgcn` is that of its own paper, with layers of a fixed size, and no rival of equal size:
  with the 512 vertices a layer of LADIES' paper an epoch of `fastgcn` or `ladies` reads and computes a tenth, and `cluster` reads few rows of others. What that does to accuracy is in samplers-accuracy.md.
- What is found: where vertices have more neighbours than are drawn (Reddit's, products' and Yelp's shapes), 49, 40 and 35 % fewer bytes, and 1.52, 1.25 and 1.40 × the speed.
  On ogbn_arxiv few have 64 neighbours, nothing is left to choose, and what remains are the columns: 13 to 18 %, 1.08 to 1.12 ×, with random parts as well.
""",
    "pipegcn": "# PipeGCN on more servers than the rig has cores for\n" + COMMON + """
GraphSAGE, 3 × 128. Links are made faster or slower until `graph:overlap=false:haloRows=inputs` communicates for the named share of its epoch. Goals of
`pipegcn` without smoothing: 1.8, 1.4 and 1.13 times as fast at 50, 65 and 80 %.

- At 50 % `pipegcn` waits for next to nothing, and an epoch is what its ranks compute. Stale rows are dropped out by whoever reads
  them, with the draw of the epoch that reads them: otherwise a gradient would go back through another epoch's draw (the paper's appendix F).
  Own rows are dropped out in the step that makes them, as under `graph`; of those that other ranks read a copy is kept as they were before.
- What that is worth, at 50 % with dropout: two runs each in turn on 2026-11-29 gave 1.82 and 1.78 before and 1.83 and 1.84 with it on 4 servers, 1.72 and
  1.71 before and 1.74 and 1.81 with it on 8. What is left to the cells without dropout is the dropping of stale rows and of their gradients. The machine
  of 2026-11-26 gave 1.58 and 1.47 before: how much of an epoch dropout takes depends on the machine.
""",
}
FILES = {"gnnpipe": "gnnpipe.md", "granndis": "granndis.md", "pipegcn": "pipegcn-virtual.md", "p3": "p3.md", "dgs": "dgs.md"}
PIPEGCN_GOALS = {0.5: 1.8, 0.65: 1.4, 0.8: 1.13}


def write(stored, folder):
    for page, head in HEADS.items():
        sections = [section(cell, stored.get(f"{page}: {cell.name}")) for cell in simulated_cells.cells()
                    if cell.page == page and stored.get(f"{page}: {cell.name}")]
        if sections:
            (folder / FILES[page]).write_text(head + "\n" + "\n".join(sections))


def section(cell, result):
    spread = max(each["spreadBetweenEpochs"] for each in result["recordings"])
    lines = [f"## {cell.name}", "", f"{result['machine']}, {result['date']}, {result['seconds']:.0f} s; costs differ by {100 * spread:.0f} % "
             "between epochs", ""]
    lines += comparison(cell, result) if cell.compared else {"gnnpipe": gnnpipe, "granndis": granndis, "pipegcn": pipegcn}[cell.page](
        cell, result)
    return "\n".join(lines) + "\n"


def table(columns, rows):
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns), *("| " + " | ".join(row) + " |" for row in rows), ""]


def seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def bytes_of(row):
    return row["bytesWithinServers"] + row["bytesBetweenServers"]


def verdict(value, goal):
    return f"{value:.2f} ≥ {goal:.2f}: met" if value >= goal else f"{value:.2f} < {goal:.2f}: missed"


def own_cluster(cell, result):
    """What the paper measured of its baseline, over its links as the topology has them."""
    row, times = result["simulations"][0]["strategies"][0], cell.paper["exchanges"]
    time, size = times * (row["epochSeconds"] - row["freeLinksSeconds"]), times * bytes_of(row)
    of_paper = cell.paper["seconds"], cell.paper["bytes"]

    def off(value, goal):
        return f"{100 * (value / goal - 1):+.0f} %"

    def judged(value, goal):
        return f"{off(value, goal)} (goal: 20): {'met' if abs(value / goal - 1) <= 0.2 else 'missed'}"

    return [f"8 of 32 layers, over the file's own rates, computing 60 × as fast as here; {100 * row['bytesBetweenServers'] / bytes_of(row):.0f} % of the "
            "bytes between servers.\n", *table(["", "simulated", "the paper's", "difference"], [
                ["communication", seconds(time), seconds(of_paper[0]), judged(time, of_paper[0])],
                ["bytes", f"{size / 1e9:.2f} GB", f"{of_paper[1] / 1e9:.2f} GB", off(size, of_paper[1])],
                ["of a GB", seconds(1e9 * time / size), seconds(1e9 * of_paper[0] / of_paper[1]), off(time / size, of_paper[0] / of_paper[1])]])]


def gnnpipe(cell, result):
    if "exchanges" in cell.paper:
        return own_cluster(cell, result)
    lines = []
    for one in result["simulations"]:
        first, ranks = one["strategies"][0], result["recordings"][0]["ranks"]
        rows = []
        for row in one["strategies"]:
            free, epoch = row["freeLinksSeconds"], row["epochSeconds"]
            is_first = row["strategy"] == BASELINE
            rows.append([row["strategy"], seconds(epoch), f"{row['speedUp']:.2f}",
                         verdict(row["speedUp"], cell.paper[row["strategy"]]) if row["strategy"] in cell.paper else "",
                         "" if is_first else verdict(free / epoch, 0.9),
                         f"{row['computeSecondsOfAllRanks'] / first['computeSecondsOfAllRanks']:.2f}",
                         f"{100 * (1 - row['computeSecondsOfAllRanks'] / ranks / free):.0f} %", f"{100 * (1 - free / epoch):.1f} %",
                         f"{bytes_of(row) / 1e9:.3f} GB", f"{bytes_of(first) / bytes_of(row):.1f} ×"])
        lines.append(f"{one['topology']}: communication {100 * one['shareReached']:.1f} % of the baseline's epoch (the paper's: {100 * one['shareAsked']:.1f} %); "
                     f"links between servers of {one['serverBitsPerSecond'] / 1e9:.3g} Gbit/s.\n")
        lines += table(["strategy", "epoch", "speed-up", "the paper's", "of what its order allows", "computing", "bubbles", "communication",
                        "bytes", "volume"], rows)
    return lines


def external_part(by_name, name, speed, free):
    """Of the baseline's epoch: what goes where links between servers take no time, as in the topology `free`."""
    free, bound = (by_name[each]["strategies"][0]["epochSeconds"] for each in (f"{free}@x{speed}@free", f"{name}@x{speed}"))
    return 1 - free / bound


def by_equations(row, first, external):
    """The paper's Equations 3 and 4 with what was measured in place of its estimates: computing grows as it did here, traffic inside servers as
    its bytes, and external traffic goes."""
    inside = max(0, first["communicationShare"] - external)
    computing = 1 - first["communicationShare"]
    return 1 / (computing * row["computeSecondsOfAllRanks"] / first["computeSecondsOfAllRanks"]
                + inside * row["bytesWithinServers"] / max(1, first["bytesWithinServers"]))


def crossover(by_name, name):
    """The slowest cards with which preloading gains; None: none of those that were tried."""
    for speed in simulated_cells.SPEEDS:
        rows = {row["strategy"]: row for row in by_name[f"{name}@x{speed}"]["strategies"]}
        if rows[PRELOADING]["speedUp"] > 1:
            return speed
    return None


def papers_speed(cell, by_name, name):
    """Of the speeds of computing that were simulated: with which the external part of an epoch is nearest to the paper's."""
    wanted = simulated_cells.EXTERNAL[cell.dataset]
    return min(simulated_cells.SPEEDS, key=lambda each: abs(external_part(by_name, name, each, name) - wanted))


def granndis(cell, result):
    by_name = {one["topology"]: one for one in result["simulations"]}
    first_name, *others = dict.fromkeys(name.split("@")[0] for name in cell.topologies)
    speed = papers_speed(cell, by_name, first_name)
    external = external_part(by_name, first_name, speed, first_name)
    lines = []
    for name in (first_name, *others):
        one = by_name[f"{name}@x{speed}"]
        first, rows = one["strategies"][0], []
        for row in one["strategies"]:
            of_paper = cell.paper.get(name, {}).get(row["strategy"])
            own = row["strategy"] in (PRELOADING, SAMPLING)
            outside = external_part(by_name, name, speed, first_name)
            equations = f"{by_equations(row, first, outside):.2f}" if own else ""
            rows.append([row["strategy"], seconds(row["epochSeconds"]), f"{row['speedUp']:.2f}", equations, f"{of_paper:.2f}" if of_paper else "",
                         verdict(row["speedUp"], of_paper if row["strategy"] == PRELOADING else min(of_paper, 0.9 / (1 - external))) if of_paper else "",
                         f"{row['computeSecondsOfAllRanks'] / first['computeSecondsOfAllRanks']:.2f}", f"{100 * row['communicationShare']:.1f} %",
                         f"{row['bytesBetweenServers'] / 1e6:.1f} MB", f"{row['bytesWithinServers'] / 1e6:.1f} MB"])
        lines.append(f"{name}, computing {speed} × as fast as here: communication {100 * first['communicationShare']:.1f} % of the baseline's epoch"
                     + (f", external {100 * external:.1f} %.\n" if name == first_name else ".\n"))
        gains = crossover(by_name, name)
        lines.append(f"`{PRELOADING}` is faster than the baseline "
                     + (f"from cards {gains} × as fast as a core here on.\n" if gains else f"with no card tried (up to {simulated_cells.SPEEDS[-1]} ×).\n"))
        lines += table(["strategy", "epoch", "speed-up", "by equations", "the paper's", "goal", "computing", "communication", "between servers", "inside"], rows)
        lines += over_others(one["strategies"])
    return lines


def over_others(simulated):
    """Sampling's speed over other systems that were simulated with it."""
    seconds_of = {row["strategy"]: row["epochSeconds"] for row in simulated}
    least, most = simulated_cells.OTHERS_PAPER
    told = [f"{name} {verdict(seconds_of[name] / seconds_of[SAMPLING], least)}" for name in ("bns", "cagnet", "sancus") if name in seconds_of]
    return [f"`{SAMPLING}` over other systems, where the paper has {least} to {most} ×: {'; '.join(told)}.\n"] if told else []


def comparison(cell, result):
    [one] = result["simulations"]
    first, rows = one["strategies"][0], []
    for row in one["strategies"]:
        of_paper = cell.paper.get(row["strategy"])
        rows.append([row["strategy"], seconds(row["epochSeconds"]), f"{row['speedUp']:.2f}", f"{of_paper:.2f}" if of_paper else "",
                     f"{first['bytesBetweenServers'] / row['bytesBetweenServers']:.2f}",
                     f"{row['computeSecondsOfAllRanks'] / first['computeSecondsOfAllRanks']:.2f}", f"{100 * row['communicationShare']:.1f} %",
                     seconds(row["epochSeconds"] - row.get("withoutBatchSeconds", 0)), f"{row['bytesBetweenServers'] / 1e6:.1f} MB",
                     f"{row['bytesWithinServers'] / 1e6:.1f} MB"])
    name, *marks = one["topology"].split("@")
    [speed] = (mark[1:] for mark in marks if mark.startswith("x"))
    return [f"{name}, computing {speed} × as fast as here.\n",
            *table(["strategy", "epoch", "speed-up", "the paper's", "by bytes", "computing", "communication", "with batches at hand", "between servers", "inside"], rows)]


def pipegcn(cell, result):
    rows = []
    for one in result["simulations"]:
        for row in one["strategies"]:
            goal = verdict(row["speedUp"], PIPEGCN_GOALS[one["shareAsked"]]) if row["strategy"].startswith("pipegcn") else ""
            rows.append([f"{100 * one['shareReached']:.1f} %", row["strategy"], seconds(row["epochSeconds"]), f"{row['speedUp']:.2f}", goal,
                         f"{one['serverBitsPerSecond'] / 1e9:.3g} Gbit/s"])
    return table(["share", "strategy", "epoch", "speed-up", "goal", "links"], rows)
