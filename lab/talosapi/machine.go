// Package talosapi serves the API of Talos for a node of the lab: who may call
// what, where calls go, and what is answered.
package talosapi

import (
	"context"
	"io"
	"net/netip"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"google.golang.org/protobuf/proto"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// Machine is the node behind the API: the facts that the API reports, and the
// changes that it may ask for. The rules of asking are this package's.
type Machine interface {
	// Host is the lab's name of it.
	Host() string
	// Version is of the Talos that runs, such as "1.13.8"; Platform as "hcloud".
	Version() string
	Platform() string
	// Resources are the COSI resources, without any policy.
	Resources() state.State
	// Maintenance says that it runs without a config. Installed says that Talos
	// is on its disk.
	Maintenance() bool
	Installed() bool
	// Config is the one that is in force, or nil.
	Config() config.Provider
	// Etcd is nil on a node that is no control plane.
	Etcd() cluster.Etcd

	// SetConfig takes a config that was found valid. Now puts it in force
	// without a reboot; in maintenance that starts install or boot. Else it is
	// kept on disk for the next boot. RevertAfter, if not zero, brings back the
	// config before it when nothing else was set by then.
	SetConfig(cfg config.Provider, now bool, revertAfter time.Duration) error
	// Bootstrap makes it the first member of its etcd. Errors are gRPC statuses.
	Bootstrap(ctx context.Context) error
	// Reboot, Shutdown, Reset and Upgrade start a sequence, or refuse because
	// another one runs. They return before it begins. Actor is the ActorID of
	// the events of that sequence: clients follow theirs by it.
	Reboot(actor string, force bool) error
	Shutdown(actor string, force bool) error
	Reset(actor string, reset ResetRequest) error
	Upgrade(actor, image string, stage, force bool) error
	// Install writes the Talos of an installer image to the disk, for the next
	// boot, and returns when that is done. Progress takes the installer's lines.
	Install(ctx context.Context, image string, progress func(line string) error) error

	// Images lists what was pulled in a namespace of containerd, "system" or
	// "k8s.io"; Pull pulls one and returns when it is there.
	Images(namespace string) []Image
	Pull(ctx context.Context, namespace, reference string) (Image, error)

	Services() []*machine.ServiceInfo
	// ServiceAction is start, stop or restart.
	ServiceAction(id, action string) error
	// Containers lists what runs in a namespace of containerd: "system" or
	// "k8s.io".
	Containers(namespace string) []*machine.ContainerInfo
	// Log is the log of a service or of a container, and Kernel the kernel's;
	// lines come until the context ends, or all there are when not following.
	Log(ctx context.Context, id string, follow bool, tail int, line func([]byte) error) error
	Kernel(ctx context.Context, follow bool, line func([]byte) error) error
	// Events calls for past events, as many as tail says or all for -1, and for
	// new ones until the context ends.
	Events(ctx context.Context, tail int, event func(Event) error) error
	// ReadFile gives the few files that clients read, such as the boot id.
	ReadFile(path string) (io.ReadCloser, error)
	Booted() time.Time
	MemoryMiB() int
	CPUs() int

	// Addresses are those that are up; Hostname is "" until it is known.
	Addresses() []netip.Addr
	Hostname() string
	// Meta reads and writes the META partition.
	Meta() map[uint8]string
	SetMeta(key uint8, value *string)
}

// ResetRequest is what a reset does.
type ResetRequest struct {
	Graceful, Reboot bool
	// WipeSystem is all of the system disk; else the partitions by label, STATE
	// or EPHEMERAL. With neither nothing of the system is wiped.
	WipeSystem bool
	Partitions []string
}

// Image is a container image on the node. Name is the reference that it was
// pulled by; Digest is as in sha256:...
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
