package node

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/meta"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// Host implements talosapi.Machine, as all that follows.
func (n *node) Host() string           { return n.spec.Name }
func (n *node) Version() string        { return n.image.Talos }
func (n *node) Platform() string       { return n.spec.Platform }
func (n *node) Resources() state.State { return n.resources.State }
func (n *node) Booted() time.Time      { return n.booted }

// Maintenance says that no config is complete for boot yet.
func (n *node) Maintenance() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cfg == nil || !n.cfg.CompleteForBoot()
}

// Installed says that Talos is on the disk.
func (n *node) Installed() bool {
	installed, _, _ := n.disk.read()
	return installed != nil
}

// Config is the one in force, or nil.
func (n *node) Config() config.Provider {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cfg
}

// Etcd is nil but on a control plane.
func (n *node) Etcd() cluster.Etcd {
	if n.machineType().IsControlPlane() {
		return n.Kubernetes
	}
	return nil
}

// Services lists them by id.
func (n *node) Services() []*machineapi.ServiceInfo { return n.services.list() }

// ServiceAction starts, stops or restarts one of the services that allow it.
func (n *node) ServiceAction(id, action string) error {
	if !slices.Contains(n.services.ids(), id) {
		return fmt.Errorf("service %q is not registered", id)
	}
	stop, start := action != "start", action != "stop"
	if stop && !slices.Contains([]string{"kubelet", "cri", "etcd"}, id) && !strings.HasPrefix(id, "ext-") && (action == "stop" || !slices.Contains([]string{"trustd", "udevd"}, id)) {
		return fmt.Errorf("service %q doesn't support %s operation via API", id, action)
	}
	n.spawn(func(ctx context.Context) {
		if stop && n.services.stop(ctx, id) != nil {
			return
		}
		if start {
			n.services.start(id)
		}
	})
	return nil
}

// Containers are those of services, or those of static pods.
func (n *node) Containers(namespace string) []*machineapi.ContainerInfo {
	containers := []*machineapi.ContainerInfo{}
	for _, id := range n.services.ids() {
		kind := n.serviceKind(id)
		in := "system"
		if id == "kubelet" || id == "etcd" {
			in = "k8s.io"
		}
		if in != namespace || !kind.container || !n.services.isUp(id) {
			continue
		}
		containers = append(containers, &machineapi.ContainerInfo{
			Namespace: namespace, Id: id, Image: n.serviceImage(id), Pid: uint32(pid(n.Host(), id)), Status: "RUNNING", PodId: id, Name: id,
		})
	}
	if namespace != "k8s.io" {
		return containers
	}
	statuses, err := safe.StateListAll[*k8s.StaticPodStatus](n.ctx, n.resources.State)
	if err != nil {
		return containers
	}
	for pod := range statuses.All() {
		for _, container := range podContainers(pod) {
			container.Pid = uint32(pid(n.Host(), container.Id))
			containers = append(containers, container)
		}
	}
	return containers
}

// Log reads the log of a service.
func (n *node) Log(ctx context.Context, id string, follow bool, tail int, line func([]byte) error) error {
	journal := n.logs.known(id)
	if journal == nil {
		if !slices.Contains(n.services.ids(), id) {
			return status.Errorf(codes.NotFound, "log %q was not registered", id)
		}
		journal = n.logs.service(id)
	}
	return journal.read(ctx, n.ctx.Done(), follow, tail, line)
}

// Kernel reads the kernel's log.
func (n *node) Kernel(ctx context.Context, follow bool, line func([]byte) error) error {
	return n.logs.kernel.read(ctx, n.ctx.Done(), follow, -1, line)
}

// Events reads the events of this boot.
func (n *node) Events(ctx context.Context, tail int, event func(talosapi.Event) error) error {
	return n.events.each(ctx, tail, func(e talosruntime.Event) error {
		return event(talosapi.Event{ID: e.ID.String(), ActorID: e.ActorID, Payload: e.Payload})
	})
}

// ReadFile knows the few files that clients read.
func (n *node) ReadFile(path string) (io.ReadCloser, error) {
	contents := map[string]string{
		"/proc/sys/kernel/random/boot_id": n.bootID + "\n",
		"/proc/cmdline":                   n.cmdline() + "\n",
		"/proc/version":                   fmt.Sprintf("Linux version %s (talos) #1 SMP PREEMPT_DYNAMIC\n", n.kernelVersion()),
		"/proc/uptime":                    fmt.Sprintf("%.2f 0.00\n", time.Since(n.booted).Seconds()),
		"/etc/os-release": fmt.Sprintf("NAME=\"Talos\"\nID=talos\nVERSION_ID=v%s\nPRETTY_NAME=\"Talos (v%[1]s)\"\nHOME_URL=\"https://www.talos.dev/\"\n",
			n.image.Talos),
	}
	content, known := contents[path]
	if !known {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return io.NopCloser(bytes.NewReader([]byte(content))), nil
}

// Addresses are those that are up.
func (n *node) Addresses() []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.addresses)
}

// Hostname is "" until it is known.
func (n *node) Hostname() string {
	name, err := safe.StateGetByID[*network.HostnameStatus](n.ctx, n.resources.State, network.HostnameID)
	if err != nil {
		return ""
	}
	return name.TypedSpec().FQDN()
}

// Meta reads the META partition.
func (n *node) Meta() map[uint8]string { return n.disk.metaKeys() }

// SetMeta writes a key of it, or deletes it for nil.
func (n *node) SetMeta(key uint8, value *string) {
	const owner = "runtime.MetaController"
	n.disk.setMeta(key, value)
	var err error
	if value == nil {
		err = drop(n.ctx, n.resources.State, owner, runtimeresource.NewMetaKey(runtimeresource.NamespaceName, runtimeresource.MetaKeyTagToID(key)).Metadata())
	} else {
		err = n.putMeta(owner, key, *value)
	}
	if err == nil && key == meta.MetalNetworkPlatformConfig {
		err = n.showPlatform()
	}
	if err != nil {
		n.logs.talos("META key %#x: %v", key, err)
	}
}

// isResetting says that the node is being wiped.
func (n *node) isResetting() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sequence == talosruntime.SequenceReset
}
