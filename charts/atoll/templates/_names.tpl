{{/* What the release's objects are called and marked with. */}}
{{- define "atoll.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" -}}
{{- end }}

{{- define "atoll.fullname" -}}
{{- $name := include "atoll.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- default $full .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- end }}

{{- define "atoll.selector" -}}
app.kubernetes.io/name: {{ include "atoll.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "atoll.labels" -}}
{{ include "atoll.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "atoll.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "atoll.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ required "serviceAccount.name: is missing (with serviceAccount.create false, name the account that is there)" .Values.serviceAccount.name }}
{{- end -}}
{{- end }}

{{/* How an autoscaler is asked for nodes, as --scale-up has it. */}}
{{- define "atoll.scaleUp" -}}
{{- $buffers := .Capabilities.APIVersions.Has "autoscaling.x-k8s.io/v1beta1/CapacityBuffer" -}}
{{- if eq .Values.scaleUp.by "None" -}}
none
{{- else if or (eq .Values.scaleUp.by "CapacityBuffers") (and (eq .Values.scaleUp.by "Auto") $buffers) -}}
capacity-buffers
{{- else -}}
placeholders
{{- end -}}
{{- end }}

{{/* "true" where there may be CapacityBuffers by which jobs asked before scaleUp.by was changed; else nothing. */}}
{{- define "atoll.clearsBuffers" -}}
{{- $buffers := .Capabilities.APIVersions.Has "autoscaling.x-k8s.io/v1beta1/CapacityBuffer" -}}
{{- if and $buffers (ne (include "atoll.scaleUp" .) "capacity-buffers") -}}
true
{{- end -}}
{{- end }}

{{- define "atoll.placeholderClass" -}}
{{ include "atoll.fullname" . }}-placeholder
{{- end }}

{{/* An image of ours: of (image: {repository, tag, digest}, chart: .Chart). */}}
{{- define "atoll.image" -}}
{{ .image.repository }}{{ if .image.digest }}@{{ .image.digest }}{{ else }}:{{ default .chart.AppVersion .image.tag }}{{ end }}
{{- end }}
