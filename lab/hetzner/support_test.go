package hetzner

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// networks numbers those of the tests: each has 127.77.<number>.0/24.
var networks atomic.Uint32

// mappedNetwork puts every address to one of loopback, and keeps the firewalls
// that it was told.
type mappedNetwork struct {
	loopback network.Loopback
	number   uint32

	mu        sync.Mutex
	addresses map[netip.Addr]netip.Addr
	firewalls map[netip.Addr]*network.Firewall
}

var _ network.Network = (*mappedNetwork)(nil)

func newMappedNetwork() *mappedNetwork {
	return &mappedNetwork{number: networks.Add(1), addresses: map[netip.Addr]netip.Addr{}, firewalls: map[netip.Addr]*network.Firewall{}}
}

func (m *mappedNetwork) real(addr netip.Addr) netip.Addr {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.addresses[addr]; !known {
		m.addresses[addr] = netip.AddrFrom4([4]byte{127, 77, byte(m.number), byte(len(m.addresses) + 1)})
	}
	return m.addresses[addr]
}

func (m *mappedNetwork) Add(addr netip.Addr) error    { return m.loopback.Add(m.real(addr)) }
func (m *mappedNetwork) Remove(addr netip.Addr) error { return m.loopback.Remove(m.real(addr)) }

func (m *mappedNetwork) Listen(at netip.AddrPort) (net.Listener, error) {
	return m.loopback.Listen(netip.AddrPortFrom(m.real(at.Addr()), at.Port()))
}

func (m *mappedNetwork) Dial(ctx context.Context, from netip.Addr, to netip.AddrPort) (net.Conn, error) {
	return m.loopback.Dial(ctx, m.real(from), netip.AddrPortFrom(m.real(to.Addr()), to.Port()))
}

func (m *mappedNetwork) SetFirewall(addr netip.Addr, firewall *network.Firewall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.firewalls[addr] = firewall
}

func (m *mappedNetwork) firewall(addr string) *network.Firewall {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.firewalls[netip.MustParseAddr(addr)]
}

// fakeBox notes what happens to it.
type fakeBox struct {
	machine.Silent
	spec machine.Spec
	mu   sync.Mutex
	log  []string
}

func (b *fakeBox) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, fmt.Sprintf(format, args...))
}

func (b *fakeBox) PowerOn()  { b.Silent.PowerOn(); b.note("on") }
func (b *fakeBox) PowerOff() { b.Silent.PowerOff(); b.note("off") }
func (b *fakeBox) Shutdown() { b.Silent.Shutdown(); b.note("shutdown") }
func (b *fakeBox) Reset()    { b.note("reset") }
func (b *fakeBox) Attach(nic machine.NIC) {
	words := []string{"attach", nic.Name}
	for _, addr := range nic.Addresses {
		words = append(words, addr.String())
	}
	b.note("%s", strings.Join(words, " "))
}
func (b *fakeBox) Detach(mac string)                 { b.note("detach %s", mac) }
func (b *fakeBox) Delete(context.Context)            { b.Silent.PowerOff(); b.note("delete") }
func (b *fakeBox) AttachDisk(disk machine.Disk)      { b.note("disk %s", disk.Device) }
func (b *fakeBox) DetachDisk(string)                 { b.note("no disk") }
func (b *fakeBox) Resize(cpus, memory int, _ uint64) { b.note("resize %d %d", cpus, memory) }
func (b *fakeBox) Image() machine.Image {
	return machine.Image{Talos: "1.13.9", Schematic: "upgraded", Installed: true}
}

func (b *fakeBox) happened() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.log...)
}

// fakeMaker makes fake boxes.
type fakeMaker struct {
	mu    sync.Mutex
	boxes map[string]*fakeBox
}

func (m *fakeMaker) Make(spec machine.Spec) (machine.Box, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.boxes == nil {
		m.boxes = map[string]*fakeBox{}
	}
	box := &fakeBox{spec: spec}
	m.boxes[spec.Name] = box
	return box, nil
}

func (m *fakeMaker) box(t *testing.T, name string) *fakeBox {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.Contains(t, m.boxes, name)
	return m.boxes[name]
}

// bench is a cloud with its client and what is around it.
type bench struct {
	*hcloud.Client
	cloud    *Cloud
	network  *mappedNetwork
	machines *fakeMaker
	faults   *fault.Set
	timeline *timeline.Timeline
	url      string
	snapshot *hcloud.Image
}

var token = strings.Repeat("t", 64)

// newBench is a cloud that is served, with a snapshot of Talos in it.
func newBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	steps, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	facts := timeline.New(time.Now, nil)
	b := &bench{network: newMappedNetwork(), machines: &fakeMaker{}, faults: fault.NewSet(facts), timeline: facts}
	options := Options{Network: b.network, Machines: b.machines, Pace: steps, Faults: b.faults, Timeline: facts, Seed: 1}
	for _, one := range change {
		one(&options)
	}
	b.cloud = New(options)
	server := httptest.NewServer(b.cloud)
	t.Cleanup(func() {
		require.NoError(t, b.cloud.Close(context.WithoutCancel(t.Context())))
		server.Close()
	})
	b.url = server.URL + "/v1"
	b.Client = b.client(token)
	id, err := b.cloud.AddSnapshot(Snapshot{Name: "talos", Labels: map[string]string{"os": "talos"}, Talos: "1.13.8", Schematic: "abc", Arch: "amd64"})
	require.NoError(t, err)
	b.snapshot = &hcloud.Image{ID: id}
	return b
}

func (b *bench) client(token string) *hcloud.Client {
	return hcloud.NewClient(hcloud.WithEndpoint(b.url), hcloud.WithToken(token),
		hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: hcloud.ConstantBackoff(5 * time.Millisecond)}),
		hcloud.WithRetryOpts(hcloud.RetryOpts{BackoffFunc: hcloud.ConstantBackoff(time.Millisecond), MaxRetries: 1}))
}

// wait lets actions end well.
func (b *bench) wait(t *testing.T, err error, actions ...*hcloud.Action) {
	t.Helper()
	require.NoError(t, err)
	require.NoError(t, b.Action.WaitFor(t.Context(), actions...))
}

// server makes one from the snapshot.
func (b *bench) server(t *testing.T, name string, change ...func(*hcloud.ServerCreateOpts)) *hcloud.Server {
	t.Helper()
	opts := hcloud.ServerCreateOpts{
		Name: name, ServerType: &hcloud.ServerType{Name: "cx23"}, Image: b.snapshot, Location: &hcloud.Location{Name: "fsn1"},
	}
	for _, one := range change {
		one(&opts)
	}
	result, _, err := b.Server.Create(t.Context(), opts)
	require.NoError(t, err)
	b.wait(t, nil, append(result.NextActions, result.Action)...)
	return b.find(t, name)
}

func (b *bench) find(t *testing.T, name string) *hcloud.Server {
	t.Helper()
	found, _, err := b.Server.GetByName(t.Context(), name)
	require.NoError(t, err)
	require.NotNil(t, found)
	return found
}

// privateNet makes a network 10.0.0.0/16 with a subnet 10.0.1.0/24.
func (b *bench) privateNet(t *testing.T) *hcloud.Network {
	t.Helper()
	made, _, err := b.Network.Create(t.Context(), hcloud.NetworkCreateOpts{
		Name: "net", IPRange: cidr("10.0.0.0/16"),
		Subnets: []hcloud.NetworkSubnet{{Type: hcloud.NetworkSubnetTypeCloud, IPRange: cidr("10.0.1.0/24"), NetworkZone: "eu-central"}},
	})
	require.NoError(t, err)
	return made
}

func cidr(text string) *net.IPNet {
	_, parsed, err := net.ParseCIDR(text)
	if err != nil {
		panic(err)
	}
	return parsed
}

// refused wants an error of the API.
func refused(t *testing.T, err error, code hcloud.ErrorCode, message string) {
	t.Helper()
	var failed hcloud.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, code, failed.Code, failed.Message)
	require.Contains(t, failed.Message, message)
}

// facts are the values of a kind for a subject.
func (b *bench) facts(about, what string) []string {
	var values []string
	all, _ := b.timeline.After(0)
	for _, one := range all {
		if one.Subject == about && one.What == what {
			values = append(values, one.Value)
		}
	}
	return values
}
