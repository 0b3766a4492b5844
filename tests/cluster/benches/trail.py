"""What the API server's audit log tells of a run: who asked for what, and when. It is the same clock for every contestant, and
following it asks nothing of the API server."""
import collections
import datetime
import json

from control_plane import CP

KWOK = "kwok"


class Trail:
    """Of all that comes after it was made."""

    def __init__(self, space):
        self.space = space
        self.requests = collections.Counter()  # by (who, verb, resource/subresource, code)
        self.first, self.last = {}, {}         # likewise without the code, in `space`: when it succeeded
        self.runs = {}                         # pod: when kwok first told how it is
        self.told = None                       # when every job was seen to say that it runs
        self._file = open(CP.folder / "log/audit.log", encoding="utf-8")
        self._file.seek(0, 2)
        self._rest = ""

    def follow(self):
        lines = (self._rest + self._file.read()).split("\n")
        self._rest = lines.pop()
        for line in lines:
            self._take(json.loads(line))

    def _take(self, event):
        if event["stage"] != "ResponseComplete" or "objectRef" not in event:
            return
        thing, who = event["objectRef"], event.get("userAgent", "").split("/")[0]
        code = event["responseStatus"]["code"]
        what = "/".join(filter(None, (thing["resource"], thing.get("subresource"))))
        self.requests[who, event["verb"], what, code] += 1
        if thing.get("namespace") != self.space or code >= 400:
            return
        when = datetime.datetime.fromisoformat(event["stageTimestamp"]).timestamp()
        key = self._key(who, event["verb"], what, thing.get("name", ""))
        self.first.setdefault(key, when)
        self.last[key] = when
        if who == KWOK and what == "pods/status":
            self.runs.setdefault(thing["name"], when)

    @staticmethod
    def _key(who, verb, what, name):
        """Pods apart by what they are for, which their names say."""
        if what != "pods":
            return who, verb, what
        return who, verb, "launchers" if "-launcher" in name else "pods"

    def running(self):
        """(workers, launchers) that run."""
        launchers = sum("-launcher" in name for name in self.runs)
        return len(self.runs) - launchers - sum(name.endswith("-prepare") for name in self.runs), launchers

    def all_run(self, are_launchers):
        """When the last of them ran."""
        return max((when for name, when in self.runs.items() if ("-launcher" in name) == are_launchers), default=None)

    def count(self, who, codes=range(600)):
        return sum(times for (each, _, _, code), times in self.requests.items() if each == who and code in codes)

    def by_kind(self, who):
        """{"create pods": 4000, …}"""
        kinds = collections.Counter()
        for (each, verb, what, _), times in self.requests.items():
            if each == who:
                kinds[f"{verb} {what}"] += times
        return dict(kinds.most_common())
