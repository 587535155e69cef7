package talosapi

import (
	"context"
	"crypto/tls"
	stdx509 "crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha2"
	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	secretsresource "github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

var errMemberNotFound = rpctypes.ErrMemberNotFound

// TestMain keeps quiet what Talos' own code logs.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// bundle holds the secrets of the tests' cluster.
var bundle = sync.OnceValues(newBundle)

// newBundle makes them with an account key that is no RSA: that of 4096 bits which
// later Talos makes takes seconds, and is none of the API's.
func newBundle() (*secrets.Bundle, error) {
	return secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
}

// kubernetes is a version that both Talos 1.12 and 1.13 run.
const kubernetes = "1.35.2"

// lastAddress makes each node's address its own.
var lastAddress atomic.Uint32

// lab is what the nodes of a test share.
type lab struct {
	t        *testing.T
	network  *network.Loopback
	timeline *timeline.Timeline
	faults   *fault.Set
	server   *Server
	bundle   *secrets.Bundle
}

func newLab(t *testing.T, adjust ...func(*Options)) *lab {
	t.Helper()
	secrets, err := bundle()
	require.NoError(t, err)
	l := &lab{t: t, network: &network.Loopback{}, timeline: timeline.New(time.Now, nil), bundle: secrets}
	l.faults = fault.NewSet(l.timeline)
	options := Options{Network: l.network, Faults: l.faults, Timeline: l.timeline}
	for _, change := range adjust {
		change(&options)
	}
	l.server = New(options)
	return l
}

// machine returns a node that is off.
func (l *lab) machine(version, platform string) *fake {
	n := lastAddress.Add(1)
	addr := netip.AddrFrom4([4]byte{127, 50, byte(n >> 8), byte(n)})
	require.NoError(l.t, l.network.Add(addr))
	resources, err := v1alpha2.NewState()
	require.NoError(l.t, err)
	f := &fake{
		host: fmt.Sprintf("node-%d", n), version: version, platform: platform,
		addresses: []netip.Addr{addr}, resources: resources.Resources(),
		meta: map[uint8]string{}, more: make(chan struct{}),
		files:  map[string]string{"/proc/sys/kernel/random/boot_id": "first\n"},
		logs:   map[string][]string{"kubelet": {"one", "two", "three"}, "apid": {"apid"}, "k8s.io/one": {"container"}},
		kernel: []string{"kern: info: [1]: booting", "kern: info: [2]: booted"},
	}
	disk := block.NewDisk(block.NamespaceName, "sda")
	disk.TypedSpec().DevPath, disk.TypedSpec().Model = "/dev/sda", "QEMU HARDDISK"
	disk.TypedSpec().Transport, disk.TypedSpec().Size = "virtio", 40<<30
	require.NoError(l.t, f.resources.Create(l.t.Context(), disk))
	return f
}

// config returns a machine config of the cluster.
func (l *lab) config(of machine.Type, options ...generate.Option) []byte {
	input, err := generate.NewInput("lab", "https://127.0.0.1:6443", kubernetes,
		append([]generate.Option{generate.WithSecretsBundle(l.bundle), generate.WithInstallDisk("/dev/sda")}, options...)...)
	require.NoError(l.t, err)
	cfg, err := input.Config(of)
	require.NoError(l.t, err)
	data, err := cfg.Bytes()
	require.NoError(l.t, err)
	return data
}

// configure gives a node its config and what Talos makes of it.
func (l *lab) configure(f *fake, of machine.Type) {
	input, err := generate.NewInput("lab", "https://127.0.0.1:6443", kubernetes,
		generate.WithSecretsBundle(l.bundle), generate.WithInstallDisk("/dev/sda"))
	require.NoError(l.t, err)
	f.config, err = input.Config(of)
	require.NoError(l.t, err)
	f.installed = true

	ctx := l.t.Context()
	machineType := configresource.NewMachineType()
	machineType.SetMachineType(of)
	require.NoError(l.t, f.resources.Create(ctx, machineType))
	clock := timeresource.NewStatus()
	clock.TypedSpec().Synced = true
	require.NoError(l.t, f.resources.Create(ctx, clock))

	api := secretsresource.NewAPI()
	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(l.bundle.Certs.OS)
	require.NoError(l.t, err)
	server, err := x509.NewKeyPair(authority, x509.IPAddresses([]net.IP{f.addresses[0].AsSlice()}), x509.CommonName(f.host),
		x509.NotAfter(time.Now().Add(time.Hour)), x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}))
	require.NoError(l.t, err)
	api.TypedSpec().Server = x509.NewCertificateAndKeyFromKeyPair(server)
	api.TypedSpec().AcceptedCAs = []*x509.PEMEncodedCertificate{{Crt: l.bundle.Certs.OS.Crt}}
	if of.IsControlPlane() {
		f.etcd = &fakeEtcd{}
		own, err := x509.NewKeyPair(authority, x509.CommonName(f.host), x509.Organization(string(role.Impersonator)),
			x509.NotAfter(time.Now().Add(time.Hour)), x509.KeyUsage(stdx509.KeyUsageDigitalSignature),
			x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}))
		require.NoError(l.t, err)
		api.TypedSpec().Client = x509.NewCertificateAndKeyFromKeyPair(own)
	}
	require.NoError(l.t, f.resources.Create(ctx, api))
}

// serve brings up the API of a node until the test ends.
func (l *lab) serve(f *fake) *Running {
	running, err := l.server.Serve(f, f.Maintenance(), f.addresses)
	require.NoError(l.t, err)
	l.t.Cleanup(func() { running.Stop(false) })
	return running
}

// maintenance returns a node without a config, whose API is up.
func (l *lab) maintenance(version string) *fake {
	f := l.machine(version, "metal")
	l.serve(f)
	return f
}

// configured returns a node with a config, whose API is up.
func (l *lab) configured(version string, of machine.Type) *fake {
	f := l.machine(version, "metal")
	l.configure(f, of)
	l.serve(f)
	return f
}

// talosconfig is for a client with roles that asks endpoints.
func (l *lab) talosconfig(roles role.Set, endpoints ...*fake) *clientconfig.Config {
	certificate, err := l.bundle.GenerateTalosAPIClientCertificate(roles)
	require.NoError(l.t, err)
	var addresses []string
	for _, endpoint := range endpoints {
		addresses = append(addresses, endpoint.addresses[0].String())
	}
	return clientconfig.NewConfig("lab", addresses, l.bundle.Certs.OS.Crt, certificate)
}

// client asks a node with the roles.
func (l *lab) client(f *fake, roles ...role.Role) *client.Client {
	c, err := client.New(l.t.Context(), client.WithConfig(l.talosconfig(role.MakeSet(roles...), f)))
	require.NoError(l.t, err)
	l.t.Cleanup(func() { _ = c.Close() })
	return c
}

// insecure asks a node as talosctl does with --insecure.
func (l *lab) insecure(f *fake) *client.Client {
	c, err := client.New(l.t.Context(), client.WithEndpoints(f.addresses[0].String()),
		client.WithTLSConfig(&tls.Config{InsecureSkipVerify: true}))
	require.NoError(l.t, err)
	l.t.Cleanup(func() { _ = c.Close() })
	return c
}

// facts returns those of a kind about a node, as "value key=value ...".
func (l *lab) facts(f *fake, what string) []timeline.Fact {
	all, _ := l.timeline.After(0)
	var found []timeline.Fact
	for _, fact := range all {
		if fact.Subject == f.host && fact.What == what {
			found = append(found, fact)
		}
	}
	return found
}

// talosctl returns the real one, which SLUICE_TALOSCTL names.
func talosctl(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SLUICE_TALOSCTL")
	if path == "" {
		t.Skip("SLUICE_TALOSCTL names no talosctl: tests with the real program are left out, those with Talos' client package run")
	}
	return path
}

// write puts a file into the test's folder.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

// within returns the context of a call that should be answered soon.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
