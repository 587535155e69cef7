package hetzner

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

func TestServerBootsAndIsAttachedAfterwards(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	inside := b.privateNet(t)
	made := b.server(t, "cp-1", func(opts *hcloud.ServerCreateOpts) {
		opts.Labels = map[string]string{"role": "control-plane"}
		opts.UserData = "machine: {}"
	})
	box := b.machines.Box(t, "cp-1")
	require.Equal(t, []string{"on"}, box.Happened())
	require.Equal(t, hcloud.ServerStatusRunning, made.Status)
	require.False(t, made.Locked)
	require.Equal(t, []string{"initializing", "starting", "running"}, b.facts("cp-1", "server"))

	public := netip.MustParseAddr(made.PublicNet.IPv4.IP.String())
	require.True(t, netip.MustParsePrefix("198.51.100.0/24").Contains(public) || netip.MustParsePrefix("203.0.113.0/24").Contains(public))
	require.Equal(t, machine.Spec{
		Name: "cp-1", Hostname: "cp-1", UUID: box.Spec.UUID, Platform: "hcloud", Arch: "amd64", CPUs: 2, MemoryMiB: 4096,
		Disks: []machine.Disk{{
			Device: "/dev/sda", Bytes: 40_000_000_000, Model: "QEMU HARDDISK", Serial: fmt.Sprint(made.ID), Transport: "virtio",
			BusPath: "/pci0000:00/0000:00:02.5/0000:06:00.0/virtio5/host0/target0:0:0/0:0:0:0", Rotational: true,
		}},
		NICs: []machine.NIC{{
			Name: "eth0", MAC: box.Spec.NICs[0].MAC, Addresses: []netip.Prefix{netip.PrefixFrom(public, 32)},
			Gateway: netip.MustParseAddr("172.31.1.1"), DHCP: true, Public: true,
		}},
		Image:      machine.Image{Talos: "1.13.8", Schematic: "abc", Installed: true},
		ProviderID: fmt.Sprintf("hcloud://%d", made.ID), InstanceType: "cx23", Region: "eu-central", Zone: "fsn1-dc14",
		UserData: []byte("machine: {}"),
	}, box.Spec)

	action, _, err := b.Server.AttachToNetwork(t.Context(), made, hcloud.ServerAttachToNetworkOpts{Network: inside, IP: net.ParseIP("10.0.1.11")})
	b.wait(t, err, action)
	made = b.find(t, "cp-1")
	require.Equal(t, []string{"attach eth1 " + made.PrivateNet[0].MACAddress}, box.Happened())
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.1.11/32")}, box.NIC(t, "eth1").Addresses)
	require.Equal(t, "10.0.1.11", made.PrivateNet[0].IP.String())
	require.NotEmpty(t, made.PrivateNet[0].MACAddress)
	_, _, err = b.Server.AttachToNetwork(t.Context(), made, hcloud.ServerAttachToNetworkOpts{Network: inside})
	refused(t, err, hcloud.ErrorCodeServerAlreadyAttached, "already attached")

	action, _, err = b.Server.DetachFromNetwork(t.Context(), made, hcloud.ServerDetachFromNetworkOpts{Network: inside})
	b.wait(t, err, action)
	require.Empty(t, b.find(t, "cp-1").PrivateNet)
}

func TestServerWithoutPublicNetIsStartedInItsNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	inside := b.privateNet(t)
	b.server(t, "inner", func(opts *hcloud.ServerCreateOpts) {
		opts.PublicNet = &hcloud.ServerCreatePublicNet{}
		opts.Networks = []*hcloud.Network{inside}
	})
	box := b.machines.Box(t, "inner")
	require.Empty(t, box.Spec.NICs)
	nic := box.NIC(t, "eth0")
	require.Equal(t, []string{"attach eth0 " + nic.MAC, "on"}, box.Happened())
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.1.1/32")}, nic.Addresses)
}

func TestServerOfASnapshotThatInstallsHasNoTalosYet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, err := b.cloud.AddSnapshot(Snapshot{Name: "installer", Talos: "1.13.8", Schematic: "abc", Arch: "amd64", Installs: true})
	require.NoError(t, err)
	b.server(t, "bare", func(opts *hcloud.ServerCreateOpts) { opts.Image = &hcloud.Image{ID: id} })
	require.Equal(t, machine.Image{Talos: "1.13.8", Schematic: "abc"}, b.machines.Box(t, "bare").Spec.Image)
}

func TestServerIsDeletedWithAllThatIsItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.server(t, "gone")
	kept, _, err := b.PrimaryIP.Create(t.Context(), hcloud.PrimaryIPCreateOpts{Name: "kept", Type: hcloud.PrimaryIPTypeIPv4, Location: "fsn1", AutoDelete: hcloud.Ptr(false)})
	require.NoError(t, err)
	other := b.server(t, "other", func(opts *hcloud.ServerCreateOpts) {
		opts.PublicNet = &hcloud.ServerCreatePublicNet{EnableIPv4: true, IPv4: kept.PrimaryIP}
	})
	require.Equal(t, kept.PrimaryIP.IP.String(), other.PublicNet.IPv4.IP.String())
	for _, server := range []*hcloud.Server{made, other} {
		result, _, err := b.Server.DeleteWithResult(t.Context(), server)
		require.NoError(t, err)
		hidden, _, err := b.Server.GetByID(t.Context(), server.ID)
		require.NoError(t, err)
		require.Nil(t, hidden)
		b.wait(t, nil, result.Action)
		require.Equal(t, []string{"on", "delete"}, b.machines.Box(t, server.Name).Happened())
	}
	left, err := b.PrimaryIP.All(t.Context())
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "kept", left[0].Name)
	require.Zero(t, left[0].AssigneeID)
}

func TestServerRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Limits = map[string]int{"server": 1} })
	b.server(t, "one")
	group, _, err := b.PlacementGroup.Create(t.Context(), hcloud.PlacementGroupCreateOpts{Name: "g", Type: hcloud.PlacementGroupTypeSpread})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		change  func(*hcloud.ServerCreateOpts)
		code    hcloud.ErrorCode
		message string
	}{
		"name taken":       {func(o *hcloud.ServerCreateOpts) { o.Name = "one" }, hcloud.ErrorCodeUniquenessError, "server name is already used"},
		"no hostname":      {func(o *hcloud.ServerCreateOpts) { o.Name = "a_b" }, hcloud.ErrorCodeInvalidInput, "hostname"},
		"limit":            {func(*hcloud.ServerCreateOpts) {}, hcloud.ErrorCodeResourceLimitExceeded, "server limit reached"},
		"no image":         {func(o *hcloud.ServerCreateOpts) { o.Image = &hcloud.Image{ID: 1} }, hcloud.ErrorCodeNotFound, "image '1' not found"},
		"other type":       {func(o *hcloud.ServerCreateOpts) { o.ServerType.Name = "cx9" }, hcloud.ErrorCodeInvalidInput, "server type 'cx9' not found"},
		"type of the past": {func(o *hcloud.ServerCreateOpts) { o.ServerType.Name = "cx22" }, hcloud.ErrorCodeInvalidInput, "server type 'cx22' not found"},
		"past here":        {func(o *hcloud.ServerCreateOpts) { o.ServerType.Name = "cpx11" }, hcloud.ErrorCodeInvalidInput, "unsupported location for server type"},
		"architecture":     {func(o *hcloud.ServerCreateOpts) { o.ServerType.Name = "cax11" }, hcloud.ErrorCodeInvalidInput, "architecture"},
		"not there":        {func(o *hcloud.ServerCreateOpts) { o.Location.Name = "ash" }, hcloud.ErrorCodeInvalidInput, "unsupported location for server type"},
		"no such location": {func(o *hcloud.ServerCreateOpts) { o.Location.Name = "moon" }, hcloud.ErrorCodeInvalidInput, "location 'moon' not found"},
		"no such key":      {func(o *hcloud.ServerCreateOpts) { o.SSHKeys = []*hcloud.SSHKey{{ID: 7}} }, hcloud.ErrorCodeNotFound, "ssh key with ID '7' not found"},
		"no such group": {func(o *hcloud.ServerCreateOpts) {
			o.PlacementGroup = &hcloud.PlacementGroup{ID: group.PlacementGroup.ID + 1}
		}, hcloud.ErrorCodeNotFound, "placement group"},
		"nowhere": {func(o *hcloud.ServerCreateOpts) { o.PublicNet = &hcloud.ServerCreatePublicNet{} }, hcloud.ErrorCodeInvalidInput, "needs a network"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := hcloud.ServerCreateOpts{Name: "two", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: b.snapshot, Location: &hcloud.Location{Name: "fsn1"}}
			test.change(&opts)
			_, _, err := b.Server.Create(t.Context(), opts)
			refused(t, err, test.code, test.message)
		})
	}
	ips, err := b.PrimaryIP.All(t.Context())
	require.NoError(t, err)
	require.Len(t, ips, 2, "what was refused leaves nothing")
}

func TestPlacementGroupTakesTenServers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	group, _, err := b.PlacementGroup.Create(t.Context(), hcloud.PlacementGroupCreateOpts{Name: "g", Type: hcloud.PlacementGroupTypeSpread})
	require.NoError(t, err)
	opts := hcloud.ServerCreateOpts{ServerType: &hcloud.ServerType{Name: "cx23"}, Image: b.snapshot, PlacementGroup: group.PlacementGroup}
	for number := range 10 {
		opts.Name = fmt.Sprintf("s-%d", number)
		_, _, err := b.Server.Create(t.Context(), opts)
		require.NoError(t, err)
	}
	opts.Name = "eleventh"
	_, _, err = b.Server.Create(t.Context(), opts)
	refused(t, err, api.CodeMemberLimit, fmt.Sprintf("placement group with ID %d contains already 10 servers", group.PlacementGroup.ID))
}

func TestServerPower(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "s")
	box := b.machines.Box(t, "s")
	for _, step := range []struct {
		act    func() (*hcloud.Action, *hcloud.Response, error)
		status hcloud.ServerStatus
		did    string
	}{
		{func() (*hcloud.Action, *hcloud.Response, error) { return b.Server.Reset(t.Context(), s) }, hcloud.ServerStatusRunning, "reset"},
		{func() (*hcloud.Action, *hcloud.Response, error) { return b.Server.Shutdown(t.Context(), s) }, hcloud.ServerStatusOff, "shutdown"},
		{func() (*hcloud.Action, *hcloud.Response, error) { return b.Server.Poweron(t.Context(), s) }, hcloud.ServerStatusRunning, "on"},
		{func() (*hcloud.Action, *hcloud.Response, error) { return b.Server.Reboot(t.Context(), s) }, hcloud.ServerStatusRunning, "on"},
		{func() (*hcloud.Action, *hcloud.Response, error) { return b.Server.Poweroff(t.Context(), s) }, hcloud.ServerStatusOff, "off"},
	} {
		action, _, err := step.act()
		b.wait(t, err, action)
		require.Equal(t, step.status, b.find(t, "s").Status, step.did)
		log := box.Happened()
		require.Equal(t, step.did, log[len(log)-1])
	}
	action, _, err := b.Server.ChangeType(t.Context(), s, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: "cx33"}, UpgradeDisk: true})
	b.wait(t, err, action)
	require.Contains(t, box.Happened(), "hardware 4 8192 74")
	require.Equal(t, "cx33", b.find(t, "s").ServerType.Name)
	require.Equal(t, hcloud.ServerStatusRunning, b.find(t, "s").Status)
	_, _, err = b.Server.ChangeType(t.Context(), s, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: "cx43"}})
	refused(t, err, hcloud.ErrorCodeServerNotStopped, "must be stopped")
}

func TestServerIsLockedWhileAnActionRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "s")
	action, _, err := b.Server.Poweroff(t.Context(), s)
	require.NoError(t, err)
	require.True(t, b.find(t, "s").Locked)
	_, _, err = b.Server.Poweron(t.Context(), s)
	refused(t, err, hcloud.ErrorCodeLocked, "cannot perform operation because server is locked")
	b.wait(t, nil, action)
	require.False(t, b.find(t, "s").Locked)
}

func TestProtectedServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "s")
	protect := func(on bool) {
		action, _, err := b.Server.ChangeProtection(t.Context(), s, hcloud.ServerChangeProtectionOpts{Delete: &on, Rebuild: &on})
		b.wait(t, err, action)
	}
	protect(true)
	_, _, err := b.Server.DeleteWithResult(t.Context(), s)
	refused(t, err, hcloud.ErrorCodeProtected, "server deletion is protected")
	_, _, err = b.Server.RebuildWithResult(t.Context(), s, hcloud.ServerRebuildOpts{Image: b.snapshot})
	refused(t, err, hcloud.ErrorCodeProtected, "rebuild")
	protect(false)
	rebuilt, _, err := b.Server.RebuildWithResult(t.Context(), s, hcloud.ServerRebuildOpts{Image: b.snapshot})
	require.NoError(t, err)
	b.wait(t, nil, rebuilt.Action)
	require.Equal(t, []string{"on"}, b.machines.Box(t, "s").Happened(), "a new machine runs")
}

func TestImageIsWrittenInTheRescueSystem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "builder", func(opts *hcloud.ServerCreateOpts) { opts.Image = &hcloud.Image{Name: "debian-12"} })
	require.Equal(t, hcloud.ServerStatusRunning, s.Status)
	written := machine.Image{Talos: "1.13.8", Schematic: "fresh", Installed: true}
	require.ErrorContains(t, b.cloud.WriteDisk(t.Context(), "builder", written), "not in the rescue system")
	rescue, _, err := b.Server.EnableRescue(t.Context(), s, hcloud.ServerEnableRescueOpts{Type: hcloud.ServerRescueTypeLinux64})
	require.NoError(t, err)
	b.wait(t, nil, rescue.Action)
	require.True(t, b.find(t, "builder").RescueEnabled)
	action, _, err := b.Server.Reset(t.Context(), s)
	b.wait(t, err, action)
	require.False(t, b.find(t, "builder").RescueEnabled)
	require.NoError(t, b.cloud.WriteDisk(t.Context(), "builder", written))
	require.Empty(t, b.machines.Box(t, "builder").Happened(), "Talos does not run yet")
	b.machines.Box(t, "builder").Upgrade(machine.Image{Talos: "1.13.9", Schematic: "upgraded", Installed: true})
	snapshot, _, err := b.Server.CreateImage(t.Context(), s, &hcloud.ServerCreateImageOpts{Type: hcloud.ImageTypeSnapshot, Description: hcloud.Ptr("built"), Labels: map[string]string{"a": "b"}})
	require.NoError(t, err)
	require.Equal(t, hcloud.ImageStatusCreating, snapshot.Image.Status)
	b.wait(t, nil, snapshot.Action)
	found, err := b.Image.AllWithOpts(t.Context(), hcloud.ImageListOpts{ListOpts: hcloud.ListOpts{LabelSelector: "a=b"}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	b.server(t, "new", func(opts *hcloud.ServerCreateOpts) { opts.Image = found[0] })
	require.Equal(t, machine.Image{Talos: "1.13.9", Schematic: "upgraded", Installed: true}, b.machines.Box(t, "new").Spec.Image, "the box says what is on its disk")
}
