"""An API server in memory, to which a recorded cluster is told again. Nodes, jobs and others' pods come from the recording. What an
operator makes is kept, and its pods are played: each is bound where it is pinned, else to the nodes in turn, and runs at once; a
prepare pod has done its work at once. Nothing else ends. Whatever the recorded operator did is left out, since this one decides
by itself: its pods, and the statuses that it wrote."""
import asyncio
import collections
import datetime
import itertools
import json
import math
import re
import urllib.parse

import played
from replayed_objects import Objects, Selection, name_of, owner_of, patched

LABEL = "atoll.dev/"
REASONS = {200: "OK", 201: "Created", 404: "NotFound", 409: "Conflict", 422: "Invalid"}


class Refused(Exception):
    def __init__(self, code, reason, message):
        super().__init__(message)
        self.code = code
        self.text = json.dumps({"kind": "Status", "code": code, "reason": reason, "message": message})


class Target:
    """What a request is about."""

    def __init__(self, target):
        path, _, query = target.partition("?")
        words = path.strip("/").split("/")
        words = words[2:] if words[0] == "api" else words[3:]  # without group and version
        self.space = words[1] if words[0] == "namespaces" and len(words) > 2 else ""
        self.kind, self.name, self.sub = ([*(words[2:] if self.space else words), "", ""])[:3]
        self.full = f"{self.space}/{self.name}"
        self.query = dict(urllib.parse.parse_qsl(query))
        self.selection = Selection(self.query.get("labelSelector", ""), self.query.get("fieldSelector", ""))


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class ReplayedApi:
    """`submitted`: UIDs of the recording's jobs that the operator is to see to, because they came while it was made. `rate`: how many
    requests are answered a second, one after the other; infinite: each at once."""

    def __init__(self, submitted=frozenset(), rate=math.inf, longest_watch=3600):
        self.objects, self._submitted, self._rate, self._longest_watch = Objects(), submitted, rate, longest_watch
        self._busy_until = 0.0  # by the loop's clock
        self.requests = collections.Counter()  # by method and kind, watches aside
        self.asked = 0.0                       # when the last of them came, by the loop's clock
        self._serial, self._turn = itertools.count(1), itertools.count()

    async def serve(self):
        """On loopback: the port."""
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    def hear(self, kind, event):
        """An event of the recording."""
        what, thing = event["type"], event["object"]
        if kind == "gnnjobs":
            return self._hear_of_job(what, thing)
        if owner_of(thing) in self._submitted:
            return None
        return self.objects.remove(kind, name_of(thing)) if what == "DELETED" else self.objects.put(kind, thing)

    def _hear_of_job(self, what, job):
        """Times in objects are the recording's, except that a job comes now."""
        if job["metadata"]["uid"] not in self._submitted:
            return
        known = self.objects.get("gnnjobs", name_of(job))
        if what == "DELETED":
            self.objects.remove("gnnjobs", name_of(job))
        elif not known:
            job.pop("status", None)
            job["metadata"]["creationTimestamp"] = now()
            self.objects.put("gnnjobs", job)
        elif job["metadata"].get("generation") != known["metadata"].get("generation"):  # somebody changed what it asks for
            self.objects.put("gnnjobs", known | {"spec": job["spec"], "metadata": job["metadata"]})

    async def _connection(self, reader, writer):
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                method, target, _ = head.split(" ", 2)
                size = re.search(r"\ncontent-length: *(\d+)", head, re.IGNORECASE)
                body = await reader.readexactly(int(size[1])) if size else b""
                await self._answer(method, Target(target), body, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):  # one of both has gone
            pass
        finally:
            writer.close()

    async def _answer(self, method, target, body, writer):
        if target.query.get("watch") == "true":
            return await self._watch(target, writer)
        self.asked = asyncio.get_running_loop().time()
        self.requests[f"{method} {'/'.join(filter(None, (target.kind, target.sub)))}"] += 1
        self._busy_until = max(self._busy_until, self.asked) + 1 / self._rate
        await asyncio.sleep(self._busy_until - self.asked)
        try:
            code, text = 201 if method == "POST" else 200, getattr(self, f"_{method.lower()}")(target, body)
        except Refused as refusal:
            code, text = refusal.code, refusal.text
        writer.write(f"HTTP/1.1 {code} {REASONS[code]}\r\nContent-Type: application/json\r\n"
                     f"Content-Length: {len(text.encode())}\r\n\r\n{text}".encode())
        return await writer.drain()

    async def _watch(self, target, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        seconds = min(float(target.query.get("timeoutSeconds", 300)), self._longest_watch)
        version = int(target.query["resourceVersion"])
        async for lines in self.objects.changes(target.kind, target.selection, version, seconds):
            text = lines.encode()
            writer.write(b"%x\r\n%s\r\n" % (len(text), text))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    def _get(self, target, _):
        if target.sub == "log":
            job = self.objects.get("gnnjobs", f"{target.space}/{self._find(target)['metadata']['labels'][LABEL + 'job']}")
            return json.dumps(played.prepared(job["spec"].get("placement", {}).get("ranks", 1))) + "\n"
        if target.name:
            return json.dumps(self._find(target))
        shown = [each.text for each in self.objects.kinds[target.kind].values() if target.selection.shows(each)]
        begin, size = int(target.query.get("continue") or 0), int(target.query.get("limit", len(shown) + 1))
        more = f',"continue":"{begin + size}"' if begin + size < len(shown) else ""
        return (f'{{"kind":"List","metadata":{{"resourceVersion":"{self.objects.version}"{more}}},'
                f'"items":[{",".join(shown[begin:begin + size])}]}}')

    def _post(self, target, body):
        thing = json.loads(body)
        target.full = f"{target.space}/{thing['metadata']['name']}"
        if target.full in self.objects.kinds[target.kind]:
            raise Refused(409, "AlreadyExists", f"{target.kind} {target.full} already exists")
        if target.query.get("dryRun") or target.kind == "events":
            return body.decode()
        thing["metadata"] |= {"namespace": target.space, "uid": f"made-{next(self._serial)}", "creationTimestamp": now()}
        if target.kind == "pods":
            thing["status"] = {"phase": "Pending"}
        return self._keep(target, thing)

    def _patch(self, target, body):
        if target.kind == "events":
            return body.decode()
        before = self._find(target)
        try:
            after = patched(self._find(target), json.loads(body))
        except (LookupError, ValueError) as problem:
            raise Refused(422, "Invalid", str(problem)) from None
        if after["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]:
            raise Refused(409, "Conflict", "the object has been modified")
        if target.sub == "status":
            after = before | {"status": after["status"]}
        return json.dumps(before) if after == before else self._keep(target, after)

    def _delete(self, target, body):
        uid = json.loads(body or b"{}").get("preconditions", {}).get("uid")
        if uid and uid != self._find(target)["metadata"]["uid"]:
            raise Refused(409, "Conflict", "it has another UID")
        return self.objects.remove(target.kind, target.full) or json.dumps(self._find(target))

    def _find(self, target):
        """Claims for volumes aren't recorded: of one that isn't there the operator takes it that any node can use it."""
        found = self.objects.get(target.kind, target.full)
        if not found:
            raise Refused(404, "NotFound", f"{target.kind} {target.full} not found")
        return found

    def _keep(self, target, thing):
        text = self.objects.put(target.kind, thing)
        if target.kind == "pods":
            asyncio.get_running_loop().call_soon(self._live, target.full)  # after the answer
        return text

    def _live(self, name):
        pod = self.objects.get("pods", name)
        if not pod or pod["spec"].get("schedulingGates") or pod["spec"].get("nodeName"):
            return
        pod["spec"]["nodeName"] = pinned(pod) or self._next_node()
        self.objects.put("pods", pod)
        serial = next(self._serial)  # nobody answers at its address, which says so at once
        began, address = {"startedAt": now()}, f"127.77.{serial // 250 % 250}.{serial % 250 + 1}"
        self._say(pod, "Running", {"running": began}, podIP=address, podIPs=[{"ip": address}], startTime=now())
        if pod["metadata"]["labels"].get(LABEL + "role") == "prepare":
            self._say(pod, "Succeeded", {"terminated": began | {"exitCode": 0, "reason": "Completed", "finishedAt": now()}})

    def _say(self, pod, phase, state, **more):
        is_ready = phase == "Running"
        pod["status"] |= {"phase": phase, **more, "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": now()},
            {"type": "Ready", "status": str(is_ready), "lastTransitionTime": now()}], "containerStatuses": [
                {"name": each["name"], "image": each.get("image", ""), "ready": is_ready, "restartCount": 0, "state": state}
                for each in pod["spec"]["containers"]]}
        self.objects.put("pods", pod)

    def _next_node(self):
        names = list(self.objects.kinds["nodes"])
        return names[next(self._turn) % len(names)].lstrip("/")


def pinned(pod):
    """The node that the operator has chosen."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    return next((rule["values"][0] for term in terms for rule in term.get("matchFields", [])), None)
