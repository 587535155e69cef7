{{/* Labels that select the pods of a component. */}}
{{- define "hcloud-csi.labels" -}}
app.kubernetes.io/name: hcloud-csi
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of every object of a component. */}}
{{- define "hcloud-csi.objectLabels" -}}
{{ include "hcloud-csi.labels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* The driver's image, by default of the chart's own version. */}}
{{- define "hcloud-csi.driver" -}}
{{ .image.name }}:{{ .image.tag | default (printf "v%s" .root.Chart.AppVersion) }}
{{- end }}

{{/* Health of the driver, as the liveness probe beside it answers for it. */}}
{{- define "hcloud-csi.health" -}}
ports:
  - name: healthz
    protocol: TCP
    containerPort: 9808
livenessProbe:
  failureThreshold: 5
  initialDelaySeconds: 10
  periodSeconds: 2
  successThreshold: 1
  timeoutSeconds: 3
  httpGet:
    path: /healthz
    port: healthz
{{- end }}
