{{/* A data set's entry as arguments of `atoll dataset import` and `generate`: YAML lists. */}}

{{/* Helm reads every number as a floating-point one. */}}
{{- define "datasets.number" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{/* of import: {symmetrise: false, float16: true, …} */}}
{{- define "datasets.importOptions" -}}
- --format={{ .format }}
{{- with .name }}
- --name={{ . }}
{{- end }}
{{- if hasKey . "symmetrise" }}
- {{ .symmetrise | ternary "--symmetrise" "--no-symmetrise" }}
{{- end }}
{{- if .transpose }}
- --transpose
{{- end }}
{{- if .oneBased }}
- --one-based
{{- end }}
{{- if .relabel }}
- --relabel
{{- end }}
{{- with .split }}
- --split={{ . }}
{{- end }}
{{- with .edgeSplit }}
- --edge-split={{ . }}
{{- end }}
{{- with .disjoint }}
- --disjoint={{ include "datasets.number" . }}
{{- end }}
{{- with .features }}
- --features={{ . }}
{{- end }}
{{- if hasKey . "seed" }}
- --seed={{ include "datasets.number" .seed }}
{{- end }}
{{- if .weights }}
- --weights
{{- end }}
{{- if .removeSelfLoops }}
- --remove-self-loops
{{- end }}
{{- with .scaleFeatures }}
- --scale-features={{ . }}
{{- end }}
{{- if .float16 }}
- --float16
{{- end }}
{{- end }}

{{/* of generate: {preset: reddit, scale: 0.1, …} */}}
{{- define "datasets.generateOptions" -}}
{{- range $option := list "preset" "scale" "vertices" "averageDegree" "features" "classes" "homophily" "trainShare" "seed" }}
{{- if hasKey $ $option }}
- --{{ $option }}={{ include "datasets.number" (get $ $option) }}
{{- end }}
{{- end }}
{{- if .float16 }}
- --float16
{{- end }}
{{- end }}

{{/* Where a fetched file is put, below the folder of sources: of {url, as}. */}}
{{- define "datasets.fileName" -}}
{{ default (regexReplaceAll "[?#].*$" .url "" | base) .as }}
{{- end }}

{{/* What import reads: of {name: arxiv, sources: FOLDER, entry: {…}}. Four formats are one file. */}}
{{- define "datasets.source" -}}
{{- if .entry.path -}}
{{ ternary "/source" "/data" (hasKey .entry "volume") }}/{{ .entry.path }}
{{- else if .entry.import.source -}}
{{ .sources }}/{{ .entry.import.source }}
{{- else if has .entry.import.format (list "snap" "matrixmarket" "adjacency" "metis") -}}
{{ .sources }}/{{ include "datasets.fileName" (first .entry.fetch) }}
{{- else -}}
{{ .sources }}
{{- end -}}
{{- end }}
