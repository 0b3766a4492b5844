{{/* What the operator does, and no more: tests/charts/permissions holds the table. */}}

{{/* Wherever its jobs are. */}}
{{- define "atoll.rules.jobs" -}}
- apiGroups: [atoll.dev]
  resources: [gnnjobs]
  verbs: [get, list, watch, delete]  # delete: runPolicy.ttlSecondsAfterFinished
- apiGroups: [atoll.dev]
  resources: [gnnjobs/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [pods/log]  # of the prepare step
  verbs: [get]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, delete]
- apiGroups: [""]
  resources: [secrets]  # jobs' login keys, which it never reads again; they go with their job, as the next does
  verbs: [create]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [""]
  resources: [persistentvolumeclaims]  # those that jobs mount: which volume is theirs
  verbs: [get]
{{- if eq (include "atoll.scaleUp" .) "capacity-buffers" }}
- apiGroups: [""]
  resources: [podtemplates]  # of CapacityBuffers
  verbs: [get, list, watch, create, delete]
- apiGroups: [autoscaling.x-k8s.io]
  resources: [capacitybuffers]
  verbs: [get, list, watch, create, delete]
{{- else if include "atoll.clearsBuffers" . }}
- apiGroups: [""]
  resources: [podtemplates]  # of CapacityBuffers that are left of another scaleUp.by
  verbs: [get, list, watch, delete]
- apiGroups: [autoscaling.x-k8s.io]
  resources: [capacitybuffers]
  verbs: [get, list, watch, delete]
{{- end }}
{{- if .Values.mpiJobs.enabled }}
- apiGroups: [kubeflow.org]
  resources: [mpijobs]
  verbs: [get, list, watch, create, delete]
{{- end }}
{{- if .Values.kueue.enabled }}
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [get, list, watch, create, delete]
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads/status]
  verbs: [patch]
- apiGroups: [kueue.x-k8s.io]
  resources: [localqueues]  # that jobs name: which ClusterQueue is theirs
  verbs: [get]
{{- end }}
{{- end }}

{{/* In the whole cluster: what room there is, and what queues go by. */}}
{{- define "atoll.rules.capacity" -}}
- apiGroups: [""]
  resources: [nodes, pods]
  verbs: [list, watch]
- apiGroups: [coordination.k8s.io]
  resources: [leases]  # of other installations, which must not see to the same jobs
  verbs: [list]
- apiGroups: [""]
  resources: [persistentvolumes]  # of such claims: which nodes can use them
  verbs: [get]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]  # likewise
  verbs: [get]
{{- if .Values.kueue.enabled }}
- apiGroups: [kueue.x-k8s.io]
  resources: [resourceflavors, workloadpriorityclasses]
  verbs: [list, watch]
- apiGroups: [kueue.x-k8s.io]
  resources: [clusterqueues]  # of such queues: which flavors they have
  verbs: [get]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [list, watch]
{{- end }}
{{- end }}

{{/* In its own namespace: which replica leads. */}}
{{- define "atoll.rules.lease" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, create, update]
{{- end }}
