package container

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Environment returns the environment that the kubelet gives a container. It reads Secrets and ConfigMaps with the kubelet's rights; an error keeps the
// container from being created.
func Environment(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, container corev1.Container) (map[string]string, error) {
	read := objects{client: client, namespace: pod.Namespace}
	env := map[string]string{}
	for _, source := range container.EnvFrom {
		values, err := read.all(ctx, source)
		if err != nil {
			return nil, err
		}
		for key, value := range values {
			env[source.Prefix+key] = value
		}
	}
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			env[variable.Name] = expand(variable.Value, env)
			continue
		}
		value, found, err := read.one(ctx, pod, container, variable.ValueFrom)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
		}
		if found {
			env[variable.Name] = value
		}
	}
	return env, nil
}

// objects reads the sources of variables in one namespace.
type objects struct {
	client    kubernetes.Interface
	namespace string
}

func (o objects) all(ctx context.Context, source corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case source.SecretRef != nil:
		return o.secret(ctx, source.SecretRef.Name, source.SecretRef.Optional)
	case source.ConfigMapRef != nil:
		return o.configMap(ctx, source.ConfigMapRef.Name, source.ConfigMapRef.Optional)
	default:
		return nil, nil
	}
}

func (o objects) one(ctx context.Context, pod *corev1.Pod, container corev1.Container, source *corev1.EnvVarSource) (value string, found bool, err error) {
	switch {
	case source.FieldRef != nil:
		value, err = field(pod, source.FieldRef.FieldPath)
		return value, err == nil, err
	case source.ResourceFieldRef != nil:
		value, err = limit(pod, container, source.ResourceFieldRef)
		return value, err == nil, err
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		values, err := o.secret(ctx, ref.Name, ref.Optional)
		return pick(values, "secret", ref.Name, ref.Key, ref.Optional, err)
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		values, err := o.configMap(ctx, ref.Name, ref.Optional)
		return pick(values, "configmap", ref.Name, ref.Key, ref.Optional, err)
	default:
		return "", false, fmt.Errorf("has a source that the lab does not simulate: %v", source)
	}
}

// pick finds a key, which may be missing if it is optional.
func pick(values map[string]string, kind, name, key string, optional *bool, err error) (string, bool, error) {
	if err != nil {
		return "", false, err
	}
	value, found := values[key]
	if !found && !isTrue(optional) {
		return "", false, fmt.Errorf("couldn't find key %s in %s %q", key, kind, name)
	}
	return value, found, nil
}

func (o objects) secret(ctx context.Context, name string, optional *bool) (map[string]string, error) {
	secret, err := o.client.CoreV1().Secrets(o.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unlessOptional(err, optional)
	}
	values := map[string]string{}
	for key, value := range secret.Data {
		values[key] = string(value)
	}
	return values, nil
}

func (o objects) configMap(ctx context.Context, name string, optional *bool) (map[string]string, error) {
	configMap, err := o.client.CoreV1().ConfigMaps(o.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unlessOptional(err, optional)
	}
	return configMap.Data, nil
}

func unlessOptional(err error, optional *bool) error {
	if isTrue(optional) && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func isTrue(value *bool) bool {
	return value != nil && *value
}

// subscripted is one label or annotation.
var subscripted = regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)

// field returns a field of the pod that a variable may come from.
func field(pod *corev1.Pod, path string) (string, error) {
	if parts := subscripted.FindStringSubmatch(path); parts != nil {
		if parts[1] == "labels" {
			return pod.Labels[parts[2]], nil
		}
		return pod.Annotations[parts[2]], nil
	}
	known := map[string]string{
		"metadata.name":           pod.Name,
		"metadata.namespace":      pod.Namespace,
		"metadata.uid":            string(pod.UID),
		"spec.nodeName":           pod.Spec.NodeName,
		"spec.serviceAccountName": pod.Spec.ServiceAccountName,
		"status.hostIP":           pod.Status.HostIP,
		"status.podIP":            pod.Status.PodIP,
	}
	value, found := known[path]
	if !found {
		return "", fmt.Errorf("unsupported fieldPath: %s", path)
	}
	return value, nil
}

// limit returns a request or limit of a container of the pod, in units of the
// divisor, rounded up.
func limit(pod *corev1.Pod, container corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	if ref.ContainerName != "" && ref.ContainerName != container.Name {
		for _, other := range pod.Spec.Containers {
			if other.Name == ref.ContainerName {
				container = other
			}
		}
	}
	amounts := map[string]*resource.Quantity{
		"limits.cpu":      container.Resources.Limits.Cpu(),
		"limits.memory":   container.Resources.Limits.Memory(),
		"requests.cpu":    container.Resources.Requests.Cpu(),
		"requests.memory": container.Resources.Requests.Memory(),
	}
	amount, found := amounts[ref.Resource]
	if !found {
		return "", fmt.Errorf("unsupported container resource: %s", ref.Resource)
	}
	divisor := max(ref.Divisor.MilliValue(), 0)
	if divisor == 0 {
		divisor = 1000
	}
	return strconv.FormatInt((amount.MilliValue()+divisor-1)/divisor, 10), nil
}
