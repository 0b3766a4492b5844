{{/* What gives a pod more than its own (guards.json), as CEL. The operator is built of the same table. */}}

{{/* The rows that jobs.allow doesn't name, each for one kind of part and one field: a YAML list of {of, field, path, row}. */}}
{{- define "atoll.guards" -}}
{{- $table := .Files.Get "guards.json" | fromJson }}
{{- range $row := concat $table.baseline $table.beyond }}
{{- if or (eq $row.feature "") (not (has $row.feature $.Values.jobs.allow)) }}
{{- range $of := $row.of }}
{{- range $field := $row.fields }}
- {{ dict "of" $of "field" $field "path" (replace "[]" "" $field) "row" $row | toJson }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether a row has nothing against a value: of (at: CEL of the value, row, allow). */}}
{{- define "atoll.guard.among" -}}
{{- $exact := list }}
{{- $words := list }}
{{- range .row.allowed }}
{{- if hasSuffix "*" . }}
{{- $words = append $words (printf "string(%s).startsWith('%s')" $.at (trimSuffix "*" .)) }}
{{- else }}
{{- $exact = append $exact . }}
{{- end }}
{{- end }}
{{- if eq .row.feature "*" }}
{{- $exact = concat $exact .allow }}
{{- end }}
{{- if $exact }}
{{- $words = prepend $words (printf "string(%s) in ['%s']" .at (join "', '" $exact)) }}
{{- end }}
{{- if $words }}({{ join " || " $words }}){{ else }}false{{ end }}
{{- end }}

{{/* The same of all that lies at a field, "a.b[].c": of (at: CEL of what has it, field, row, allow, depth). What isn't there is no fault. */}}
{{- define "atoll.guard.holds" -}}
{{- if eq .field "" -}}
{{- include "atoll.guard.among" . -}}
{{- else -}}
{{- $step := splitList "." .field | first }}
{{- $at := printf "%s.%s" .at (trimSuffix "[]" $step) }}
{{- $next := dict "at" $at "field" (trimPrefix $step .field | trimPrefix ".") "row" .row "allow" .allow "depth" (add1 .depth) -}}
(!has({{ $at }}) || {{ $at }} == null || {{ if hasSuffix "[]" $step }}
{{- $each := printf "e%d" (int .depth) -}}
{{ $at }}.all({{ $each }}, {{ include "atoll.guard.holds" (merge (dict "at" $each) $next) }})
{{- else }}
{{- include "atoll.guard.holds" $next }}
{{- end }})
{{- end -}}
{{- end }}

{{/* CEL of the first value there that the row is against. */}}
{{- define "atoll.guard.given" -}}
{{- if eq .field "" -}}
{{ .at }}
{{- else -}}
{{- $step := splitList "." .field | first }}
{{- $at := printf "%s.%s" .at (trimSuffix "[]" $step) }}
{{- $next := dict "at" $at "field" (trimPrefix $step .field | trimPrefix ".") "row" .row "allow" .allow "depth" (add1 .depth) }}
{{- if hasSuffix "[]" $step }}
{{- $each := printf "e%d" (int .depth) }}
{{- $found := printf "%s.filter(%s, !%s)[0]" $at $each (include "atoll.guard.holds" (merge (dict "at" $each) $next)) }}
{{- include "atoll.guard.given" (merge (dict "at" $found) $next) }}
{{- else }}
{{- include "atoll.guard.given" $next }}
{{- end }}
{{- end -}}
{{- end }}

{{/* As CEL, what operator/objects/guards.cc says of it: of (at, field, row, allow, depth). */}}
{{- define "atoll.guard.words" -}}
{{- $given := include "atoll.guard.given" . }}
{{- $use := compact .row.allowed }}
{{- $text := printf "is not allowed here (%s; %sleave it out" .row.why (empty $use | ternary "" (printf "use %s, or " (join ", " $use))) }}
{{- $may := empty .row.feature | ternary "" (printf "; the chart's jobs.allow can name %s" (trimSuffix "*" .row.feature)) }}
{{- if .row.allowed -}}
"'" + string({{ $given }}) + "' {{ $text }}{{ $may }}"{{ if eq .row.feature "*" }} + string({{ $given }}){{ end }} + ")"
{{- else -}}
"{{ $text }}{{ $may }})"
{{- end }}
{{- end }}
