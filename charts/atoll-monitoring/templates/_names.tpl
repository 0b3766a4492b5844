{{- define "monitoring.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Of what the Prometheus operator reads. */}}
{{- define "monitoring.monitorLabels" -}}
{{ include "monitoring.labels" . }}
{{- with .Values.monitorLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* "true", or nothing. */}}
{{- define "monitoring.hasMonitors" -}}
{{- if eq .Values.discovery "monitors" -}}
true
{{- else if and (eq .Values.discovery "auto") (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") -}}
true
{{- end -}}
{{- end }}

{{/* The pods with ranks, of any job. */}}
{{- define "monitoring.workers" -}}
app.kubernetes.io/managed-by: atoll
atoll.dev/role: worker
{{- end }}

{{- define "monitoring.operator" -}}
app.kubernetes.io/name: atoll
app.kubernetes.io/instance: {{ .Values.operator.instance }}
{{- end }}

{{/* The operator's metrics (operator/run/metrics.cc): on a job's page they would pass for what the operator says. */}}
{{- define "monitoring.ofTheOperator" -}}
atoll_(jobs|gang_.*|job_.*|watch_.*)
{{- end }}

{{/* Of one page: a job's image is its team's, and so is what it serves. What exceeds one of them is not stored. */}}
{{- define "monitoring.limits" -}}
sampleLimit: {{ .Values.limits.samples }}
labelLimit: {{ .Values.limits.labels }}
labelNameLengthLimit: {{ .Values.limits.labelName }}
labelValueLengthLimit: {{ .Values.limits.labelValue }}
bodySizeLimit: {{ .Values.limits.body }}
{{- end }}

{{/* What scrape jobs have in common: the same bounds, the pods' port, and their labels. */}}
{{- define "monitoring.scrapeJob" -}}
scrape_interval: {{ .Values.interval }}
sample_limit: {{ .Values.limits.samples }}
label_limit: {{ .Values.limits.labels }}
label_name_length_limit: {{ .Values.limits.labelName }}
label_value_length_limit: {{ .Values.limits.labelValue }}
body_size_limit: {{ .Values.limits.body }}
relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_container_port_name], regex: metrics, action: keep}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
  - {source_labels: [__meta_kubernetes_pod_node_name], target_label: node}
{{- end }}
