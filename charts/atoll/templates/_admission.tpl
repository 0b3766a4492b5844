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

{{/* What the operator's account may write: objects of GNNJobs. A stolen token makes no pod of another account's, nor a Secret
     that becomes one's token. */}}
{{- define "atoll.policy.operator" -}}
matchConstraints:
  resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE, DELETE]
      resources: [pods, secrets, configmaps]
    - apiGroups: [networking.k8s.io]
      apiVersions: [v1]
      operations: [CREATE, UPDATE, DELETE]
      resources: [networkpolicies]
matchConditions:
  - name: by-the-operator
    expression: request.userInfo.username == 'system:serviceaccount:{{ .Release.Namespace }}:{{ include "atoll.serviceAccount" . }}'
variables:
  - name: subject
    expression: "request.operation == 'CREATE' ? dyn(object) : dyn(oldObject)"
  - name: owners
    expression: "has(variables.subject.metadata.ownerReferences) ? variables.subject.metadata.ownerReferences : []"
  - name: isMade
    expression: request.operation == 'CREATE'
  - name: spec
    expression: "variables.isMade && request.resource.resource == 'pods' ? dyn(object).spec : dyn({})"
  - name: volumes
    expression: "has(variables.spec.volumes) ? variables.spec.volumes : []"
  - name: everyContainer
    expression: >-
      (has(variables.spec.containers) ? variables.spec.containers : dyn([])) +
      (has(variables.spec.initContainers) ? variables.spec.initContainers : dyn([])) +
      (has(variables.spec.ephemeralContainers) ? variables.spec.ephemeralContainers : dyn([]))
  - name: allowed
    expression: {{ toJson .Values.jobs.allow | quote }}
validations:
  - expression: >-
      variables.owners.exists(o, o.kind == 'GNNJob' && o.apiVersion.startsWith('atoll.dev/') && has(o.controller) && o.controller)
      {{- if .Values.mpiJobs.enabled }}
      || (!variables.isMade && has(variables.subject.metadata.labels) && 'atoll.dev/job' in variables.subject.metadata.labels)
      {{- end }}
    message: the operator's account writes objects of GNNJobs alone
  - expression: >-
      !variables.isMade || request.resource.resource != 'secrets' || !has(variables.subject.type) || variables.subject.type == 'Opaque'
    message: "the operator's account makes no Secret but of type Opaque"
  - expression: >-
      !variables.isMade || request.resource.resource != 'pods' ||
      (has(variables.spec.automountServiceAccountToken) && !variables.spec.automountServiceAccountToken)
    message: "the operator's account makes no pod that holds its service account's token"
  - expression: >-
      !(has(variables.spec.hostNetwork) && variables.spec.hostNetwork) && !(has(variables.spec.hostPID) && variables.spec.hostPID) &&
      !(has(variables.spec.hostIPC) && variables.spec.hostIPC)
    message: "the operator's account makes no pod in its node's namespaces"
  - expression: >-
      'serviceAccountName' in variables.allowed || !has(variables.spec.serviceAccountName) || variables.spec.serviceAccountName == 'default'
    message: "the operator's account makes no pod of another service account (jobs.allow of the chart)"
  - expression: >-
      'shareProcessNamespace' in variables.allowed || !(has(variables.spec.shareProcessNamespace) && variables.spec.shareProcessNamespace)
    message: "the operator's account makes no pod that shares its processes (jobs.allow of the chart)"
  - expression: "'hostPath' in variables.allowed || variables.volumes.all(v, !has(v.hostPath))"
    message: "the operator's account makes no pod that mounts its node's files (jobs.allow of the chart)"
  - expression: >-
      'serviceAccountToken' in variables.allowed || variables.volumes.all(v, !has(v.projected) || !has(v.projected.sources) ||
      v.projected.sources.all(s, !has(s.serviceAccountToken) && !has(s.podCertificate)))
    message: "the operator's account makes no pod that is given a token (jobs.allow of the chart)"
  {{- range $field, $guard := (include "atoll.template.guarded" . | fromYaml).security }}
  - expression: >-
      '{{ $guard.feature }}' in variables.allowed || variables.everyContainer.all(c, !has(c.securityContext) ||
      !has(c.securityContext.{{ $field }}) || string(c.securityContext.{{ $field }}) == '{{ $guard.harmless }}')
    message: "the operator's account makes no pod whose containers say {{ $field }} (jobs.allow of the chart)"
  {{- end }}
  {{- range $field, $guard := (include "atoll.template.guarded" . | fromYaml).port }}
  - expression: >-
      '{{ $guard.feature }}' in variables.allowed || variables.everyContainer.all(c, !has(c.ports) ||
      c.ports.all(p, !has(p.{{ $field }}) || string(p.{{ $field }}) == '{{ $guard.harmless }}'))
    message: "the operator's account makes no pod with ports of its node (jobs.allow of the chart)"
  {{- end }}
  - expression: >-
      variables.everyContainer.all(c, !has(c.securityContext) || !has(c.securityContext.capabilities) ||
      !has(c.securityContext.capabilities.add) || c.securityContext.capabilities.add.all(name,
      name in {{ include "atoll.template.capabilities" . }} || name in variables.allowed))
    message: "the operator's account makes no pod with more rights than a container's own (jobs.allow of the chart)"
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
     by one: else any tenant's could hold the room that it names. */}}
{{- define "atoll.policy.marks" -}}
matchConstraints:
  resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [pods]
matchConditions:
  - name: bears-a-jobs-name
    expression: >-
      (has(object.metadata.labels) && 'atoll.dev/job' in object.metadata.labels) ||
      (request.operation == 'UPDATE' && has(oldObject.metadata.labels) && 'atoll.dev/job' in oldObject.metadata.labels)
  - name: by-no-operator
    expression: >-
      !authorizer.group('atoll.dev').resource('gnnjobs').subresource('status').namespace(request.namespace).check('patch').allowed()
  {{- if .Values.mpiJobs.enabled }}
  - name: not-of-an-mpijob  # mpi-operator makes its pods, or a Job of its does
    expression: "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, o.kind in ['MPIJob', 'Job'])"
  {{- end }}
validations:
  - expression: >-
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
