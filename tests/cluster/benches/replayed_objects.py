"""The objects of a cluster that is told again: each with its version, and the changes that watches are told of."""
import asyncio
import bisect
import collections
import dataclasses
import json

TAKES_ROOM = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"


@dataclasses.dataclass(frozen=True)
class Entry:
    """An object at one version."""
    text: str
    labels: dict
    owner: str  # its owner's UID
    takes_room: bool


def entry(thing):
    metadata, spec, status = thing["metadata"], thing.get("spec") or {}, thing.get("status") or {}
    takes_room = bool(spec.get("nodeName")) and status.get("phase") not in ("Succeeded", "Failed")
    return Entry(json.dumps(thing, separators=(",", ":")), metadata.get("labels") or {}, owner_of(thing), takes_room)


def owner_of(thing):
    return next((owner["uid"] for owner in thing["metadata"].get("ownerReferences") or []), "")


def name_of(thing):
    metadata = thing["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


@dataclasses.dataclass(frozen=True)
class Selection:
    """What a list or a watch shows: terms "label" or "label=value", and no field but those of pods that take room."""
    labels: str = ""
    fields: str = ""

    def __post_init__(self):
        if self.fields not in ("", TAKES_ROOM):
            raise ValueError(f"nobody selects by {self.fields} here")

    def shows(self, each):
        if each is None or (self.fields and not each.takes_room):
            return False
        terms = (term.partition("=") for term in self.labels.split(",") if term)
        return all(name in each.labels and (not equals or each.labels[name] == value) for name, equals, value in terms)

    def event(self, before, after):
        """What a watch is told, if anything, of a change between two entries; None: there is no object."""
        was, is_now = self.shows(before), self.shows(after)
        if not was and not is_now:
            return None
        return "DELETED" if not is_now else "MODIFIED" if was else "ADDED"


class Objects:
    def __init__(self):
        self.version = 0
        self.kinds = collections.defaultdict(dict)     # kind: {"namespace/name": Entry}
        self._changes = collections.defaultdict(list)  # kind: [(version, before, after, text)]
        self._news = {}                                # kind: an Event, set at the next change

    def get(self, kind, name):
        """A copy of its own for whoever asks; None where there is none."""
        found = self.kinds[kind].get(name)
        return found and json.loads(found.text)

    def put(self, kind, thing):
        """The object's text at its new version."""
        self.version += 1
        thing["metadata"]["resourceVersion"] = str(self.version)
        before, after = self.kinds[kind].get(name_of(thing)), entry(thing)
        self.kinds[kind][name_of(thing)] = after
        self._tell(kind, before, after, after.text)
        return after.text

    def remove(self, kind, name):
        """What it was, and what it owns, too; "" where there was none."""
        before = self.kinds[kind].pop(name, None)
        if before is None:
            return ""
        self.version += 1
        thing = json.loads(before.text)
        thing["metadata"]["resourceVersion"] = str(self.version)
        self._tell(kind, before, None, entry(thing).text)
        uid = thing["metadata"].get("uid")
        for each, held in list(self.kinds.items()):
            for other in [name for name, one in held.items() if uid and one.owner == uid]:
                self.remove(each, other)
        return before.text

    def _tell(self, kind, before, after, text):
        self._changes[kind].append((self.version, before, after, text))
        if kind in self._news:
            self._news.pop(kind).set()

    async def changes(self, kind, selection, version, seconds):
        """What a watch is told from `version` on, as it happens, for so long: lines, as many as there are at a time."""
        known, deadline = self._changes[kind], asyncio.get_running_loop().time() + seconds
        at = bisect.bisect_right(known, version, key=lambda change: change[0])
        while True:
            told = [(selection.event(before, after), text) for _, before, after, text in known[at:]]
            at = len(known)
            if lines := [f'{{"type":"{what}","object":{text}}}\n' for what, text in told if what]:
                yield "".join(lines)
            if at < len(known):
                continue  # more has come while these were sent
            news = self._news.setdefault(kind, asyncio.Event())
            try:
                await asyncio.wait_for(news.wait(), max(deadline - asyncio.get_running_loop().time(), 0))
            except TimeoutError:
                return


def patched(thing, steps):
    """By a JSON patch. Raises KeyError, IndexError or ValueError where it doesn't fit."""
    for step in steps:
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:])
        place = thing
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place[part]
        if isinstance(place, list):
            last = len(place) if last == "-" else int(last)
        if step["op"] == "test" and place[last] != step["value"]:
            raise ValueError(f"{step['path']} is another")
        if step["op"] == "remove":
            del place[last]
        elif step["op"] == "add" and isinstance(place, list):
            place.insert(last, step["value"])
        elif step["op"] in ("add", "replace"):
            place[last] = step["value"]
    return thing
