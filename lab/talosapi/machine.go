// Package talosapi serves the API of Talos for a node of the lab: who may call what, where calls go, and their answers.
package talosapi

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"google.golang.org/protobuf/proto"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// Machine is a machine with Talos, as the API uses it: an interface for each group of calls.
type Machine interface {
	Identity
	Configuration
	Sequences
	Images
	ServiceControl
	Records
}

// Identity is the identity and location of a machine.
type Identity interface {
	// Host is the lab's name of it.
	Host() string
	// Version is that of the running Talos, such as "1.13.8"; Platform is Talos' name of the platform, such as "hcloud".
	Version() string
	Platform() string
	// Installed means that Talos is on its disk.
	Installed() bool
	Booted() time.Time
	// Now is the time by its clock, which may be wrong.
	Now() time.Time
	MemoryMiB() int
	CPUs() int
	// Addresses are those that are up. Hostname is empty until it is known.
	Addresses() []netip.Addr
	Hostname() string
	// Resources are the COSI resources, without any policy.
	Resources() state.State
}

// Configuration is the config of a machine and its META and etcd.
type Configuration interface {
	// Maintenance means that it runs without a config.
	Maintenance() bool
	// Config is the one in force, or nil.
	Config() config.Provider
	// SetConfig sets a validated config. With Now it takes effect without a reboot; in maintenance that starts the installation or the boot. Otherwise it is
	// kept on disk for the next boot. RevertAfter, if not zero, restores the previous config unless another one was set by then.
	SetConfig(cfg config.Provider, now bool, revertAfter time.Duration) error
	// Mounted means that EPHEMERAL is mounted at /var.
	Mounted() bool
	// Meta reads and SetMeta writes the META partition.
	Meta() map[uint8]string
	SetMeta(key uint8, value *string)
	// Bootstrap makes it the first member of its etcd. Errors are gRPC statuses.
	Bootstrap(ctx context.Context, request BootstrapRequest) error
	// Etcd is nil on a node that is not a control plane.
	Etcd() cluster.Etcd
}

// Sequences start a sequence, or refuse because another one runs. They return before it starts. Actor is the ActorID of the sequence's events, by which
// clients follow it.
type Sequences interface {
	Reboot(actor string, force bool) error
	Shutdown(actor string, force bool) error
	Reset(actor string, reset ResetRequest) error
	Upgrade(actor, image string, stage, force bool) error
	// Rollback makes the former Talos on the disk the one that boots next, and reports whether there is one.
	Rollback() bool
}

// Images are the images of a machine. Namespaces are those of containerd: "system" and "k8s.io".
type Images interface {
	// Images lists the pulled images; Pull pulls an image and returns when it is complete, or ErrNoImage if there is none. Progress receives how many of its
	// bytes there are.
	Images(namespace string) []Image
	Pull(ctx context.Context, namespace, reference string, progress func(done, total int64)) (Image, error)
	// Install writes the Talos of an installer image to the disk, for the next boot, and returns when that is done. Progress receives the lines of the
	// installer.
	Install(image string, progress func(line string)) error
}

// ErrNoImage means that the registry has no such image.
var ErrNoImage = errors.New("not found")

// ServiceControl is the services of a machine.
type ServiceControl interface {
	Services() []*machine.ServiceInfo
	// ServiceAction is start, stop or restart.
	ServiceAction(id, action string) error
	// Containers lists what runs in a namespace of containerd.
	Containers(namespace string) []*machine.ContainerInfo
}

// Records are the logs and events of a machine.
type Records interface {
	// Log is the log of a service or of a container, and Kernel that of the kernel. Lines arrive until the context ends or, without follow, until all existing
	// ones were sent.
	Log(ctx context.Context, id string, follow bool, tail int, line func([]byte) error) error
	Kernel(ctx context.Context, follow bool, line func([]byte) error) error
	// Events calls the function for past events (the number in tail, or all for -1), and for new ones until the context ends.
	Events(ctx context.Context, tail int, event func(Event) error) error
	// ReadFile reads the few files that clients read, such as the boot id.
	ReadFile(path string) (io.ReadCloser, error)
	// Say writes a line to the log of machined.
	Say(line string)
}

// BootstrapRequest defines with what etcd begins: with nothing, or with the snapshot that was uploaded before.
type BootstrapRequest struct {
	Recover, SkipHashCheck bool
}

// ResetRequest defines what a reset does.
type ResetRequest struct {
	Graceful, Reboot bool
	// WipeSystem means the complete system disk; otherwise the partitions by label, STATE or EPHEMERAL. With neither nothing of the system is wiped.
	WipeSystem bool
	Partitions []string
}

// Image is a container image on the node. Name is the reference by which it was pulled; Digest has the form sha256:...
type Image struct {
	Name, Digest string
	Bytes        int64
	Created      time.Time
}

// Event is one of Talos' events.
type Event struct {
	ID, ActorID string
	Payload     proto.Message
}
