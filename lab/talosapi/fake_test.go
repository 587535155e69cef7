package talosapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/rs/xid"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// fake is a machine that does at once what it is asked to, and records it.
type fake struct {
	host, version, platform string
	addresses               []netip.Addr
	resources               state.State
	installed, unmounted    bool
	files                   map[string]string
	skew                    time.Duration
	images                  []Image
	logs                    map[string][]string
	kernel                  []string
	etcd                    *fakeEtcd
	// onConfig is called while a config is being set, unless it is nil.
	onConfig func()
	// onInstall is called while an installer runs, unless it is nil.
	onInstall func() error
	// onReboot is called at a reboot, unless it is nil.
	onReboot func(actor string)
	// watched receives, unless it is nil, when a call starts to watch the events.
	watched chan struct{}

	mu     sync.Mutex
	config config.Provider
	asked  []string
	said   []string
	meta   map[uint8]string
	events []Event
	more   chan struct{}
}

var _ Machine = (*fake)(nil)

func (f *fake) ask(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
}

func (f *fake) wasAsked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

func (f *fake) Host() string             { return f.host }
func (f *fake) Version() string          { return f.version }
func (f *fake) Platform() string         { return f.platform }
func (f *fake) Resources() state.State   { return f.resources }
func (f *fake) Maintenance() bool        { return f.Config() == nil }
func (f *fake) Installed() bool          { return f.installed }
func (f *fake) Addresses() []netip.Addr  { return f.addresses }
func (f *fake) Hostname() string         { return f.host }
func (f *fake) Booted() time.Time        { return time.Unix(1_700_000_000, 0) }
func (f *fake) Now() time.Time           { return time.Now().Add(f.skew) }
func (f *fake) MemoryMiB() int           { return 4096 }
func (f *fake) CPUs() int                { return 2 }
func (f *fake) Images(ns string) []Image { return f.images }
func (f *fake) Mounted() bool            { return !f.unmounted }

func (f *fake) Config() config.Provider {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.config
}

func (f *fake) Etcd() cluster.Etcd {
	if f.etcd == nil {
		return nil
	}
	return f.etcd
}

func (f *fake) SetConfig(cfg config.Provider, now bool, revertAfter time.Duration) error {
	f.ask("config now=%v revert=%v", now, revertAfter)
	if f.onConfig != nil {
		f.onConfig()
	}
	if now {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.config = cfg
	}
	return nil
}

func (f *fake) Bootstrap(ctx context.Context, request BootstrapRequest) error {
	if ctx.Err() != nil {
		f.ask("bootstrap %v", ctx.Err())
		return ctx.Err()
	}
	f.ask("bootstrap%s", map[bool]string{true: fmt.Sprintf(" %+v", request)}[request.Recover])
	f.etcd.data = true
	return nil
}

func (f *fake) Reboot(actor string, force bool) error {
	f.ask("reboot force=%v", force)
	if f.onReboot != nil {
		go f.onReboot(actor)
	}
	return nil
}

func (f *fake) Shutdown(_ string, force bool) error {
	f.ask("shutdown force=%v", force)
	return nil
}

func (f *fake) Reset(_ string, reset ResetRequest) error {
	f.ask("reset %+v", reset)
	return nil
}

func (f *fake) Upgrade(_, image string, stage, force bool) error {
	f.ask("upgrade %s stage=%v force=%v", image, stage, force)
	return nil
}

func (f *fake) Rollback() bool {
	f.ask("rollback")
	return true
}

func (f *fake) Install(image string, progress func(string)) error {
	f.ask("install %s", image)
	progress("copying\n")
	if f.onInstall != nil {
		return f.onInstall()
	}
	return nil
}

func (f *fake) Pull(_ context.Context, namespace, reference string, progress func(done, total int64)) (Image, error) {
	if strings.Contains(reference, "missing") {
		return Image{}, fmt.Errorf("failed to pull image %q: %w", reference, ErrNoImage)
	}
	f.ask("pull %s %s", namespace, reference)
	progress(1<<20, 1<<20)
	image := Image{Name: reference, Digest: "sha256:1", Bytes: 1 << 20, Created: f.Booted()}
	f.images = append(f.images, image)
	return image, nil
}

func (f *fake) Services() []*machine.ServiceInfo {
	up := &machine.ServiceHealth{Healthy: true}
	services := []*machine.ServiceInfo{
		{Id: "apid", State: "Running", Health: up, Events: &machine.ServiceEvents{}},
		{Id: "cri", State: "Running", Health: up, Events: &machine.ServiceEvents{}},
		{Id: "kubelet", State: "Running", Health: up, Events: &machine.ServiceEvents{}},
	}
	if f.etcd != nil {
		services = append(services, &machine.ServiceInfo{Id: "etcd", State: "Preparing", Health: &machine.ServiceHealth{Unknown: true}, Events: &machine.ServiceEvents{}})
	}
	return services
}

func (f *fake) ServiceAction(id, action string) error {
	if id != "kubelet" {
		return fmt.Errorf("service %q doesn't support %s operation via API", id, action)
	}
	f.ask("%s %s", action, id)
	return nil
}

func (f *fake) Containers(namespace string) []*machine.ContainerInfo {
	return []*machine.ContainerInfo{{Namespace: namespace, Id: namespace + "/one", Name: "one", PodId: "one", Image: "one:1", Status: "RUNNING"}}
}

func (f *fake) Log(ctx context.Context, id string, follow bool, tail int, line func([]byte) error) error {
	lines, there := f.logs[id]
	if !there {
		return fmt.Errorf("log %q was not registered", id)
	}
	if tail >= 0 {
		lines = lines[max(0, len(lines)-tail):]
	}
	return feed(ctx, lines, follow, line)
}

func (f *fake) Say(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, line)
}

func (f *fake) Kernel(ctx context.Context, follow bool, line func([]byte) error) error {
	return feed(ctx, f.kernel, follow, line)
}

func feed(ctx context.Context, lines []string, follow bool, line func([]byte) error) error {
	for _, text := range lines {
		if err := line([]byte(text)); err != nil {
			return err
		}
	}
	if follow {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (f *fake) Events(ctx context.Context, tail int, event func(Event) error) error {
	f.mu.Lock()
	next := len(f.events) - tail
	if tail < 0 {
		next = 0
	}
	f.mu.Unlock()
	select {
	case f.watched <- struct{}{}:
	default:
	}
	for {
		f.mu.Lock()
		pending, more := f.events[min(max(next, 0), len(f.events)):], f.more
		next = len(f.events)
		f.mu.Unlock()
		for _, e := range pending {
			if err := event(e); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		}
	}
}

// happen adds an event.
func (f *fake) happen(event Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if event.ID == "" {
		event.ID = xid.New().String()
	}
	f.events = append(f.events, event)
	close(f.more)
	f.more = make(chan struct{})
}

func (f *fake) ReadFile(path string) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, there := f.files[path]
	if !there {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return io.NopCloser(strings.NewReader(content)), nil
}

func (f *fake) Meta() map[uint8]string { return f.meta }

func (f *fake) SetMeta(key uint8, value *string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if value == nil {
		delete(f.meta, key)
		return
	}
	f.meta[key] = *value
}

// fakeEtcd is an etcd of members that are given.
type fakeEtcd struct {
	cluster.Etcd
	data bool
	// uploaded is the snapshot on the disk.
	uploaded []byte
	members  []cluster.MemberInfo
	status   cluster.MemberStatus
}

func (e *fakeEtcd) UploadSnapshot(_ string, from io.Reader) (err error) {
	if e.uploaded, err = io.ReadAll(from); err != nil {
		e.uploaded = nil
	}
	return err
}

var errNoEtcd = errors.New("etcd does not run")

func (e *fakeEtcd) HasData(string) bool { return e.data }

func (e *fakeEtcd) Members(context.Context, string) ([]cluster.MemberInfo, error) {
	if !e.data {
		return nil, errNoEtcd
	}
	return e.members, nil
}

func (e *fakeEtcd) MemberStatus(context.Context, string) (cluster.MemberStatus, error) {
	if !e.data {
		return cluster.MemberStatus{}, errNoEtcd
	}
	return e.status, nil
}

func (e *fakeEtcd) RemoveMember(_ context.Context, _ string, id uint64) error {
	before := len(e.members)
	e.members = slices.DeleteFunc(e.members, func(member cluster.MemberInfo) bool { return member.ID == id })
	if len(e.members) == before {
		return errMemberNotFound
	}
	return nil
}

func (e *fakeEtcd) Leave(context.Context, string) error {
	e.members = e.members[1:]
	return nil
}

func (e *fakeEtcd) Snapshot(_ context.Context, _ string, to io.Writer) error {
	_, err := to.Write([]byte(strings.Repeat("snapshot", 10_000)))
	return err
}
