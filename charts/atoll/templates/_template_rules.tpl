{{/* What jobs' templates may not say, as in operator/objects/template_faults.cc: tests/charts/template_rules compares them. */}}
{{- define "atoll.template.refused" -}}
spec:
  schedulingGates: the operator's own gate holds pods back until all have a place
  nodeName: "use nodeSelector or affinity.nodeAffinity: the plan chooses among those nodes"
  topologySpreadConstraints: placement decides where ranks run
  restartPolicy: runPolicy.backoffLimit says how often the job is restarted
  activeDeadlineSeconds: use runPolicy.activeDeadlineSeconds
  automountServiceAccountToken: a job's pods hold no credentials of the cluster
  hostNetwork: every pod's sshd needs port 2222 for itself
  hostPID: a rank must see only its own pod's processes
  hostIPC: ranks share memory within their pod
  hostname: ranks find their place by it
  hostnameOverride: ranks find their place by the host's name
  schedulingGroup: the operator's own gate holds pods back until all have a place
  workloadRef: the operator's own gate holds pods back until all have a place
  subdomain: ranks find their place by the host's name
  ephemeralContainers: they can't be made with a pod
engine:
  image: use spec.image
  command: it is the contract between operator and engine
  args: it is the contract between operator and engine
  workingDir: it is the contract between operator and engine
  ports: 2222 and 9400 are taken; pods can use other ports without naming them
  readinessProbe: ready means that sshd answers
  restartPolicy: runPolicy.backoffLimit says how often the job is restarted
  restartPolicyRules: runPolicy.backoffLimit says how often the job is restarted
  terminationMessagePath: the operator reads the result from it
  terminationMessagePolicy: the operator reads the result from it
  stdin: nobody types into a rank
  tty: nobody types into a rank
data:
  emptyDir: "each pod would have an empty one: name a volume that all pods mount"
prepared:
  emptyDir: "each pod would have an empty one: name a volume that all pods mount"
  ephemeral: "each pod would have an empty one: name a volume that all pods mount"
{{- end }}

{{/* Names of volumes and paths of mounts that are the operator's, as CEL has lists. */}}
{{- define "atoll.template.volumes" -}}
['tmp', 'run', 'users', 'job', 'data', 'prepared', 'keys', 'shm', 'output', 'attempt']
{{- end }}
{{- define "atoll.template.paths" -}}
['/tmp', '/run/atoll', '/var/lib/extrausers', '/etc/atoll/job', '/data', '/prepared', '/dev/shm', '/etc/atoll/keys', '/etc/atoll/attempt', '/output']
{{- end }}
{{- define "atoll.template.ranks" -}}
['cpu', 'memory']
{{- end }}

{{/* Keys of labels and annotations that say which pods Kueue placed: their beginnings. */}}
{{- define "atoll.template.kueue" -}}
['kueue.x-k8s.io/podset', 'kueue.x-k8s.io/workload']
{{- end }}

{{/* How NVIDIA's device plugin calls GPUs: beginnings of names. */}}
{{- define "atoll.template.gpus" -}}
['nvidia.com/gpu', 'nvidia.com/mig-']
{{- end }}
