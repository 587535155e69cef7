package container

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

func TestImageNames(t *testing.T) {
	for image, want := range map[string]string{
		"source-controller":                                          "source-controller",
		"fluxcd/source-controller:v1.9.5":                            "source-controller",
		"mirror.example:5000/fluxcd/source-controller":               "source-controller",
		"mirror.example:5000/a/b/source-controller:v1@sha256:abcdef": "source-controller",
	} {
		require.Equal(t, want, ImageName(image), image)
	}
}

func TestWordsAreExpandedAsKubernetesDoes(t *testing.T) {
	env := map[string]string{"NAME": "value", "A.b-c": "dotted"}
	for word, want := range map[string]string{
		"plain":             "plain",
		"--ns=$(NAME).svc":  "--ns=value.svc",
		"$(NAME)$(NAME)":    "valuevalue",
		"$(A.b-c)":          "dotted",
		"$(OTHER)":          "$(OTHER)",
		"$$(NAME)":          "$(NAME)",
		"$NAME ${NAME} $()": "$NAME ${NAME} $()",
	} {
		require.Equal(t, []string{want}, Expand([]string{word}, env), word)
	}
}

func TestTheEnvironmentOfAContainer(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ns", UID: "uid", Labels: map[string]string{"app": "it"}},
		Spec:       corev1.PodSpec{NodeName: "node", ServiceAccountName: "account"},
		Status:     corev1.PodStatus{PodIP: "10.1.2.3"},
	}
	client := fake.NewClientset(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cloud", Namespace: "ns"}, Data: map[string][]byte{"token": []byte("secret")}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "ns"}, Data: map[string]string{"LEVEL": "info"}},
	)
	memory := corev1.ResourceRequirements{Limits: corev1.ResourceList{
		corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourceCPU: resource.MustParse("1500m"),
	}}
	for name, test := range map[string]struct{ spec, want, err string }{
		"values see those before them": {
			spec: "env: [{name: A, value: a}, {name: B, value: $(A)b}, {name: C, value: $(D)}]",
			want: "{A: a, B: ab, C: $(D)}",
		},
		"fields of the pod": {
			spec: `env:
- {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
- {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
- {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}`,
			want: "{NS: ns, NODE: node, IP: 10.1.2.3, APP: it}",
		},
		"resources": {
			spec: `env:
- {name: BYTES, valueFrom: {resourceFieldRef: {resource: limits.memory}}}
- {name: MIB, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
- {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "1"}}}`,
			want: `{BYTES: "1073741824", MIB: "1024", CPUS: "2"}`,
		},
		"secrets and config maps": {
			spec: `envFrom: [{configMapRef: {name: settings}, prefix: LOG_}]
env:
- {name: TOKEN, valueFrom: {secretKeyRef: {name: cloud, key: token}}}
- {name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: LEVEL}}}`,
			want: "{LOG_LEVEL: info, TOKEN: secret, LEVEL: info}",
		},
		"what is optional and absent": {
			spec: `envFrom: [{secretRef: {name: none, optional: true}}]
env:
- {name: A, valueFrom: {secretKeyRef: {name: none, key: token, optional: true}}}
- {name: B, valueFrom: {configMapKeyRef: {name: settings, key: none, optional: true}}}`,
			want: "{}",
		},
		"a secret that is not there": {
			spec: "env: [{name: T, valueFrom: {secretKeyRef: {name: none, key: token}}}]",
			err:  `variable T: secrets "none" not found`,
		},
		"a key that is not there": {
			spec: "env: [{name: T, valueFrom: {secretKeyRef: {name: cloud, key: none}}}]",
			err:  `variable T: couldn't find key none in secret "cloud"`,
		},
		"a field that there is not": {
			spec: "env: [{name: T, valueFrom: {fieldRef: {fieldPath: spec.hostname}}}]",
			err:  "variable T: unsupported fieldPath: spec.hostname",
		},
	} {
		t.Run(name, func(t *testing.T) {
			container := corev1.Container{}
			require.NoError(t, yaml.Unmarshal([]byte(test.spec), &container))
			container.Resources = memory
			env, err := Environment(t.Context(), client, pod, container)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			want := map[string]string{}
			require.NoError(t, yaml.Unmarshal([]byte(test.want), &want))
			require.Equal(t, want, env)
		})
	}
}
