{{/* What of a GNNJob the operator could only fail is refused when it is applied, in the same words. Only what is new is judged. */}}
{{- define "atoll.policy.jobs" -}}
{{- $refused := include "atoll.template.refused" . | fromYaml }}
{{- $facts := .Files.Get "crd/policy.yaml" | fromYaml }}
matchConstraints:
  resourceRules:
    - apiGroups: [atoll.dev]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [gnnjobs]
matchConditions:
  {{- include "atoll.policy.of-our-class" . | nindent 2 }}
  - name: says-something-new  # to us: a job of another class was none of ours to judge
    expression: >-
      request.operation == 'CREATE' || object.spec != oldObject.spec ||
      (has(oldObject.metadata.labels) && 'atoll.dev/operator-class' in oldObject.metadata.labels ?
      oldObject.metadata.labels['atoll.dev/operator-class'] : '') !=
      (has(object.metadata.labels) && 'atoll.dev/operator-class' in object.metadata.labels ?
      object.metadata.labels['atoll.dev/operator-class'] : '')
variables:
  - name: job
    expression: dyn(object).spec
  - name: template
    expression: "has(variables.job.template) ? variables.job.template : dyn({})"
  - name: metadata
    expression: "has(variables.template.metadata) && variables.template.metadata != null ? variables.template.metadata : dyn({})"
  - name: metadataBefore  # which an earlier release of the policy took
    expression: >-
      request.operation == 'UPDATE' && has(dyn(oldObject).spec.template) && has(dyn(oldObject).spec.template.metadata) &&
      dyn(oldObject).spec.template.metadata != null ? dyn(oldObject).spec.template.metadata : dyn({})
  - name: spec
    expression: "has(variables.template.spec) && variables.template.spec != null ? variables.template.spec : dyn({})"
  - name: specBefore
    expression: >-
      request.operation == 'UPDATE' && has(dyn(oldObject).spec.template) && has(dyn(oldObject).spec.template.spec) &&
      dyn(oldObject).spec.template.spec != null ? dyn(oldObject).spec.template.spec : dyn({})
  - name: engine
    expression: "has(variables.spec.containers) ? variables.spec.containers.filter(c, has(c.name) && c.name == 'engine') : dyn([])"
  - name: engineBefore
    expression: "has(variables.specBefore.containers) ? variables.specBefore.containers.filter(c, has(c.name) && c.name == 'engine') : dyn([])"
  - name: launcher
    expression: "has(variables.spec.containers) ? variables.spec.containers.filter(c, has(c.name) && c.name == 'launcher') : dyn([])"
  - name: everyContainer  # the engine, init containers, and those that run beside it
    expression: >-
      (has(variables.spec.containers) ? variables.spec.containers : dyn([])) +
      (has(variables.spec.initContainers) ? variables.spec.initContainers : dyn([]))
  - name: dataVolume
    expression: "has(variables.job.dataset.volume) ? variables.job.dataset.volume : dyn({})"
  - name: preparedVolume
    expression: "has(variables.job.dataset.prepared) ? variables.job.dataset.prepared : dyn({})"
  - name: outputVolume
    expression: "has(variables.job.output) && has(variables.job.output.volume) ? variables.job.output.volume : dyn({})"
  - name: podParts  # what guards judge, each with its place
    expression: "[{'at': dyn('template.spec'), 'it': variables.spec}]"
  - name: containerParts
    expression: >-
      {{- range $index, $list := list "containers" "initContainers" }}{{ if $index }} +{{ end }}
      (has(variables.spec.{{ $list }}) && type(variables.spec.{{ $list }}) == list ? variables.spec.{{ $list }} : dyn([])).map(c,
      {'at': dyn('template.spec.{{ $list }}[' + (has(c.name) ? string(c.name) : '') + ']'), 'it': c})
      {{- end }}
  - name: volumeParts  # the job's own, and the template's
    expression: >-
      [{'at': dyn('dataset.volume'), 'it': variables.dataVolume}, {'at': dyn('dataset.prepared'), 'it': variables.preparedVolume},
      {'at': dyn('output.volume'), 'it': variables.outputVolume}] +
      (has(variables.spec.volumes) && type(variables.spec.volumes) == list ? variables.spec.volumes : dyn([])).map(v,
      {'at': dyn('template.spec.volumes[' + (has(v.name) ? string(v.name) : '') + ']'), 'it': v})
  - name: annotationsParts
    expression: >-
      (has(variables.metadata.annotations) && type(variables.metadata.annotations) == map ? variables.metadata.annotations : dyn({})).map(k,
      {'at': dyn('template.metadata.annotations.' + k), 'key': dyn(k), 'it': dyn(variables.metadata.annotations[k])})
  - name: training
    expression: "has(variables.job.training) ? variables.job.training : dyn({})"
  - name: schedule
    expression: >-
      has(variables.training.learningRateSchedule) && type(variables.training.learningRateSchedule) == map ?
      variables.training.learningRateSchedule : dyn({})
  - name: patience
    expression: >-
      !has(variables.training.earlyStopping) ? dyn(0) : type(variables.training.earlyStopping) != map ? variables.training.earlyStopping :
      has(variables.training.earlyStopping.patience) ? variables.training.earlyStopping.patience : dyn(0)
  - name: inputDropout
    expression: >-
      has(variables.training.inputDropout) && type(variables.training.inputDropout) == map ? variables.training.inputDropout : dyn({})
  - name: strategy
    expression: "has(variables.job.strategy) && has(variables.job.strategy.kind) ? variables.job.strategy.kind : dyn('graph')"
  - name: fanout
    expression: >-
      {{- range $facts.fanout }}
      has(variables.job.strategy) && has(variables.job.strategy.{{ . }}) && has(variables.job.strategy.{{ . }}.fanout) ?
      variables.job.strategy.{{ . }}.fanout :
      {{- end }} dyn([])
  - name: minibatch
    expression: >-
      has(variables.job.strategy) && has(variables.job.strategy.minibatch) ? variables.job.strategy.minibatch : dyn({})
  - name: stageLayers
    expression: >-
      has(variables.job.strategy) && has(variables.job.strategy.gnnpipe) && has(variables.job.strategy.gnnpipe.layers) ?
      variables.job.strategy.gnnpipe.layers : dyn([])
  - name: stages  # 0: as many as fit
    expression: >-
      has(variables.job.strategy) && has(variables.job.strategy.gnnpipe) && has(variables.job.strategy.gnnpipe.stages) ?
      variables.job.strategy.gnnpipe.stages : dyn(0)
  - name: hops
    expression: >-
      has(variables.job.strategy) && has(variables.job.strategy.granndis) && has(variables.job.strategy.granndis.hops) ?
      variables.job.strategy.granndis.hops : dyn(0)
  - name: layers  # that read neighbours
    expression: >-
      {{- range $kind, $counted := $facts.layers }}
      has(variables.job.model.kind) && variables.job.model.kind == '{{ $kind }}' ?
      (has(variables.job.model.options) && has(variables.job.model.options.{{ $counted.option }}) ? variables.job.model.options.{{ $counted.option }} : dyn({{ $counted.default }})) :
      {{- end }}
      has(variables.job.model.layers) ? variables.job.model.layers :
      {{- range $kind, $layers := $facts.defaultLayers }}
      has(variables.job.model.kind) && variables.job.model.kind == '{{ $kind }}' ? dyn({{ $layers }}) :
      {{- end }} dyn(2)
  - name: layersField
    expression: "{{ range $kind, $counted := $facts.layers }}variables.job.model.kind == '{{ $kind }}' ? 'model.options.{{ $counted.option }}' : {{ end }}'model.layers'"
  - name: ranks
    expression: "has(variables.job.placement) && has(variables.job.placement.ranks) ? variables.job.placement.ranks : dyn(1)"
  - name: mostStages  # of a pipeline: a layer that nothing is learnt in has no stage
    expression: "{{ range $kind, $counted := $facts.layers }}has(variables.job.model.kind) && variables.job.model.kind == '{{ $kind }}' ? dyn(1) : {{ end }}variables.layers"
  - name: ranksPerServer
    expression: >-
      has(variables.job.placement) && has(variables.job.placement.ranksPerServer) ? variables.job.placement.ranksPerServer : dyn(0)
  - name: parts
    expression: >-
      has(variables.job.placement) && has(variables.job.placement.partitioner) && type(variables.job.placement.partitioner) == map &&
      has(variables.job.placement.partitioner.parts) ? variables.job.placement.partitioner.parts : dyn(0)
  - name: clusters  # of sampler cluster; where both are numbers
    expression: >-
      variables.parts == 0 ? (variables.ranks > {{ $facts.parts.cluster }} ? variables.ranks : dyn({{ $facts.parts.cluster }})) :
      variables.parts > variables.ranks ? variables.parts : variables.ranks
validations:
  # engine/job/rules/strategy.cc
  - expression: >-
      !(variables.strategy in ['{{ join "', '" $facts.fanout }}']) || size(variables.fanout) == 0 || size(variables.fanout) == variables.layers
    messageExpression: >-
      'strategy.' + string(variables.strategy) + '.fanout: has ' + string(size(variables.fanout)) + ' numbers for ' + string(variables.layers) +
      ' layers (give one for each of ' + variables.layersField + ')'
  # engine/job/samplers.cc
  - expression: >-
      !has(variables.minibatch.layerSizes) || size(variables.minibatch.layerSizes) == 0 ||
      size(variables.minibatch.layerSizes) == variables.layers
    messageExpression: >-
      'strategy.minibatch.layerSizes: has ' + string(size(variables.minibatch.layerSizes)) + ' numbers for ' + string(variables.layers) +
      ' layers (give one for each of ' + variables.layersField + ')'
  - expression: >-
      !has(variables.minibatch.sampler) || variables.minibatch.sampler != 'cluster' || type(variables.parts) != int ||
      type(variables.ranks) != int || !has(variables.minibatch.merged) || variables.minibatch.merged <= variables.clusters
    messageExpression: >-
      'strategy.minibatch.merged: ' + string(variables.minibatch.merged) +
      ' clusters a step, and the graph has ' + string(variables.clusters) +
      ' (they are its parts: set placement.partitioner.parts, for example to ' +
      string(10 * variables.minibatch.merged) + ')'
  # engine/strategies/gnnpipe/info.cc
  - expression: >-
      variables.strategy != 'gnnpipe' || size(variables.stageLayers) == 0 || variables.stageLayers.sum() == variables.layers
    messageExpression: >-
      'strategy.gnnpipe.layers: sums up to ' + string(variables.stageLayers.sum()) + ', and ' +
      variables.layersField +
      ' is ' + string(variables.layers) + ' (give numbers that sum up to ' + string(variables.layers) + ')'
  # engine/strategies/gnnpipe/info_rules.cc: the fewest stages that lie inside servers are as many as there are servers
  - expression: >-
      variables.strategy != 'gnnpipe' || variables.stages != 0 || size(variables.stageLayers) > 0 || type(variables.ranks) != int ||
      type(variables.ranksPerServer) != int || variables.ranksPerServer == 0 || variables.ranks % variables.ranksPerServer != 0 ||
      variables.ranks / variables.ranksPerServer <= variables.mostStages
    messageExpression: >-
      'strategy.gnnpipe.stages: ' + string(variables.ranks) + ' ranks and ' + string(variables.mostStages) +
      (variables.mostStages == 1 ? ' layer' : ' layers') +
      ' make no stages each of which has its ranks on one server, and the ranks of a stage exchange rows in every layer: placement.ranksPerServer is ' +
      string(variables.ranksPerServer) + ' (use strategy granndis or graph, or ranksPerServer ' +
      ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 20, 24, 32, 48, 64].filter(each, each < variables.ranks &&
      variables.ranks % each == 0 && variables.ranks / each <= variables.mostStages).map(each, string(each)) +
      [string(variables.ranks)]).join(' or ') + ')'
  # engine/strategies/granndis/info.cc
  - expression: >-
      variables.strategy != 'granndis' || variables.hops <= variables.layers
    messageExpression: >-
      'strategy.granndis.hops: ' + string(variables.hops) + ' is more than the layers that read neighbours: ' +
      variables.layersField +
      ' is ' + string(variables.layers) + ' (use 1 to ' + string(variables.layers) + ', or 0 for all)'
  - expression: >-
      variables.parts == 0 || variables.parts == variables.ranks || variables.strategy in ['{{ join "', '" $facts.severalParts }}']
    messageExpression: >-
      'placement.partitioner.parts: ' + string(variables.parts) + ' parts for ' + string(variables.ranks) + ' ranks, and strategy ' +
      variables.strategy + ' has one a rank (leave it out)'
  - expression: >-
      variables.parts == 0 || variables.parts >= variables.ranks || !(variables.strategy in ['{{ join "', '" $facts.severalParts }}'])
    messageExpression: >-
      'placement.partitioner.parts: ' + string(variables.parts) + ' parts for ' + string(variables.ranks) +
      ' ranks (use at least one a rank)'
  # engine/job/rules/training.cc: rules about maps with a short form, of which the resource's own rules see nothing.
  - expression: >-
      !has(variables.schedule.warmupEpochs) || !has(variables.training.epochs) || type(variables.schedule.warmupEpochs) != int ||
      type(variables.training.epochs) != int || variables.schedule.warmupEpochs < variables.training.epochs
    messageExpression: >-
      'training.learningRateSchedule.warmupEpochs: ' + string(variables.schedule.warmupEpochs) + ' is not below training.epochs ' +
      string(variables.training.epochs) + ' (use less)'
  - expression: >-
      !has(variables.schedule.kind) || variables.schedule.kind != 'cosine' || !has(variables.schedule.minimum) ||
      !has(variables.training.optimizer) || !has(variables.training.optimizer.learningRate) ||
      double(variables.schedule.minimum) <= double(variables.training.optimizer.learningRate)
    messageExpression: >-
      'training.learningRateSchedule.minimum: ' + string(variables.schedule.minimum) + ' is above training.optimizer.learningRate ' +
      string(variables.training.optimizer.learningRate) + ' (use at most the learning rate)'
  - expression: >-
      type(variables.patience) != int || variables.patience <= 0 || !has(variables.training.evaluateEvery) ||
      type(variables.training.evaluateEvery) != int || variables.patience >= variables.training.evaluateEvery
    messageExpression: >-
      'training.earlyStopping.patience: ' + string(variables.patience) + ' is below training.evaluateEvery ' +
      string(variables.training.evaluateEvery) + ' (use at least as many epochs)'
  - expression: >-
      !has(variables.inputDropout.position) || variables.inputDropout.position != 'afterAggregation' ||
      !has(variables.inputDropout.rate) || double(variables.inputDropout.rate) == 0.0 ||
      !(variables.job.model.kind in ['{{ join "', '" $facts.dropsInputFirst }}'])
    messageExpression: >-
      'training.inputDropout.position: ' + variables.job.model.kind + ' applies input dropout before its first layer (use beforeAggregation)'
  - expression: >-
      !has(variables.inputDropout.rate) || double(variables.inputDropout.rate) == 0.0 ||
      (has(variables.inputDropout.position) && variables.inputDropout.position == 'afterAggregation') ||
      !(variables.job.model.kind in ['{{ join "', '" $facts.aggregatesFirst }}'])
    messageExpression: >-
      'training.inputDropout.position: ' + variables.job.model.kind +
      ' sums over neighbours once, before anything can be dropped out (use afterAggregation)'
  {{- range $part, $volume := dict "data" "volume" "prepared" "prepared" }}
  {{- range $kind, $instead := get $refused $part }}
  - expression: "!has(variables.{{ $part }}Volume.{{ $kind }})"
    message: {{ printf "dataset.%s.%s: can't be set (%s)" $volume $kind $instead | quote }}
  {{- end }}
  {{- end }}
  - expression: has(variables.job.dataset.volume)
    message: "dataset.volume: is required on a cluster (name a volume that all pods can mount and that holds the data root)"
  {{- if not .Values.mpiJobs.enabled }}
  - expression: "!has(variables.job.launcher) || variables.job.launcher != 'mpijob'"
    message: "launcher: mpijob is off in this operator (use launcher: atoll, or set the chart's mpiJobs.enabled)"
  {{- end }}
  - expression: variables.template.all(key, key in ['metadata', 'spec'])
    messageExpression: "'template.' + variables.template.filter(key, !(key in ['metadata', 'spec']))[0] + ': is not a field of a pod template (use metadata or spec)'"
  - expression: variables.metadata.all(key, key in ['labels', 'annotations'])
    messageExpression: "'template.metadata.' + variables.metadata.filter(key, !(key in ['labels', 'annotations']))[0] + ': can\\'t be set (labels and annotations can)'"
  {{- range list "labels" "annotations" }}
  - expression: "!has(variables.metadata.{{ . }}) || variables.metadata.{{ . }}.all(key, !key.startsWith('atoll.dev/') && key != 'app.kubernetes.io/managed-by')"
    message: "template.metadata.{{ . }}: keys that begin with atoll.dev/ and app.kubernetes.io/managed-by are the operator's (choose another key)"
  - expression: "!has(variables.metadata.{{ . }}) || variables.metadata.{{ . }}.all(key, {{ include "atoll.template.kueue" $ }}.all(mark, !key.startsWith(mark)) || (has(variables.metadataBefore.{{ . }}) && key in variables.metadataBefore.{{ . }}))"
    message: "template.metadata.{{ . }}: keys that begin with kueue.x-k8s.io/podset or kueue.x-k8s.io/workload are the operator's (placement.within asks Kueue for one domain of a topology)"
  {{- end }}
  {{- range $field, $instead := $refused.spec }}
  - expression: "!has(variables.spec.{{ $field }}) || has(variables.specBefore.{{ $field }})"
    message: {{ printf "template.spec.%s: can't be set (%s)" $field $instead | quote }}
  {{- end }}
  {{- range list "podAffinity" "podAntiAffinity" }}
  - expression: "!has(variables.spec.affinity) || !has(variables.spec.affinity.{{ . }})"
    message: "template.spec.affinity.{{ . }}: can't be set (placement decides where ranks run)"
  {{- end }}
  - expression: "!has(variables.spec.volumes) || variables.spec.volumes.all(v, !has(v.name) || !(v.name in {{ include "atoll.template.volumes" . }}))"
    message: {{ printf "template.spec.volumes: %s are the operator's (choose another name)" (include "atoll.template.volumes" .) | quote }}
  - expression: "!has(variables.spec.containers) || variables.spec.containers.all(c, has(c.name) && c.name in ['engine', 'launcher'])"
    message: "template.spec.containers: no container can be added (only 'engine' can be changed, and resources of 'launcher'; a helper beside it is an init container with restartPolicy: Always)"
  - expression: "variables.launcher.all(c, c.all(key, key in ['name', 'resources']))"
    message: "template.spec.containers[launcher]: only resources can be set (all else is said of 'engine')"
  {{- range $field, $instead := $refused.engine }}
  - expression: "variables.engine.all(c, !has(c.{{ $field }})) || variables.engineBefore.exists(c, has(c.{{ $field }}))"
    message: {{ printf "template.spec.containers[engine].%s: can't be set (%s)" $field $instead | quote }}
  {{- end }}
  - expression: "variables.engine.all(c, !has(c.env) || c.env.all(e, !has(e.name) || !e.name.startsWith('ATOLL_')))"
    message: "template.spec.containers[engine].env: names that begin with ATOLL_ are the operator's (choose another name)"
  {{- $gpu := .Values.engineCuda.resource }}
  {{- range list "requests" "limits" }}
  - expression: "variables.engine.all(c, !has(c.resources) || !has(c.resources.{{ . }}) || c.resources.{{ . }}.all(key, !(key in {{ include "atoll.template.ranks" $ }})))"
    message: "template.spec.containers[engine].resources.{{ . }}: cpu and memory can't be set (use spec.resources)"
  - expression: >-
      variables.everyContainer.all(c, !has(c.resources) || !has(c.resources.{{ . }}) || c.resources.{{ . }}.all(key,
      key != '{{ $gpu }}' && {{ include "atoll.template.gpus" $ }}.all(family, !key.startsWith(family))))
    message: "resources.{{ . }} of a container: GPUs can't be set (a job's GPUs are all {{ $gpu }}: use spec.resources)"
  {{- end }}
  - expression: "variables.engine.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, !has(m.mountPath) || !(m.mountPath in {{ include "atoll.template.paths" . }})))"
    message: {{ printf "template.spec.containers[engine].volumeMounts: %s are taken (mount it elsewhere)" (include "atoll.template.paths" .) | quote }}
  # operator/objects/guards.cc, of the same table
  {{- range include "atoll.guards" . | fromYamlArray }}
  {{- $of := dict "at" "p.it" "field" .field "row" .row "allow" $.Values.jobs.allow "depth" 0 }}
  {{- $field := printf ".%s" .path }}
  {{- if eq .of "annotations" }}
  {{- $of = set (omit $of "field") "field" "" }}
  {{- $field = "" }}
  {{- end }}
  {{- $holds := include "atoll.guard.holds" $of }}
  {{- if eq .of "annotations" }}
  {{- $holds = printf "(!string(p.key).startsWith('%s') || %s)" .field $holds }}
  {{- end }}
  - expression: >-
      variables.{{ .of }}Parts.all(p, {{ $holds }})
    messageExpression: >-
      variables.{{ .of }}Parts.filter(p, !{{ $holds }}).map(p, string(p.at) + '{{ $field }}: ' + {{ include "atoll.guard.words" $of }})[0]
  {{- end }}
{{- end }}
