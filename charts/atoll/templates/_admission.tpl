{{/* A policy and its binding, where watchNamespaces has them: of (name, root, spec as text). */}}
{{- define "atoll.policy" -}}
{{- $labels := include "atoll.labels" .root -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ .name }}
  labels: {{- $labels | nindent 4 }}
spec:
  failurePolicy: Fail
  {{- .spec | nindent 2 }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  labels: {{- $labels | nindent 4 }}
spec:
  policyName: {{ .name }}
  validationActions: [Deny]
  {{- if and .root.Values.watchNamespaces (not .everywhere) }}
  matchResources:
    namespaceSelector:
      matchExpressions:
        - {key: kubernetes.io/metadata.name, operator: In, values: {{ toJson .root.Values.watchNamespaces }}}
  {{- end }}
{{- end }}

{{/* Other operators' jobs are for their policies to judge. */}}
{{- define "atoll.policy.of-our-class" -}}
- name: of-our-class
  expression: >-
    (has(object.metadata.labels) && 'atoll.dev/operator-class' in object.metadata.labels &&
    object.metadata.labels['atoll.dev/operator-class'] != '' ? object.metadata.labels['atoll.dev/operator-class'] : 'atoll') ==
    '{{ .Values.operatorClass }}'
{{- end }}

{{/* What the operator's account may write: objects of GNNJobs, of each kind that it makes. A stolen token makes no pod with more than its
     own, whether by itself or by what others make pods of, and no Secret that becomes an account's token. */}}
{{- define "atoll.policy.operator" -}}
{{- $lease := printf "atoll-operator%s" (eq .Values.operatorClass "atoll" | ternary "" (printf "-%s" .Values.operatorClass)) -}}
{{- $buffers := or (eq (include "atoll.scaleUp" .) "capacity-buffers") (include "atoll.clearsBuffers" .) -}}
{{- $kinds := dict "" (list "pods" "secrets" "configmaps" "events") "networking.k8s.io" (list "networkpolicies")
    "coordination.k8s.io" (list "leases") "kubeflow.org" (list "mpijobs") "kueue.x-k8s.io" (list "workloads" "workloads/status") -}}
{{- if $buffers }}
{{- $kinds = merge (dict "" (append (index $kinds "") "podtemplates") "autoscaling.x-k8s.io" (list "capacitybuffers")) $kinds }}
{{- end -}}
matchConstraints:
  resourceRules:
    {{- range $group, $resources := $kinds }}
    - apiGroups: [{{ $group | quote }}]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE, DELETE]
      resources: {{ toJson $resources }}
    {{- end }}
matchConditions:
  - name: by-the-operator
    expression: request.userInfo.username == 'system:serviceaccount:{{ .Release.Namespace }}:{{ include "atoll.serviceAccount" . }}'
variables:
  - name: kind
    expression: request.resource.resource
  - name: subject
    expression: "request.operation == 'CREATE' ? dyn(object) : dyn(oldObject)"
  - name: owners
    expression: "has(variables.subject.metadata.ownerReferences) ? variables.subject.metadata.ownerReferences : dyn([])"
  - name: isMade
    expression: request.operation == 'CREATE'
  - name: spec
    expression: "variables.isMade && has(variables.subject.spec) ? variables.subject.spec : dyn({})"
  - name: templates  # of pods
    expression: >-
      variables.kind == 'pods' && variables.isMade ? [variables.subject] :
      {{- if $buffers }}
      variables.kind == 'podtemplates' && variables.isMade ? [variables.subject.template] :
      {{- end }}
      variables.kind == 'mpijobs' && has(variables.spec.mpiReplicaSpecs) ?
      variables.spec.mpiReplicaSpecs.map(r, variables.spec.mpiReplicaSpecs[r].template) :
      variables.kind == 'workloads' && has(variables.spec.podSets) ? variables.spec.podSets.map(s, s.template) : []
  - name: podParts  # of each template, what guards judge
    expression: "variables.templates.map(t, [t.spec])"
  - name: containerParts
    expression: >-
      {{- range $index, $list := list "containers" "initContainers" "ephemeralContainers" }}{{ if $index }} +{{ end }}
      variables.templates.map(t, has(t.spec.{{ $list }}) ? t.spec.{{ $list }} : dyn([]))
      {{- end }}
  - name: volumeParts
    expression: "variables.templates.map(t, has(t.spec.volumes) ? t.spec.volumes : dyn([]))"
  - name: annotationsParts
    expression: >-
      variables.templates.map(t, has(t.metadata) && has(t.metadata.annotations) ?
      t.metadata.annotations.map(k, {'key': dyn(k), 'it': dyn(t.metadata.annotations[k])}) : [])
validations:
  - expression: >-
      variables.kind in ['events', 'leases'] ||
      variables.owners.exists(o, o.kind == 'GNNJob' && o.apiVersion.startsWith('atoll.dev/') && has(o.controller) && o.controller)
      {{- if .Values.mpiJobs.enabled }}
      || (!variables.isMade && has(variables.subject.metadata.labels) && 'atoll.dev/job' in variables.subject.metadata.labels)
      {{- end }}
    message: the operator's account writes objects of GNNJobs alone
  - expression: >-
      variables.kind != 'events' || (has(variables.subject.involvedObject.kind) && variables.subject.involvedObject.kind == 'GNNJob' &&
      variables.subject.involvedObject.apiVersion.startsWith('atoll.dev/'))
    message: the operator's account tells events of GNNJobs alone
  - expression: "variables.kind != 'leases' || variables.subject.metadata.name == '{{ $lease }}'"
    message: the operator's account writes no lease but {{ $lease }}
  - expression: >-
      variables.kind != 'secrets' || !variables.isMade || !has(variables.subject.type) || variables.subject.type == 'Opaque'
    message: "the operator's account makes no Secret but of type Opaque"
  - expression: >-
      variables.kind != 'networkpolicies' || !variables.isMade || (has(variables.spec.podSelector.matchLabels) &&
      'atoll.dev/job' in variables.spec.podSelector.matchLabels &&
      variables.owners.exists(o, o.name == variables.spec.podSelector.matchLabels['atoll.dev/job']))
    message: "the operator's account makes no NetworkPolicy but for pods of the job that it belongs to"
  - expression: >-
      variables.templates.all(t, has(t.spec.automountServiceAccountToken) && !t.spec.automountServiceAccountToken)
    message: "the operator's account makes no pod that holds its service account's token"
  {{- range include "atoll.guards" . | fromYamlArray }}
  {{- $of := dict "at" "p" "field" .field "row" .row "allow" $.Values.jobs.allow "depth" 0 }}
  {{- $holds := "" }}
  {{- if eq .of "annotations" }}
  {{- $among := include "atoll.guard.holds" (set (set (omit $of "at" "field") "at" "p.it") "field" "") }}
  {{- $holds = printf "(!string(p.key).startsWith('%s') || %s)" .field $among }}
  {{- else }}
  {{- $holds = include "atoll.guard.holds" $of }}
  {{- end }}
  - expression: >-
      variables.{{ .of }}Parts.all(parts, parts.all(p, {{ $holds }}))
    message: {{ printf "the operator's account makes no pod with %s%s that jobs may not have (%s)" .path (eq .of "pod" | ternary "" (printf " of a %s" .of)) .row.why | quote }}
  {{- end }}
{{- end }}

{{/* A lease of the operators' label says that its holder sees to jobs: an operator that finds such a lease at work doesn't begin. So it is
     written by those alone who may write such jobs' status, in the first of the namespaces that it names, or everywhere. */}}
{{- define "atoll.policy.leases" -}}
matchConstraints:
  resourceRules:
    - apiGroups: [coordination.k8s.io]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [leases]
matchConditions:
  - name: is-of-operators
    expression: >-
      has(object.metadata.labels) && 'atoll.dev/operator-class' in object.metadata.labels ||
      oldObject != null && has(oldObject.metadata.labels) && 'atoll.dev/operator-class' in oldObject.metadata.labels
variables:
  - name: spaces
    expression: >-
      has(object.metadata.annotations) && 'atoll.dev/namespaces' in object.metadata.annotations ?
      object.metadata.annotations['atoll.dev/namespaces'] : ''
validations:
  - expression: >-
      authorizer.group('atoll.dev').resource('gnnjobs').subresource('status').namespace(variables.spaces.split(',')[0]).check('patch').allowed()
    message: "metadata.labels.atoll.dev/operator-class: of a lease, is the operators' (choose another key)"
{{- end }}

{{/* A pod that bears a job's name was made by an operator, that is by somebody who writes the status of GNNJobs, and is pinned
     by one: else any tenant's could hold the room that it names. So was a pod that says it is of a GNNJob's Workload: Kueue would
     leave the Workload's pods on a lost node because of it. Kueue reads the name in an annotation for slices first. So was a ConfigMap
     that bears a job's name: the operator keeps what such say of traffic, and many large ones would fill its memory. */}}
{{- define "atoll.policy.marks" -}}
matchConstraints:
  resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [pods, configmaps]
matchConditions:
  - name: bears-a-jobs-name
    expression: >-
      (has(object.metadata.labels) && 'atoll.dev/job' in object.metadata.labels) ||
      (request.operation == 'UPDATE' && has(oldObject.metadata.labels) && 'atoll.dev/job' in oldObject.metadata.labels)
      {{- if .Values.kueue.enabled }}
      {{- range list "workload" "workload-slice-name" }}
      || (has(object.metadata.annotations) && 'kueue.x-k8s.io/{{ . }}' in object.metadata.annotations &&
      object.metadata.annotations['kueue.x-k8s.io/{{ . }}'].startsWith('gnnjob-'))
      {{- end }}
      {{- end }}
  - name: by-no-operator
    expression: >-
      !authorizer.group('atoll.dev').resource('gnnjobs').subresource('status').namespace(request.namespace).check('patch').allowed()
  {{- if .Values.mpiJobs.enabled }}
  - name: by-nobody-who-makes-them-of-mpijobs  # mpi-operator, or Kubernetes of its Job: policy -belongings sees to what those are made of
    expression: >-
      !(request.userInfo.username in ['{{ .Values.mpiJobs.account }}', 'system:serviceaccount:kube-system:job-controller',
      'system:kube-controller-manager'])
  {{- end }}
validations:
  - expression: >-
      {{- if .Values.kueue.enabled }}
      (!(has(object.metadata.labels) && 'atoll.dev/job' in object.metadata.labels) &&
      !(request.operation == 'UPDATE' && has(oldObject.metadata.labels) && 'atoll.dev/job' in oldObject.metadata.labels)) ||
      {{- end }}
      request.operation == 'UPDATE' && has(oldObject.metadata.labels) && 'atoll.dev/job' in oldObject.metadata.labels &&
      has(object.metadata.labels) && 'atoll.dev/job' in object.metadata.labels &&
      oldObject.metadata.labels['atoll.dev/job'] == object.metadata.labels['atoll.dev/job']
    message: "metadata.labels.atoll.dev/job: is the operator's (choose another key)"
  - expression: >-
      (has(object.metadata.annotations) && 'atoll.dev/pinned-to' in object.metadata.annotations ?
      object.metadata.annotations['atoll.dev/pinned-to'] : '') ==
      (request.operation == 'UPDATE' && has(oldObject.metadata.annotations) && 'atoll.dev/pinned-to' in oldObject.metadata.annotations ?
      oldObject.metadata.annotations['atoll.dev/pinned-to'] : '')
    message: "metadata.annotations.atoll.dev/pinned-to: is the operator's (choose another key)"
  {{- if .Values.kueue.enabled }}
  {{- range list "workload" "workload-slice-name" }}
  - expression: >-
      (has(object.metadata.annotations) && 'kueue.x-k8s.io/{{ . }}' in object.metadata.annotations ?
      object.metadata.annotations['kueue.x-k8s.io/{{ . }}'] : '') ==
      (request.operation == 'UPDATE' && has(oldObject.metadata.annotations) && 'kueue.x-k8s.io/{{ . }}' in oldObject.metadata.annotations ?
      oldObject.metadata.annotations['kueue.x-k8s.io/{{ . }}'] : '')
    message: "metadata.annotations.kueue.x-k8s.io/{{ . }}: of a GNNJob's Workload, is the operator's (choose another key)"
  {{- end }}
  {{- end }}
{{- end }}

{{/* Nobody else makes what pods of a job are made of, nor what takes its place in a queue, which could ask for less than the job. */}}
{{- define "atoll.policy.belongings" -}}
matchConstraints:
  resourceRules:
    {{- if .Values.mpiJobs.enabled }}
    - apiGroups: [batch]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [jobs]
    - apiGroups: [kubeflow.org]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [mpijobs]
    {{- end }}
    {{- if .Values.kueue.enabled }}
    - apiGroups: [kueue.x-k8s.io]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [workloads]
    {{- end }}
matchConditions:
  - name: passes-for-a-jobs
    expression: >-
      [dyn(object), dyn(oldObject)].exists(o, o != null && (request.resource.resource == 'workloads' ?
      has(o.metadata.ownerReferences) && o.metadata.ownerReferences.exists(r, r.kind == 'GNNJob') :
      (request.resource.resource == 'jobs' ? [o.spec.template] : has(o.spec.mpiReplicaSpecs) ?
      o.spec.mpiReplicaSpecs.map(r, o.spec.mpiReplicaSpecs[r].template) : []).exists(t,
      has(t.metadata) && has(t.metadata.labels) && 'atoll.dev/job' in t.metadata.labels)))
  - name: by-no-operator
    expression: >-
      !authorizer.group('atoll.dev').resource('gnnjobs').subresource('status').namespace(request.namespace).check('patch').allowed()
  - name: by-no-mpi-operator
    expression: "request.resource.resource != 'jobs' || request.userInfo.username != '{{ .Values.mpiJobs.account }}'"
variables:
  - name: before
    expression: dyn(oldObject)
  - name: now
    expression: dyn(object)
validations:
  - expression: >-
      request.operation == 'UPDATE' && (request.resource.resource == 'jobs' ? variables.now.spec.template == variables.before.spec.template :
      request.resource.resource == 'mpijobs' ? variables.now.spec.mpiReplicaSpecs == variables.before.spec.mpiReplicaSpecs :
      variables.now.spec.podSets == variables.before.spec.podSets &&
      (has(variables.before.metadata.ownerReferences) ? variables.before.metadata.ownerReferences : dyn([])) ==
      (has(variables.now.metadata.ownerReferences) ? variables.now.metadata.ownerReferences : dyn([])))
    messageExpression: >-
      request.resource.resource == 'workloads' ? 'metadata.ownerReferences: a Workload of a GNNJob is the operator\'s (let it make one)' :
      'the label atoll.dev/job of a template: is the operator\'s (choose another key)'
{{- end }}

{{/* A job that was admitted by quota doesn't slip out of its queue. */}}
{{- define "atoll.policy.queue" -}}
matchConstraints:
  resourceRules:
    - apiGroups: [atoll.dev]
      apiVersions: ["*"]
      operations: [UPDATE]
      resources: [gnnjobs]
matchConditions:
  {{- include "atoll.policy.of-our-class" . | nindent 2 }}
  - name: leaves-its-queue
    expression: >-
      has(oldObject.metadata.labels) && 'kueue.x-k8s.io/queue-name' in oldObject.metadata.labels &&
      oldObject.metadata.labels['kueue.x-k8s.io/queue-name'] != '' && (!has(object.metadata.labels) ||
      !('kueue.x-k8s.io/queue-name' in object.metadata.labels) || object.metadata.labels['kueue.x-k8s.io/queue-name'] == '')
variables:
  - name: conditions
    expression: "has(oldObject.status) && has(oldObject.status.conditions) ? oldObject.status.conditions : []"
validations:
  - expression: >-
      !variables.conditions.exists(c, c.type == 'Suspended' && c.status == 'False') ||
      variables.conditions.exists(c, c.type in ['Succeeded', 'Failed'] && c.status == 'True')
    message: >-
      metadata.labels.kueue.x-k8s.io/queue-name: can't be taken away while the job is admitted (set runPolicy.suspend, and wait for
      the condition Suspended)
{{- end }}
