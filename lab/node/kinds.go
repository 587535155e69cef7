package node

import (
	"context"

	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/service"
)

// serviceKind returns the kind of the service with an id on this node.
func (n *node) serviceKind(id string) service.Kind {
	switch id {
	case "machined", "auditd":
		return service.Kind{}
	case "syslogd":
		return service.Kind{After: []string{"machined"}}
	case "udevd":
		return service.Kind{Process: "/sbin/systemd-udevd --resolve-names=never"}
	case "containerd":
		return service.Kind{
			Process: "/bin/containerd --address /system/run/containerd/containerd.sock --state /system/run/containerd --root /system/var/lib/containerd",
		}
	case "dashboard":
		return service.Kind{After: []string{"machined"}, Process: "/sbin/dashboard", Unchecked: true}
	case "apid":
		return n.apid()
	case "cri":
		return service.Kind{
			Process: "/bin/containerd --address /run/containerd/containerd.sock --config /etc/cri/containerd.toml",
			Waits:   []string{"network"}, Condition: n.network.Ready,
		}
	case "trustd":
		return service.Kind{
			After: []string{"containerd"}, Waits: []string{"time sync", "network"}, Container: true,
			Condition: all(n.network.TimeSynced, n.network.Ready), Run: n.trust.Join, End: n.trust.Leave,
		}
	case "etcd":
		return service.Kind{
			After: []string{"cri"}, Waits: []string{"time sync", "network", "etcd spec"}, Container: true,
			Condition: all(n.network.TimeSynced, n.network.Ready, n.etcd.Specified),
			Prepare:   n.etcd.Prepare, Run: n.etcd.Run, End: n.etcd.Stop,
		}
	case "kubelet":
		return service.Kind{
			After: []string{"cri"}, Waits: []string{"time sync", "network"}, Container: true,
			Condition: all(n.network.TimeSynced, n.network.Ready, n.kubelet.Specified),
			Prepare: func(ctx context.Context) error {
				return n.PullForService(ctx, n.configs.ServiceImage("kubelet"))
			},
			Run: n.kubelet.Run, End: n.kubelet.End,
		}
	default: // that of an extension
		return service.Kind{
			After: []string{"containerd"}, Waits: []string{"network"}, Container: true, Unchecked: true, Condition: n.network.Ready,
		}
	}
}

// apid serves the API: in Talos 1.13 what the real controller has decided, in earlier versions the full API once its certificate exists.
func (n *node) apid() service.Kind {
	kind := service.Kind{
		After: []string{"containerd"}, Waits: []string{"api certificates"}, Container: true,
		End: func() { n.api.close(true) },
	}
	if n.boot.Version.EarlyAPI() {
		kind.Condition = all(secrets.NewAPIReadyCondition(n.boot.State).Wait, runtime.NewAPIServiceConfigCondition(n.boot.State).Wait)
		kind.Run = n.api.runDecided
	} else {
		kind.Condition = func(ctx context.Context) error { return n.trust.AwaitCertificate(ctx, false) }
		kind.Run = func(context.Context) error { return n.api.open(false) }
	}
	return kind
}

// all is met when each condition is.
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

// extensionServices returns those of the image's extensions.
func (n *node) extensionServices() []string {
	var ids []string
	for _, extension := range n.boot.Extensions() {
		if extension.Service != "" {
			ids = append(ids, "ext-"+extension.Service)
		}
	}
	return ids
}
