"""NetworkPolicies turned into packet-filter rules of the nodes, as a network plugin does: the bed's own enforces none. Of ingress alone,
with selectors by labels, for as long as it is asked to."""
import json
import threading

import layout
from control_plane import kubectl

TABLE = "network_policies"
EVERY = 0.3  # seconds: pods come, and have an address only then


class Enforced:
    """Policies of a namespace, from __enter__ to __exit__."""

    def __init__(self, space):
        self.space = space

    def __enter__(self):
        self.rules, self.problem, self.ended = None, None, threading.Event()
        self._apply()
        self.follower = threading.Thread(target=self._follow)
        self.follower.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.follower.join(timeout=30)
        self._load(f"table inet {TABLE}\ndelete table inet {TABLE}\n")
        if self.problem:
            raise self.problem

    def _follow(self):
        while not self.ended.wait(EVERY):
            try:
                self._apply()
            except Exception as error:  # told when the test ends
                self.problem = error

    def _apply(self):
        pods = items("pods", "--all-namespaces")
        policies = items("networkpolicies.networking.k8s.io", "--namespace", self.space)
        rules = script(policies, pods, labels_of_spaces(), self.space)
        if rules != self.rules:
            self._load(rules)
            self.rules = rules

    @staticmethod
    def _load(rules):
        for node in layout.saved().all_nodes():
            node.machine.run("nft", "-f", "-", input=rules)


def items(*words):
    return json.loads(kubectl("get", *words, "--output", "json"))["items"]


def labels_of_spaces():
    return {each["metadata"]["name"]: each["metadata"]["labels"] for each in items("namespaces")}


def script(policies, pods, spaces, space):
    """What nft reads: whoever a policy is about gets what one of them allows, and answers."""
    lines = ["ct state established,related accept"]
    guarded = set()
    for policy in policies:
        spec = policy["spec"]
        about = addresses(pods, lambda pod: pod["metadata"]["namespace"] == space and matches(spec["podSelector"], labels(pod)))
        guarded |= about
        for rule in spec.get("ingress", []) if about else []:
            sources = set().union(*(peers(pods, spaces, space, peer) for peer in rule["from"]))
            ports = " tcp dport " + listed({str(port["port"]) for port in rule["ports"]}) if "ports" in rule else ""
            if sources:
                lines.append(f"{ip(sources)} saddr {listed(sources)} {ip(about)} daddr {listed(about)}{ports} accept")
    if guarded:
        lines.append(f"{ip(guarded)} daddr {listed(guarded)} drop")
    body = "\n".join(f"    {line}" for line in ["type filter hook forward priority filter; policy accept;", *lines])
    return f"table inet {TABLE}\ndelete table inet {TABLE}\ntable inet {TABLE} {{\n  chain forward {{\n{body}\n  }}\n}}\n"


def peers(pods, spaces, own, peer):
    """Addresses of those that one entry of `from` lets in."""
    if "namespaceSelector" in peer:
        allowed = {name for name, marks in spaces.items() if matches(peer["namespaceSelector"], marks)}
    else:
        allowed = {own}
    selector = peer.get("podSelector", {})
    return addresses(pods, lambda pod: pod["metadata"]["namespace"] in allowed and matches(selector, labels(pod)))


def matches(selector, marks):
    assert not set(selector) - {"matchLabels"}, f"only matchLabels are understood here, not {selector}"
    return all(marks.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def labels(pod):
    return pod["metadata"].get("labels", {})


def addresses(pods, is_meant):
    return {pod["status"]["podIP"] for pod in pods if pod["status"].get("podIP") and is_meant(pod)
            and pod["status"]["phase"] in ("Pending", "Running")}


def ip(addresses_of_one_family):
    return "ip6" if any(":" in address for address in addresses_of_one_family) else "ip"


def listed(names):
    return "{ " + ", ".join(sorted(names)) + " }"
