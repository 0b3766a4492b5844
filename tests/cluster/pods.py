"""Pods that answer: each serves a line with its node's name, or as many bytes as it is asked for, on port 8080."""
import json
import os

import images
import machine
from control_plane import kubectl

SERVER = ("use IO::Socket::INET; $|=1; print qq(ready\\n); "
          "my $s=IO::Socket::INET->new(LocalPort=>8080,Listen=>5,ReuseAddr=>1) or die; "
          "while(my $c=$s->accept){my $n=<$c>; print $c ($n>0 ? 'x' x $n : qq(hello from $ENV{NODE})); close $c}")


def pod(name, **spec):
    """A pod of this name and label `app`, Ready once it serves; kubectl is in /programs."""
    container = {"name": "main", "image": images.BASE, "imagePullPolicy": "Never", "command": ["perl", "-e", SERVER],
                 "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                 "readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1},
                 "volumeMounts": [{"name": "programs", "mountPath": "/programs"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": {
        "terminationGracePeriodSeconds": 0, "containers": [container],
        "volumes": [{"name": "programs", "hostPath": {"path": os.path.dirname(machine.program("kubectl"))}}]} | spec}


def apply(*objects):
    kubectl("apply", "--filename", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def inside(name, *command, seconds=60):
    return kubectl("exec", name, "--", *command, seconds=seconds)


def ask(name, address, bytes_wanted=0):
    """What the server at the address sends, asked from within a pod."""
    script = f"exec 3<>/dev/tcp/{address}/8080; echo {bytes_wanted} >&3; cat <&3"
    return inside(name, "bash", "-c", script + (" | wc -c" if bytes_wanted else ""))


def address_of(name):
    return kubectl("get", "pod", name, "--output", "jsonpath={.status.podIP}")
