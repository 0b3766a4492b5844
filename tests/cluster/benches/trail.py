"""What the API server's audit log tells of a run: who asked for what, and when. It is the same clock for every contestant, and
following it asks nothing of the API server."""
import collections
import datetime
import json

from control_plane import CP

KWOK = "kwok"
WRITES = ("create", "patch", "update", "delete")


class AuditLog:
    """What comes after it was opened."""

    def __init__(self):
        self._file = open(CP.folder / "log/audit.log", encoding="utf-8")
        self._file.seek(0, 2)
        self._rest = ""

    def news(self):
        """Requests about objects that were answered since the last time."""
        lines = (self._rest + self._file.read()).split("\n")
        self._rest = lines.pop()
        events = map(json.loads, lines)
        return [event for event in events if event["stage"] == "ResponseComplete" and "objectRef" in event]


def who(event):
    return event.get("userAgent", "").split("/")[0]


def what(event):
    thing = event["objectRef"]
    return "/".join(filter(None, (thing["resource"], thing.get("subresource"))))


def moment(event, which):
    """When it came (requestReceivedTimestamp), or was answered (stageTimestamp)."""
    return datetime.datetime.fromisoformat(event[which]).timestamp()


class Trail:
    """Of all that comes after it was made."""

    def __init__(self, space):
        self.space = space
        self.requests = collections.Counter()  # by (who, verb, resource/subresource, code)
        self.first, self.last = {}, {}         # likewise without the code, in `space`: when it succeeded
        self.runs = {}                         # pod: when kwok first told how it is
        self.told = None                       # when every job was seen to say that it runs
        self._log = AuditLog()

    def follow(self):
        for event in self._log.news():
            self._take(event)

    def _take(self, event):
        thing, agent, kind = event["objectRef"], who(event), what(event)
        code = event["responseStatus"]["code"]
        self.requests[agent, event["verb"], kind, code] += 1
        if thing.get("namespace") != self.space or code >= 400:
            return
        when = moment(event, "stageTimestamp")
        key = self._key(agent, event["verb"], kind, thing.get("name", ""))
        self.first.setdefault(key, when)
        self.last[key] = when
        if agent == KWOK and kind == "pods/status":
            self.runs.setdefault(thing["name"], when)

    @staticmethod
    def _key(agent, verb, kind, name):
        """Pods apart by what they are for, which their names say."""
        if kind != "pods":
            return agent, verb, kind
        return agent, verb, "launchers" if "-launcher" in name else "pods"

    def running(self):
        """(workers, launchers) that run."""
        launchers = sum("-launcher" in name for name in self.runs)
        return len(self.runs) - launchers - sum(name.endswith("-prepare") for name in self.runs), launchers

    def all_run(self, are_launchers):
        """When the last of them ran."""
        return max((when for name, when in self.runs.items() if ("-launcher" in name) == are_launchers), default=None)

    def count(self, agent, codes=range(600), verbs=None):
        return sum(times for (each, verb, _, code), times in self.requests.items()
                   if each == agent and code in codes and (verbs is None or verb in verbs))

    def by_kind(self, agent):
        """{"create pods": 4000, …}"""
        kinds = collections.Counter()
        for (each, verb, kind, _), times in self.requests.items():
            if each == agent:
                kinds[f"{verb} {kind}"] += times
        return dict(kinds.most_common())
