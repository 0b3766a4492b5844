"""A job on a cluster trains what `atoll run` trains here, on the nodes that were planned, and says what it sent."""
import json
import pathlib
import re
import tempfile

import stage
from jobs import CORA, LONG as MINUTE, GnnJob, nothing_remains, ours


def expected_losses(job, ranks, *changes):
    """Of `atoll run` on this machine: the same manifest, data, ranks and threads; `changes`: words of --set."""
    with tempfile.TemporaryDirectory(prefix="atoll-cluster.") as folder:
        spec = {key: value for key, value in job.spec.items() if key != "resources"}
        spec["dataset"] = {key: value for key, value in spec["dataset"].items() if key != "volume"}
        spec["output"] = {"path": "here"}
        manifest = {**job.manifest(), "spec": spec}
        file = pathlib.Path(folder) / "job.yaml"
        file.write_text(json.dumps(manifest))
        settings = [word for change in changes for word in ("--set", change)]
        told = stage.atoll("run", "-f", file, "--json", "--threads", "1", "--ranks", ranks, "--data-root",
                           stage.SHARED / "datasets", *settings, cwd=folder)
        events = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        return [event["loss"] for event in events if event["event"] == "epoch"]


def same_losses_as_on_one_machine():
    job = GnnJob("cora-four", CORA, {"resources.cpu": "900m"}).apply().until("Succeeded", 120)
    assert job.losses() == expected_losses(job, 4), f"{job.losses()[:3]} … {job.losses()[-3:]}"
    planned = [server["node"] for server in job.status()["placement"]["servers"]]
    assert len(set(planned)) == 2, f"two ranks of 0.9 cores on each of two nodes, not {planned}"
    assert job.status()["result"]["testMetric"] > 0.75, job.status()["result"]
    job.delete()
    nothing_remains(job)


def bytes_as_the_ledger_says():
    """The network's own counters, of whole packets, against what the ranks say that they sent."""
    job = GnnJob("counted", MINUTE, {"resources.cpu": "900m", "training.epochs": 60, "runPolicy.cleanPodPolicy": "None"})
    job.apply().until("Succeeded", 180)
    pods = job.pods("worker")
    planned = [server["node"] for server in job.status()["placement"]["servers"]]
    assert {each["metadata"]["labels"]["atoll.dev/server"]: each["spec"]["nodeName"] for each in pods} == dict(
        zip(map(str, range(len(planned))), planned)), "each server on the node that was planned"
    sent = sum(int(ours("exec", each["metadata"]["name"], "--", "cat", "/sys/class/net/eth0/statistics/tx_bytes"))
               for each in pods)
    told = between_servers(json.loads((job.output() / "run.json").read_text())["bytesByPair"],
                           [server["ranks"] for server in job.status()["placement"]["servers"]])
    print(f"       {told / 1e6:.0f} MB by the ledger, {sent / 1e6:.0f} MB by the interfaces", flush=True)
    assert 1 <= sent / told <= 1.05, f"{sent} bytes went through the interfaces, {told} by the ledger"
    job.delete()
    nothing_remains(job)


def between_servers(by_pair, servers):
    """Of the whole run; `by_pair`: from each rank to each, a row after the other."""
    server_of = {rank: number for number, ranks in enumerate(servers) for rank in ranks}
    count = len(server_of)
    return sum(by_pair[sender * count + receiver] for sender in range(count) for receiver in range(count)
               if server_of[sender] != server_of[receiver])


# Links so slow that of the exact strategies the one with copies of all that a server needs is the best.
CHOSEN = {"resources.cpu": "900m", "strategy": {"kind": "auto", "link": "100kbit"}, "runPolicy.cleanPodPolicy": "None"}


def chosen_for(job):
    """What the prepare pod chose, as the condition Placed names it, with the reason."""
    message = job.condition("Placed")["message"]
    chosen = re.search(r"; strategy auto is (\{kind: granndis.*\}): an epoch is predicted to take ", message)
    assert chosen, f"the strategy that sends least between servers, and why, not: {message}"
    return chosen[1]


def told_to_ranks(job, attempt):
    made = json.loads(ours("get", "configmap", f"{job.name}-attempt-{attempt}", "--output", "json"))
    return json.loads(made["data"]["attempt.json"])["strategy"]


def trains_under_the_strategy_that_was_chosen():
    job = GnnJob("chosen", CORA, CHOSEN).apply().until("Succeeded", 150)
    strategy = chosen_for(job)
    assert told_to_ranks(job, 1) == strategy, "what the launcher was given"
    assert "kind: granndis" in (job.output() / "job.yaml").read_text(), "the run's own manifest"
    assert job.losses() == expected_losses(job, 4, f"strategy={strategy}"), "the losses of a run under it on one machine"
    job.delete()
    nothing_remains(job)


def keeps_what_was_chosen_when_a_rank_is_killed():
    job = GnnJob("chosen-once", CORA, CHOSEN | {"training.epochs": 4000}).apply().until("Running", 120)
    job.until_epoch(100)
    strategy = chosen_for(job)
    assert told_to_ranks(job, 1) == strategy, "what the launcher was given"
    job.signal_ranks(1, "KILL", 3)
    job.wait("to tell of the restart", 60, lambda: job.status().get("restarts"))
    job.until("Succeeded", 180)
    assert told_to_ranks(job, 2) == strategy, "what the next one was given"
    assert job.losses() == expected_losses(job, 4, f"strategy={strategy}"), "the losses of a job that lost nothing"
    job.delete()
    nothing_remains(job)


SHORT = [same_losses_as_on_one_machine, bytes_as_the_ledger_says, trains_under_the_strategy_that_was_chosen]
LONG = [keeps_what_was_chosen_when_a_rank_is_killed]
