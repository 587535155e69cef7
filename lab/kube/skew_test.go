package kube

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/version"
)

func TestSkews(t *testing.T) {
	controlPlane := func(server, others, kubelet string) versions {
		parse := version.MustParseSemantic
		return versions{server: parse(server), manager: parse(others), scheduler: parse(others), kubelet: parse(kubelet)}
	}
	worker := func(kubelet string) versions { return versions{kubelet: version.MustParseSemantic(kubelet)} }
	for name, test := range map[string]struct {
		nodes map[string]versions
		want  [][2]string
	}{
		"one version": {nodes: map[string]versions{"cp-1": controlPlane("1.35.1", "1.35.1", "1.35.1"), "w-1": worker("1.35.1")}},
		"in the midst of an upgrade": {nodes: map[string]versions{
			"cp-1": controlPlane("1.36.0", "1.36.0", "1.35.1"), "cp-2": controlPlane("1.36.0", "1.35.1", "1.35.1"), "cp-3": controlPlane("1.35.1", "1.35.1", "1.35.1"),
			"w-1": worker("1.33.0"),
		}},
		"another patch release": {nodes: map[string]versions{"cp-1": controlPlane("1.35.1", "1.35.2", "1.35.9")}},
		"a kubelet before an API server": {
			nodes: map[string]versions{"cp-1": controlPlane("1.36.0", "1.36.0", "1.35.1"), "cp-2": controlPlane("1.35.1", "1.35.1", "1.35.1"), "w-1": worker("1.36.0")},
			want:  [][2]string{{"w-1", "kubelet v1.36.0 is newer than the API server of cp-2, v1.35.1"}},
		},
		"others before their API server": {
			nodes: map[string]versions{"cp-1": controlPlane("1.35.1", "1.36.0", "1.35.1")},
			want: [][2]string{
				{"cp-1", "kube-controller-manager v1.36.0 is newer than the API server of cp-1, v1.35.1"},
				{"cp-1", "kube-scheduler v1.36.0 is newer than the API server of cp-1, v1.35.1"},
			},
		},
		"two minor releases at once": {
			nodes: map[string]versions{"cp-1": controlPlane("1.36.0", "1.35.0", "1.33.0"), "cp-2": controlPlane("1.34.0", "1.34.0", "1.32.0")},
			want: [][2]string{
				{"cp-1", "kube-apiserver v1.36.0 is too new for that of cp-2, v1.34.0"},
				{"cp-2", "kubelet v1.32.0 is too old for the API server of cp-1, v1.36.0"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, skews(test.nodes)) })
	}
}
