package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
)

// kindOfService is what a service is, whether it runs or not.
type kindOfService struct {
	id    string
	host  string
	after []string // services that must be up before
	waits []string // what else it says it waits for
	// condition holds before prepare runs; run returns when the service does
	// its work, and end undoes it.
	condition    func(ctx context.Context) error
	prepare, run func(ctx context.Context) error
	end          func()
	// unchecked says that its health is not checked.
	unchecked bool
	process   string // its command line, when it is a process
	container bool
}

func (k kindOfService) waitsFor() string {
	var all []string
	for _, other := range k.after {
		all = append(all, fmt.Sprintf("service %q to be %q", other, "up"))
	}
	return strings.Join(append(all, k.waits...), ", ")
}

func (k kindOfService) startedMessage() string {
	number := pid(k.host, k.id)
	switch {
	case k.container:
		return fmt.Sprintf("Started task %s (PID %d) for container %s", k.id, number, k.id)
	case k.process != "":
		return fmt.Sprintf("Process %s started with PID %d", k.task(), number)
	default:
		return "Service started as goroutine"
	}
}

// task is how Talos calls what runs for the service.
func (k kindOfService) task() string {
	if k.process == "" {
		return fmt.Sprintf("task %s (PID %d, container %s)", k.id, pid(k.host, k.id), k.id)
	}
	words := strings.Fields(k.process)
	for i, word := range words {
		words[i] = fmt.Sprintf("%q", word)
	}
	return "Process([" + strings.Join(words, " ") + "])"
}

// serviceKind is what the service of that id is on this node.
func (n *node) serviceKind(id string) kindOfService {
	kind := kindOfService{id: id, host: n.Host()}
	switch id {
	case "machined", "auditd":
	case "syslogd":
		kind.after = []string{"machined"}
	case "udevd":
		kind.process = "/sbin/systemd-udevd --resolve-names=never"
	case "containerd":
		kind.process = "/bin/containerd --address /system/run/containerd/containerd.sock --state /system/run/containerd --root /system/var/lib/containerd"
	case "dashboard":
		kind.after, kind.process, kind.unchecked = []string{"machined"}, "/sbin/dashboard", true
	case "apid":
		kind.after, kind.waits, kind.container = []string{"containerd"}, []string{"api certificates"}, true
		kind.condition, kind.run, kind.end = n.apidReady, n.runAPI, func() { n.api.close(true) }
		if !n.version.earlyAPI() {
			kind.run = func(context.Context) error { return n.api.open(false) }
		}
	case "cri":
		kind.process = "/bin/containerd --address /run/containerd/containerd.sock --config /etc/cri/containerd.toml"
		kind.waits, kind.condition = []string{"network"}, n.networkReady
	case "trustd":
		kind.after, kind.waits, kind.container = []string{"containerd"}, []string{"time sync", "network"}, true
		kind.condition = all(n.timeSynced, n.networkReady)
		kind.run = func(ctx context.Context) error { return n.trust.join(ctx, n) }
		kind.end = func() { n.trust.leave(n) }
	case "etcd":
		kind.after, kind.waits, kind.container = []string{"cri"}, []string{"time sync", "network", "etcd spec"}, true
		kind.condition = all(n.timeSynced, n.networkReady, n.etcdSpecified)
		kind.prepare, kind.run = n.prepareEtcd, n.runEtcd
		kind.end = func() {
			n.shared.yield(n)
			n.Kubernetes.StopEtcd(n.Host())
		}
	case "kubelet":
		kind.after, kind.waits, kind.container = []string{"cri"}, []string{"time sync", "network"}, true
		kind.condition = all(n.timeSynced, n.networkReady, n.kubeletSpecified)
		kind.run, kind.end = n.runKubelet, n.endKubelet
		kind.prepare = func(ctx context.Context) error {
			_, err := n.Pull(ctx, kubernetesImages, n.serviceImage("kubelet"))
			return err
		}
	default: // an extension's
		kind.after, kind.waits, kind.container, kind.unchecked = []string{"containerd"}, []string{"network"}, true, true
		kind.condition = n.networkReady
	}
	return kind
}

// all holds when each of them does.
func all(conditions ...func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, condition := range conditions {
			if err := condition(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func (n *node) networkReady(ctx context.Context) error {
	return network.NewReadyCondition(n.resources.State, network.AddressReady, network.HostnameReady, network.EtcFilesReady).Wait(ctx)
}

func (n *node) timeSynced(ctx context.Context) error {
	return timeresource.NewSyncCondition(n.resources.State).Wait(ctx)
}

func (n *node) apidReady(ctx context.Context) error {
	if !n.version.earlyAPI() {
		return n.awaitAPISecrets(ctx, false)
	}
	if err := secrets.NewAPIReadyCondition(n.resources.State).Wait(ctx); err != nil {
		return err
	}
	return runtimeresource.NewAPIServiceConfigCondition(n.resources.State).Wait(ctx)
}
