package talosapi

import (
	stdx509 "crypto/x509"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	secretsresource "github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

func TestMaintenanceAccess(t *testing.T) {
	l := newLab(t)
	const notThere, notAllowed = codes.Unimplemented, codes.PermissionDenied
	calls := map[string]struct {
		call             func(*client.Client) error
		code112, code113 codes.Code
		text112          string
	}{
		"disks":    {func(c *client.Client) error { _, err := c.Disks(within(t)); return err }, codes.OK, codes.OK, ""},
		"version":  {func(c *client.Client) error { _, err := c.Version(within(t)); return err }, notThere, codes.OK, "API is not implemented in maintenance mode"},
		"services": {func(c *client.Client) error { _, err := c.ServiceList(within(t)); return err }, notThere, codes.OK, "method ServiceList not implemented"},
		"reset":    {func(c *client.Client) error { return c.Reset(within(t), true, true) }, notThere, notAllowed, "API is not implemented in maintenance mode"},
		"reboot":   {func(c *client.Client) error { return c.Reboot(within(t)) }, notThere, notAllowed, "method Reboot not implemented"},
		"meta":     {func(c *client.Client) error { return c.MetaWrite(within(t), 10, nil) }, notThere, notAllowed, "API is not implemented in maintenance mode"},
		"talosconfig": {func(c *client.Client) error {
			_, err := c.GenerateClientConfiguration(within(t), &machineapi.GenerateClientConfigurationRequest{CrtTtl: durationpb.New(1)})
			return err
		}, notThere, notAllowed, "client configuration (talosconfig) can't be generated in the maintenance mode"},
		"time": {func(c *client.Client) error { _, err := c.Time(within(t)); return err }, notThere, codes.OK, "unknown service time.TimeService"},
		"other nodes are ignored": {func(c *client.Client) error {
			_, err := c.Disks(client.WithNodes(within(t), "192.0.2.1", "192.0.2.2"))
			return err
		}, codes.OK, codes.OK, ""},
		"wipe of no disk": {func(c *client.Client) error {
			return c.BlockDeviceWipe(within(t), &storage.BlockDeviceWipeRequest{Devices: []*storage.BlockDeviceWipeDescriptor{{Device: "nosuch"}}})
		}, codes.NotFound, codes.NotFound, `blockdevice "nosuch" not found`},
		"resource": {func(c *client.Client) error {
			_, err := safe.StateGetByID[*block.Disk](within(t), c.COSI, "sda")
			return err
		}, codes.OK, codes.OK, ""},
		"secret resource": {func(c *client.Client) error {
			_, err := safe.StateListAll[*secretsresource.API](within(t), c.COSI)
			return err
		}, notAllowed, notAllowed, "not authorized"},
	}
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			err := c.call(l.insecure(l.maintenance("1.12.6")))
			require.Equal(t, c.code112, status.Code(err), "1.12: %v", err)
			require.True(t, err == nil || strings.Contains(err.Error(), c.text112), "1.12: %v", err)
			err = c.call(l.insecure(l.maintenance("1.13.8")))
			require.Equal(t, c.code113, status.Code(err), "1.13: %v", err)
		})
	}
}

func TestRoles(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	old := l.configured("1.12.6", machine.TypeControlPlane)
	cfg := configresource.NewMachineConfig(f.config)
	require.NoError(t, f.resources.Create(t.Context(), cfg))
	for name, c := range map[string]struct {
		node  *fake
		call  func(*client.Client) error
		roles map[role.Role]codes.Code
	}{
		"reboot": {f, func(c *client.Client) error { return c.Reboot(within(t)) },
			map[role.Role]codes.Code{role.Admin: codes.OK, role.Operator: codes.OK, role.Reader: codes.PermissionDenied, role.EtcdBackup: codes.PermissionDenied}},
		"version": {f, func(c *client.Client) error { _, err := c.Version(within(t)); return err },
			map[role.Role]codes.Code{role.Admin: codes.OK, role.Reader: codes.OK, role.EtcdBackup: codes.PermissionDenied}},
		"apply": {f, func(c *client.Client) error {
			_, err := c.ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: []byte("x"), DryRun: true})
			return err
		}, map[role.Role]codes.Code{role.Admin: codes.InvalidArgument, role.Operator: codes.PermissionDenied, role.Reader: codes.PermissionDenied}},
		"apply to 1.12": {old, func(c *client.Client) error {
			_, err := c.ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: []byte("x"), DryRun: true})
			return err
		}, map[role.Role]codes.Code{role.Admin: codes.InvalidArgument, role.Reader: codes.PermissionDenied}},
		"secret resource": {f, func(c *client.Client) error {
			_, err := safe.StateGetByID[*configresource.MachineConfig](within(t), c.COSI, configresource.ActiveID)
			return err
		}, map[role.Role]codes.Code{role.Admin: codes.OK, role.Reader: codes.PermissionDenied}},
	} {
		for as, want := range c.roles {
			err := c.call(l.client(c.node, as))
			require.Equal(t, want, status.Code(err), "%s as %s: %v", name, as, err)
		}
	}
}

func TestForeignersAreKeptOut(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	_, err := l.insecure(f).Version(within(t))
	require.Equal(t, codes.Unavailable, status.Code(err), "without a certificate: %v", err)

	other, err := newBundle()
	require.NoError(t, err)
	foreign, err := other.GenerateTalosAPIClientCertificate(role.MakeSet(role.Admin))
	require.NoError(t, err)
	config := l.talosconfig(role.MakeSet(role.Admin), f)
	config.Contexts["lab"].Crt, config.Contexts["lab"].Key = encode(foreign.Crt), encode(foreign.Key)
	_, err = connect(t, config).Version(within(t))
	require.Equal(t, codes.Unavailable, status.Code(err), "with a certificate of another CA: %v", err)

	config = l.talosconfig(role.MakeSet(role.Admin), f)
	config.Contexts["lab"].CA = encode(other.Certs.OS.Crt)
	_, err = connect(t, config).Version(within(t))
	require.ErrorContains(t, err, "x509: certificate signed by unknown authority")

	// The talosconfig of a cluster does not open a node in maintenance.
	_, err = connect(t, l.talosconfig(role.MakeSet(role.Admin), l.maintenance("1.13.8"))).Version(within(t))
	require.ErrorContains(t, err, "tls: failed to verify certificate: x509: certificate signed by unknown authority")
}

func TestCertificatesForClientsOnly(t *testing.T) {
	for name, c := range map[string]struct {
		usages []stdx509.ExtKeyUsage
		text   string
	}{
		"client":            {[]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}, ""},
		"server":            {[]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}, "is missing the client auth extended key usage"},
		"client and server": {[]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth, stdx509.ExtKeyUsageServerAuth}, "is missing the client auth extended key usage"},
		"none":              {nil, "is missing the client auth extended key usage"},
	} {
		err := forClientsOnly(nil, [][]*stdx509.Certificate{{{ExtKeyUsage: c.usages}, {IsCA: true}}})
		if c.text == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.text, name)
		}
	}
	require.ErrorContains(t, forClientsOnly(nil, nil), "no verified chains")

	// And a node asks: the server certificate of another node does not do.
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	api, err := safe.StateGetByID[*secretsresource.API](t.Context(), f.resources, secretsresource.APIID)
	require.NoError(t, err)
	config := l.talosconfig(role.MakeSet(role.Admin), f)
	config.Contexts["lab"].Crt, config.Contexts["lab"].Key = encode(api.TypedSpec().Server.Crt), encode(api.TypedSpec().Server.Key)
	_, err = connect(t, config).Version(within(t))
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
}

func TestConfiguredNeedsACertificate(t *testing.T) {
	l := newLab(t)
	f := l.machine("1.13.8", "hcloud")
	_, err := l.server.Serve(f, false, f.addresses)
	require.ErrorContains(t, err, "has no certificate for its API yet")
	f.version = "latest"
	_, err = l.server.Serve(f, true, f.addresses)
	require.ErrorContains(t, err, `runs Talos "latest"`)
}

func TestWatch(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	events := make(chan state.Event)
	require.NoError(t, l.client(f, role.Reader).COSI.WatchKind(within(t), block.NewDisk(block.NamespaceName, "").Metadata(), events))
	require.NoError(t, f.resources.Create(t.Context(), block.NewDisk(block.NamespaceName, "sdb")))
	event := <-events
	require.Equal(t, state.Created, event.Type)
	require.Equal(t, "sdb", event.Resource.Metadata().ID())
}

// Which devices Talos wipes. The lab opens none of them.
func TestWipe(t *testing.T) {
	l := newLab(t)
	f := l.machine("1.13.8", "metal")
	l.configure(f, machine.TypeWorker)
	l.serve(f)
	loop := block.NewDisk(block.NamespaceName, "loop0")
	loop.TypedSpec().Readonly = true
	system := block.NewSystemDisk(block.NamespaceName, block.SystemDiskID)
	system.TypedSpec().DiskID = "sda"
	state := block.NewVolumeStatus(block.NamespaceName, "STATE")
	state.TypedSpec().Location, state.TypedSpec().ParentLocation = "/dev/sda5", "/dev/sda"
	for _, made := range []resource.Resource{block.NewDisk(block.NamespaceName, "sdb"), loop, system, state} {
		require.NoError(t, f.resources.Create(t.Context(), made))
	}
	for name, parent := range map[string]string{"sda": "", "sda1": "sda", "sda5": "sda", "sdb": "", "loop0": ""} {
		device := block.NewDevice(block.NamespaceName, name)
		device.TypedSpec().Parent = parent
		require.NoError(t, f.resources.Create(t.Context(), device))
	}
	wipe := func(name string, as role.Role) error {
		return l.client(f, as).BlockDeviceWipe(within(t), &storage.BlockDeviceWipeRequest{Devices: []*storage.BlockDeviceWipeDescriptor{{Device: name}}})
	}
	for _, known := range []struct {
		device string
		code   codes.Code
		text   string
	}{
		{"sdb", codes.OK, ""},
		{"nosuch", codes.NotFound, `blockdevice "nosuch" not found`},
		{"loop0", codes.FailedPrecondition, `blockdevice "loop0" is read-only`},
		{"sda5", codes.FailedPrecondition, `blockdevice "sda5" is in use by volume "STATE"`},
		{"sda", codes.FailedPrecondition, `blockdevice "sda" is in use by volume "STATE"`},
		{"sda1", codes.Unimplemented, "reset the node"},
	} {
		err := wipe(known.device, role.Admin)
		require.Equal(t, known.code, status.Code(err), "%s: %v", known.device, err)
		require.True(t, err == nil || strings.Contains(err.Error(), known.text), "%s: %v", known.device, err)
	}
	require.Equal(t, codes.PermissionDenied, status.Code(wipe("sdb", role.Reader)))
}

// For a moment after it took a config the API of maintenance answers, and takes nothing
// any more.
func TestMaintenanceRefusesASecondConfig(t *testing.T) {
	l := newLab(t)
	f := l.maintenance("1.13.8")
	c := l.insecure(f)
	l.configure(f, machine.TypeWorker)
	_, err := c.ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: l.config(machine.TypeWorker)})
	require.Equal(t, codes.PermissionDenied, status.Code(err), "%v", err)
	require.ErrorContains(t, err, "not authorized")
}
