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

	"github.com/cosi-project/runtime/pkg/state"
	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/meta"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/kubernetes"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/service"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// identity is the identity of a node (talosapi.Identity).
type identity struct{ of *node }

// Host implements talosapi.Identity, like all methods that follow.
func (i *identity) Host() string            { return i.of.boot.Host() }
func (i *identity) Version() string         { return i.of.boot.Image.Talos }
func (i *identity) Platform() string        { return i.of.boot.Platform() }
func (i *identity) Resources() state.State  { return i.of.boot.State }
func (i *identity) Booted() time.Time       { return i.of.boot.Began }
func (i *identity) Now() time.Time          { return i.of.boot.Now() }
func (i *identity) CPUs() int               { return i.of.boot.Spec.CPUs }
func (i *identity) MemoryMiB() int          { return i.of.boot.Spec.MemoryMiB }
func (i *identity) Addresses() []netip.Addr { return i.of.network.Addresses() }
func (i *identity) Hostname() string        { return i.of.network.Hostname() }

func (i *identity) Installed() bool {
	installed, _, _ := i.of.boot.Disk.Read()
	return installed != nil
}

// configuration is the config of a node, META and etcd (talosapi.Configuration).
type configuration struct{ of *node }

// Maintenance implements talosapi.Configuration, like all methods that follow.
func (c *configuration) Maintenance() bool       { return c.of.configs.Maintenance() }
func (c *configuration) Config() config.Provider { return c.of.configs.Config() }
func (c *configuration) Meta() map[uint8]string  { return c.of.boot.Disk.Meta() }

func (c *configuration) SetConfig(cfg config.Provider, now bool, revertAfter time.Duration) error {
	return c.of.configs.Set(cfg, now, revertAfter)
}

func (c *configuration) SetMeta(key uint8, value *string) {
	err := c.of.hardware.SetMeta(key, value)
	if err == nil && key == meta.MetalNetworkPlatformConfig {
		err = c.of.network.ShowPlatform()
	}
	if err != nil {
		c.of.boot.Logs.Talos("META key %#x: %v", key, err)
	}
}

func (c *configuration) Mounted() bool { return c.of.hardware.Mounted() }

func (c *configuration) Bootstrap(ctx context.Context, request talosapi.BootstrapRequest) error {
	return c.of.etcd.Bootstrap(ctx, request)
}

func (c *configuration) Etcd() cluster.Etcd {
	if c.of.configs.MachineType().IsControlPlane() {
		return c.of.boot.Kubernetes
	}
	return nil
}

// serviceControl is the services of a node and their containers
// (talosapi.ServiceControl).
type serviceControl struct{ of *node }

// Services implements talosapi.ServiceControl, like all methods that follow.
func (s *serviceControl) Services() []*machineapi.ServiceInfo { return s.of.services.List() }

func (s *serviceControl) ServiceAction(id, action string) error {
	n := s.of
	if !slices.Contains(n.services.IDs(), id) {
		return fmt.Errorf("service %q is not registered", id)
	}
	running := n.services.IsRunning(id)
	if action == "restart" && !running {
		action = "start"
	}
	if running == (action == "start") {
		return nil // it is so already
	}
	// Only these can be started by others than Talos itself, and a kubelet cannot be stopped.
	if isExtension := strings.HasPrefix(id, "ext-"); !isExtension && (id != "kubelet" || action == "stop") {
		return fmt.Errorf("service %q doesn't support %s operation via API", id, action)
	}
	stop, start := action != "start", action != "stop"
	n.boot.Spawn(func(ctx context.Context) {
		if stop && n.services.Stop(ctx, id) != nil {
			return
		}
		if start {
			n.services.Start(id)
		}
	})
	return nil
}

func (s *serviceControl) Containers(namespace string) []*machineapi.ContainerInfo {
	n := s.of
	containers := []*machineapi.ContainerInfo{}
	for _, id := range n.services.IDs() {
		in := "system"
		if id == "kubelet" || id == "etcd" {
			in = kubernetes.Namespace
		}
		if in != namespace || !n.serviceKind(id).Container || !n.services.IsUp(id) {
			continue
		}
		containers = append(containers, &machineapi.ContainerInfo{
			Namespace: namespace, Id: id, Image: n.configs.ServiceImage(id), Pid: uint32(service.PID(n.boot.Host(), id)), Status: "RUNNING", PodId: id, Name: id,
		})
	}
	if namespace == kubernetes.Namespace {
		containers = append(containers, n.controlPlane.Containers()...)
	}
	return containers
}

// records are the logs of a boot, and the files that clients read (talosapi.Records).
type records struct{ of *node }

// Log implements talosapi.Records, like all methods that follow.
func (r *records) Log(ctx context.Context, id string, follow bool, tail int, line func([]byte) error) error {
	if strings.Contains(id, "/") {
		return each(last(r.of.controlPlane.Log(id), tail), line)
	}
	log, known := r.of.boot.Logs.Known(id)
	if !known {
		if !slices.Contains(r.of.services.IDs(), id) {
			return status.Errorf(codes.NotFound, "log %q was not registered", id)
		}
		log = r.of.boot.Logs.Service(id)
	}
	return log.Read(ctx, r.of.boot.Ctx.Done(), follow, tail, line)
}

// last returns the last lines, or all for -1.
func last(lines []string, tail int) []string {
	if tail < 0 || tail > len(lines) {
		return lines
	}
	return lines[len(lines)-tail:]
}

func each(lines []string, call func([]byte) error) error {
	for _, line := range lines {
		if err := call([]byte(line)); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) Kernel(ctx context.Context, follow bool, line func([]byte) error) error {
	return r.of.boot.Logs.Kernel.Read(ctx, r.of.boot.Ctx.Done(), follow, -1, line)
}

func (r *records) Events(ctx context.Context, tail int, event func(talosapi.Event) error) error {
	return r.of.boot.Events.Each(ctx, tail, func(e talosruntime.Event) error {
		return event(talosapi.Event{ID: e.ID.String(), ActorID: e.ActorID, Payload: e.Payload})
	})
}

func (r *records) Say(line string) { r.of.boot.Logs.Talos("%s", line) }

func (r *records) ReadFile(path string) (io.ReadCloser, error) {
	this := r.of.boot
	if strings.HasPrefix(path, constants.KubernetesAuditLogDir+"/") {
		return this.Kubernetes.AuditLog(this.Host(), path)
	}
	contents := map[string]string{
		"/proc/sys/kernel/random/boot_id": this.ID + "\n",
		"/proc/cmdline":                   this.CommandLine() + "\n",
		"/proc/version":                   fmt.Sprintf("Linux version %s (talos) #1 SMP PREEMPT_DYNAMIC\n", this.Kernel()),
		"/proc/uptime":                    fmt.Sprintf("%.2f 0.00\n", time.Since(this.Began).Seconds()),
		"/etc/os-release": fmt.Sprintf("NAME=\"Talos\"\nID=talos\nVERSION_ID=v%s\nPRETTY_NAME=\"Talos (v%[1]s)\"\nHOME_URL=\"https://www.talos.dev/\"\n",
			this.Image.Talos),
	}
	content, known := contents[path]
	if !known {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return io.NopCloser(bytes.NewReader([]byte(content))), nil
}
