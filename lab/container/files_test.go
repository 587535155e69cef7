package container

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

func TestTheFilesOfAContainer(t *testing.T) {
	client := fake.NewClientset(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cloud", Namespace: "ns"}, Data: map[string][]byte{"config.yaml": []byte("a"), "other": []byte("b")}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "ns"}, Data: map[string]string{"level": "info"}},
	)
	var spec corev1.PodSpec
	require.NoError(t, yaml.Unmarshal([]byte(`
volumes:
  - { name: all, secret: { secretName: cloud } }
  - { name: one, secret: { secretName: cloud, items: [{ key: other, path: its/name }] } }
  - { name: settings, configMap: { name: settings } }
  - { name: absent, secret: { secretName: absent, optional: true } }
  - { name: scratch, emptyDir: {} }
containers:
  - name: it
    volumeMounts:
      - { name: all, mountPath: /etc/all }
      - { name: one, mountPath: /etc/one/ }
      - { name: settings, mountPath: /etc/level, subPath: level }
      - { name: absent, mountPath: /etc/absent }
      - { name: scratch, mountPath: /tmp }
`), &spec))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ns"}, Spec: spec}
	files, err := Files(t.Context(), client, pod, spec.Containers[0])
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{
		"/etc/all/config.yaml": []byte("a"), "/etc/all/other": []byte("b"), "/etc/one/its/name": []byte("b"), "/etc/level": []byte("info"),
	}, files)

	pod.Spec.Volumes[3].Secret.Optional = nil
	_, err = Files(t.Context(), client, pod, spec.Containers[0])
	require.EqualError(t, err, `MountVolume.SetUp failed for volume "absent": secrets "absent" not found`)
}
