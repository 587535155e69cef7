package hetzner

import (
	"context"
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
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine/machinetest"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// networks numbers those of the tests: each has 127.77.<number>.0/24.
var networks atomic.Uint32

// mappedNetwork maps every address to one of loopback, and keeps the firewalls that
// it was given.
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

// bench is a cloud with its client and everything it depends on.
type bench struct {
	*hcloud.Client
	cloud    *Cloud
	network  *mappedNetwork
	machines *machinetest.Maker
	faults   *fault.Set
	timeline *timeline.Timeline
	url      string
	snapshot *hcloud.Image
}

var token = strings.Repeat("t", 64)

// newBench serves a cloud with a snapshot of Talos in it.
func newBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	steps, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	facts := timeline.New(time.Now, nil)
	b := &bench{network: newMappedNetwork(), machines: &machinetest.Maker{}, faults: fault.NewSet(facts), timeline: facts}
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

// wait waits until actions have succeeded.
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

// refused requires an error of the API.
func refused(t *testing.T, err error, code hcloud.ErrorCode, message string) {
	t.Helper()
	var failed hcloud.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, code, failed.Code, failed.Message)
	require.Contains(t, failed.Message, message)
}

// facts returns the values of a kind for a subject.
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
