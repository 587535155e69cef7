package kubernetes

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/go-kubernetes/kubernetes/compatibility"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"sigs.k8s.io/yaml"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// files are the files that Talos writes for static pods to mount, by path.
type files struct {
	mu     sync.Mutex
	byPath map[string][]byte
}

func newFiles() *files { return &files{byPath: map[string][]byte{}} }

func (f *files) write(all map[string][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.byPath, all)
}

func (f *files) all() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.byPath)
}

// secretsController writes the certificates and keys of the control plane.
func (p *ControlPlane) secretsController() controller.Controller {
	return &resources.Simulated{
		Real: "k8s.RenderSecretsStaticPodController",
		Reads: []controller.Input{
			resources.Reads(secrets.NamespaceName, secrets.KubernetesRootType), resources.Reads(secrets.NamespaceName, secrets.EtcdRootType),
			resources.Reads(secrets.NamespaceName, secrets.KubernetesType), resources.Reads(secrets.NamespaceName, secrets.KubernetesDynamicCertsType),
			resources.Reads(secrets.NamespaceName, secrets.EtcdType),
		},
		Writes: []controller.Output{resources.Writes(k8s.SecretsStatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			found, version, err := secretFiles(ctx, r)
			if state.IsNotFoundError(err) {
				return nil
			}
			if err != nil {
				return err
			}
			p.files.write(found)
			return safe.WriterModify(ctx, r, k8s.NewSecretsStatus(k8s.ControlPlaneNamespaceName, k8s.StaticPodSecretsStaticPodID), func(status *k8s.SecretsStatus) error {
				status.TypedSpec().Ready, status.TypedSpec().Version = true, version
				return nil
			})
		},
	}
}

func secretFiles(ctx context.Context, r controller.Reader) (map[string][]byte, string, error) {
	root, err := safe.ReaderGetByID[*secrets.KubernetesRoot](ctx, r, secrets.KubernetesRootID)
	if err != nil {
		return nil, "", err
	}
	etcdRoot, err := safe.ReaderGetByID[*secrets.EtcdRoot](ctx, r, secrets.EtcdRootID)
	if err != nil {
		return nil, "", err
	}
	kubernetes, err := safe.ReaderGetByID[*secrets.Kubernetes](ctx, r, secrets.KubernetesID)
	if err != nil {
		return nil, "", err
	}
	dynamic, err := safe.ReaderGetByID[*secrets.KubernetesDynamicCerts](ctx, r, secrets.KubernetesDynamicCertsID)
	if err != nil {
		return nil, "", err
	}
	etcd, err := safe.ReaderGetByID[*secrets.Etcd](ctx, r, secrets.EtcdID)
	if err != nil {
		return nil, "", err
	}
	serviceAccount, err := root.TypedSpec().ServiceAccount.GetKey()
	if err != nil {
		return nil, "", fmt.Errorf("error parsing service account key: %w", err)
	}
	encryption, err := encryptionConfig(root.TypedSpec())
	if err != nil {
		return nil, "", err
	}
	var accepted [][]byte
	for _, ca := range root.TypedSpec().AcceptedCAs {
		accepted = append(accepted, ca.Crt)
	}
	certs, client := dynamic.TypedSpec(), etcd.TypedSpec().EtcdAPIServer
	all := map[string][]byte{}
	in := func(dir string, contents map[string][]byte) {
		for name, content := range contents {
			all[path.Join(dir, name)] = content
		}
	}
	in(constants.KubernetesAPIServerSecretsDir, map[string][]byte{
		"etcd-client-ca.crt": etcdRoot.TypedSpec().EtcdCA.Crt,
		"etcd-client.crt":    client.Crt, "etcd-client.key": client.Key,
		"ca.crt":        bytes.Join(accepted, nil),
		"apiserver.crt": certs.APIServer.Crt, "apiserver.key": certs.APIServer.Key,
		"apiserver-kubelet-client.crt": certs.APIServerKubeletClient.Crt, "apiserver-kubelet-client.key": certs.APIServerKubeletClient.Key,
		"service-account.pub": serviceAccount.GetPublicKeyPEM(), "service-account.key": serviceAccount.GetPrivateKeyPEM(),
		"aggregator-ca.crt":      root.TypedSpec().AggregatorCA.Crt,
		"front-proxy-client.crt": certs.FrontProxy.Crt, "front-proxy-client.key": certs.FrontProxy.Key,
		"encryptionconfig.yaml": encryption,
	})
	in(constants.KubernetesControllerManagerSecretsDir, map[string][]byte{
		"ca.crt": root.TypedSpec().IssuingCA.Crt, "ca.key": root.TypedSpec().IssuingCA.Key,
		"service-account.key": serviceAccount.GetPrivateKeyPEM(),
		"kubeconfig":          []byte(kubernetes.TypedSpec().ControllerManagerKubeconfig),
	})
	in(constants.KubernetesSchedulerSecretsDir, map[string][]byte{"kubeconfig": []byte(kubernetes.TypedSpec().SchedulerKubeconfig)})
	return all, kubernetes.Metadata().Version().String(), nil
}

// encryptionConfig defines how the API server encrypts Secrets in etcd.
func encryptionConfig(root *secrets.KubernetesRootSpec) ([]byte, error) {
	type object = map[string]any
	var providers []object
	for _, known := range []struct{ provider, key, secret string }{
		{"secretbox", "key2", root.SecretboxEncryptionSecret},
		{"aescbc", "key1", root.AESCBCEncryptionSecret},
	} {
		if known.secret != "" {
			providers = append(providers, object{known.provider: object{"keys": []object{{"name": known.key, "secret": known.secret}}}})
		}
	}
	return yaml.Marshal(object{
		"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration",
		"resources": []object{{"resources": []string{"secrets"}, "providers": append(providers, object{"identity": object{}})}},
	})
}

// configsController writes the configuration files of the control plane.
func (p *ControlPlane) configsController() controller.Controller {
	return &resources.Simulated{
		Real: "k8s.RenderConfigsStaticPodController",
		Reads: []controller.Input{
			resources.Reads(k8s.ControlPlaneNamespaceName, k8s.AdmissionControlConfigType), resources.Reads(k8s.ControlPlaneNamespaceName, k8s.AuditPolicyConfigType),
			resources.Reads(k8s.ControlPlaneNamespaceName, k8s.AuthorizationConfigType), resources.Reads(k8s.ControlPlaneNamespaceName, k8s.SchedulerConfigType),
		},
		Writes: []controller.Output{resources.Writes(k8s.ConfigStatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			found, version, err := configFiles(ctx, r)
			if state.IsNotFoundError(err) {
				return nil
			}
			if err != nil {
				return err
			}
			p.files.write(found)
			return safe.WriterModify(ctx, r, k8s.NewConfigStatus(k8s.ControlPlaneNamespaceName, k8s.ConfigStatusStaticPodID), func(status *k8s.ConfigStatus) error {
				status.TypedSpec().Ready, status.TypedSpec().Version = true, version
				return nil
			})
		},
	}
}

func configFiles(ctx context.Context, r controller.Reader) (map[string][]byte, string, error) {
	admission, err := safe.ReaderGetByID[*k8s.AdmissionControlConfig](ctx, r, k8s.AdmissionControlConfigID)
	if err != nil {
		return nil, "", err
	}
	audit, err := safe.ReaderGetByID[*k8s.AuditPolicyConfig](ctx, r, k8s.AuditPolicyConfigID)
	if err != nil {
		return nil, "", err
	}
	authorization, err := safe.ReaderGetByID[*k8s.AuthorizationConfig](ctx, r, k8s.AuthorizationConfigID)
	if err != nil {
		return nil, "", err
	}
	scheduler, err := safe.ReaderGetByID[*k8s.SchedulerConfig](ctx, r, k8s.SchedulerConfigID)
	if err != nil {
		return nil, "", err
	}
	type object = map[string]any
	plugins := []object{}
	for _, plugin := range admission.TypedSpec().Config {
		plugins = append(plugins, object{"name": plugin.Name, "configuration": plugin.Configuration})
	}
	authorizers := []object{}
	for _, authorizer := range authorization.TypedSpec().Config {
		one := object{"name": authorizer.Name, "type": authorizer.Type}
		if authorizer.Webhook != nil {
			one["webhook"] = authorizer.Webhook
		}
		authorizers = append(authorizers, one)
	}
	scheduling := maps.Clone(scheduler.TypedSpec().Config)
	if scheduling == nil {
		scheduling = object{}
	}
	scheduling["apiVersion"], scheduling["kind"] = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"
	connection, _ := scheduling["clientConnection"].(object)
	if connection = maps.Clone(connection); connection == nil {
		connection = object{}
	}
	connection["kubeconfig"] = path.Join(constants.KubernetesSchedulerSecretsDir, "kubeconfig")
	scheduling["clientConnection"] = connection
	version := compatibility.VersionFromImageRef(authorization.TypedSpec().Image)
	all := map[string][]byte{}
	for name, content := range map[string]any{
		path.Join(constants.KubernetesAPIServerConfigDir, "admission-control-config.yaml"): object{
			"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins,
		},
		path.Join(constants.KubernetesAPIServerConfigDir, "auditpolicy.yaml"): audit.TypedSpec().Config,
		path.Join(constants.KubernetesAPIServerConfigDir, "authorization-config.yaml"): object{
			"apiVersion": version.KubeAPIServerAuthorizationConfigAPIVersion(), "kind": "AuthorizationConfiguration", "authorizers": authorizers,
		},
		path.Join(constants.KubernetesSchedulerConfigDir, "scheduler-config.yaml"): scheduling,
	} {
		data, err := yaml.Marshal(content)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		all[name] = data
	}
	versions := ""
	for _, of := range []interface{ String() string }{
		admission.Metadata().Version(), audit.Metadata().Version(), authorization.Metadata().Version(), scheduler.Metadata().Version(),
	} {
		versions += of.String()
	}
	return all, versions, nil
}
