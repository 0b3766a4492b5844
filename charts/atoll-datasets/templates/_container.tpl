{{/* What every container of a Job has: of {root: $, entry: {…}}. */}}
{{- define "datasets.container" -}}
image: {{ include "datasets.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
terminationMessagePolicy: FallbackToLogsOnError  # kubectl describe says what went wrong
resources: {{- default .root.Values.resources .entry.resources | toYaml | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
{{- if .entry.volume }}
  - {name: source, mountPath: /source, readOnly: true}
{{- end }}
{{- end }}
