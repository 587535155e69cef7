package container

import (
	"context"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// Files returns those of the Secrets and ConfigMaps that are mounted in a container, by path in it. An error keeps the pod from starting.
func Files(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, container corev1.Container) (map[string][]byte, error) {
	read := objects{client: client, namespace: pod.Namespace}
	files := map[string][]byte{}
	for _, mount := range container.VolumeMounts {
		values, err := read.volume(ctx, pod, mount.Name)
		if err != nil {
			return nil, fmt.Errorf("MountVolume.SetUp failed for volume %q: %w", mount.Name, err)
		}
		for name, value := range values {
			switch mount.SubPath {
			case "":
				files[path.Join(mount.MountPath, name)] = []byte(value)
			case name:
				files[path.Clean(mount.MountPath)] = []byte(value)
			}
		}
	}
	return files, nil
}

// volume returns the files of a volume of the pod; other kinds than Secret and ConfigMap have none here.
func (o objects) volume(ctx context.Context, pod *corev1.Pod, name string) (map[string]string, error) {
	for _, volume := range pod.Spec.Volumes {
		if volume.Name != name {
			continue
		}
		switch {
		case volume.Secret != nil:
			values, err := o.secret(ctx, volume.Secret.SecretName, volume.Secret.Optional)
			return named(values, volume.Secret.Items), err
		case volume.ConfigMap != nil:
			values, err := o.configMap(ctx, volume.ConfigMap.Name, volume.ConfigMap.Optional)
			return named(values, volume.ConfigMap.Items), err
		}
	}
	return nil, nil
}

// named returns the values by file name: only those that are listed, if any are.
func named(values map[string]string, items []corev1.KeyToPath) map[string]string {
	if len(items) == 0 {
		return values
	}
	picked := map[string]string{}
	for _, item := range items {
		if value, has := values[item.Key]; has {
			picked[item.Path] = value
		}
	}
	return picked
}
