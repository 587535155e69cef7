package hetzner

import (
	"errors"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/exp/deprecationutil"
	"github.com/stretchr/testify/require"
)

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJhZGJhZGJhZGJhZGJhZGJhZGJhZGJhZGJhZGJhZGJh lab"

func TestSSHKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made, _, err := b.SSHKey.Create(t.Context(), hcloud.SSHKeyCreateOpts{Name: "key", PublicKey: publicKey})
	require.NoError(t, err)
	require.Len(t, strings.Split(made.Fingerprint, ":"), 16)
	_, _, err = b.SSHKey.Create(t.Context(), hcloud.SSHKeyCreateOpts{Name: "again", PublicKey: publicKey})
	refused(t, err, hcloud.ErrorCodeUniquenessError, "SSH key with the same fingerprint already exists")
	for _, broken := range []string{"ssh-ed25519", "ssh-ed25519 ***", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIGJh"} {
		_, _, err = b.SSHKey.Create(t.Context(), hcloud.SSHKeyCreateOpts{Name: "broken", PublicKey: broken})
		refused(t, err, hcloud.ErrorCodeInvalidInput, "public_key")
	}
	found, _, err := b.SSHKey.GetByFingerprint(t.Context(), made.Fingerprint)
	require.NoError(t, err)
	require.Equal(t, "key", found.Name)
	_, err = b.SSHKey.Delete(t.Context(), made)
	require.NoError(t, err)
}

func TestVolumes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "s")
	made, _, err := b.Volume.Create(t.Context(), hcloud.VolumeCreateOpts{Name: "v", Size: 10, Server: s, Format: hcloud.Ptr("ext4")})
	require.NoError(t, err)
	b.wait(t, nil, append(made.NextActions, made.Action)...)
	require.Contains(t, b.machines.Box(t, "s").Happened(), "disk /dev/sdb 10737418240")
	require.Contains(t, made.Volume.LinuxDevice, "/dev/disk/by-id/scsi-0HC_Volume_")
	require.Len(t, b.find(t, "s").Volumes, 1)
	_, _, err = b.Volume.Attach(t.Context(), made.Volume, s)
	refused(t, err, hcloud.ErrorCodeVolumeAlreadyAttached, "already attached")
	_, err = b.Volume.Delete(t.Context(), made.Volume)
	refused(t, err, hcloud.ErrorCodeServiceError, "still attached")
	_, _, err = b.Volume.Resize(t.Context(), made.Volume, 5)
	refused(t, err, hcloud.ErrorCodeInvalidInput, "must be more than 10")
	action, _, err := b.Volume.Resize(t.Context(), made.Volume, 20)
	b.wait(t, err, action)
	action, _, err = b.Volume.Detach(t.Context(), made.Volume)
	b.wait(t, err, action)
	_, _, err = b.Volume.Detach(t.Context(), made.Volume)
	refused(t, err, hcloud.ErrorCodeServiceError, "not attached")
	_, err = b.Volume.Delete(t.Context(), made.Volume)
	require.NoError(t, err)

	_, _, err = b.Volume.Create(t.Context(), hcloud.VolumeCreateOpts{Name: "v", Size: 9, Location: &hcloud.Location{Name: "fsn1"}})
	refused(t, err, hcloud.ErrorCodeInvalidInput, "size")
	far, _, err := b.Volume.Create(t.Context(), hcloud.VolumeCreateOpts{Name: "far", Size: 10, Location: &hcloud.Location{Name: "hel1"}})
	require.NoError(t, err)
	b.wait(t, nil, far.Action)
	_, _, err = b.Volume.Attach(t.Context(), far.Volume, s)
	refused(t, err, hcloud.ErrorCodeInvalidInput, "same location")
}

func TestVolumesAreThereWhenAServerIsMadeWithThem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made, _, err := b.Volume.Create(t.Context(), hcloud.VolumeCreateOpts{Name: "v", Size: 10, Location: &hcloud.Location{Name: "fsn1"}})
	require.NoError(t, err)
	b.wait(t, nil, made.Action)
	s := b.server(t, "s", func(opts *hcloud.ServerCreateOpts) { opts.Volumes = []*hcloud.Volume{made.Volume} })
	disks := b.machines.Box(t, "s").Spec.Disks
	require.Len(t, disks, 2)
	require.Equal(t, "/dev/sdb", disks[1].Device)
	deleted, _, err := b.Server.DeleteWithResult(t.Context(), s)
	require.NoError(t, err)
	b.wait(t, nil, deleted.Action)
	left, _, err := b.Volume.GetByID(t.Context(), made.Volume.ID)
	require.NoError(t, err)
	require.Nil(t, left.Server)
}

func TestPrimaryIPsMoveBetweenServersThatAreOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "s")
	made, _, err := b.PrimaryIP.Create(t.Context(), hcloud.PrimaryIPCreateOpts{Name: "ip", Type: hcloud.PrimaryIPTypeIPv4, Location: "fsn1"})
	require.NoError(t, err)
	assign := hcloud.PrimaryIPAssignOpts{ID: made.PrimaryIP.ID, AssigneeID: s.ID, AssigneeType: "server"}
	_, _, err = b.PrimaryIP.Assign(t.Context(), assign)
	refused(t, err, hcloud.ErrorCodeServerHasIPv4, "already has")
	_, _, err = b.PrimaryIP.Unassign(t.Context(), s.PublicNet.IPv4.ID)
	refused(t, err, hcloud.ErrorCodeServerNotStopped, "must be stopped")
	action, _, err := b.Server.Poweroff(t.Context(), s)
	b.wait(t, err, action)
	action, _, err = b.PrimaryIP.Unassign(t.Context(), s.PublicNet.IPv4.ID)
	b.wait(t, err, action)
	require.True(t, b.find(t, "s").PublicNet.IPv4.IsUnspecified())
	action, _, err = b.PrimaryIP.Assign(t.Context(), assign)
	b.wait(t, err, action)
	require.Equal(t, made.PrimaryIP.IP.String(), b.find(t, "s").PublicNet.IPv4.IP.String())
	box := b.machines.Box(t, "s")
	log := box.Happened()
	require.Equal(t, "attach eth0 "+box.Spec.NICs[0].MAC, log[len(log)-1])
	require.Equal(t, made.PrimaryIP.IP.String()+"/32", box.NIC(t, "eth0").Addresses[0].String())
	action, _, err = b.PrimaryIP.ChangeProtection(t.Context(), hcloud.PrimaryIPChangeProtectionOpts{ID: made.PrimaryIP.ID, Delete: true})
	b.wait(t, err, action)
	_, err = b.PrimaryIP.Delete(t.Context(), made.PrimaryIP)
	refused(t, err, hcloud.ErrorCodeProtected, "primary ip deletion is protected")
}

func TestReverseNamesOfServers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "s")
	action, _, err := b.Server.ChangeDNSPtr(t.Context(), s, s.PublicNet.IPv4.IP.String(), hcloud.Ptr("s.example.com"))
	b.wait(t, err, action)
	require.Equal(t, "s.example.com", b.find(t, "s").PublicNet.IPv4.DNSPtr)
}

func TestImages(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) {
		o.Images = func(talos, _, _ string) error {
			if talos != "1.13.8" {
				return errors.New("no such version")
			}
			return nil
		}
	})
	_, err := b.cloud.AddSnapshot(Snapshot{Name: "x", Talos: "9", Arch: "amd64"})
	require.ErrorContains(t, err, `snapshot "x": no such version`)
	_, err = b.cloud.AddSnapshot(Snapshot{Name: "x", Talos: "1.13.8", Arch: "mips"})
	require.ErrorContains(t, err, "mips")
	_, err = b.cloud.AddSnapshot(Snapshot{Name: "arm", Talos: "1.13.8", Arch: "arm64", Labels: map[string]string{"os": "talos"}})
	require.NoError(t, err)
	list := func(opts hcloud.ImageListOpts) []*hcloud.Image {
		images, err := b.Image.AllWithOpts(t.Context(), opts)
		require.NoError(t, err)
		return images
	}
	talos := hcloud.ListOpts{LabelSelector: "os=talos"}
	require.Len(t, list(hcloud.ImageListOpts{ListOpts: talos}), 2)
	arm := list(hcloud.ImageListOpts{ListOpts: talos, Architecture: []hcloud.Architecture{hcloud.ArchitectureARM}, Type: []hcloud.ImageType{hcloud.ImageTypeSnapshot}})
	require.Len(t, arm, 1)
	require.Equal(t, "arm", arm[0].Description)
	require.Len(t, list(hcloud.ImageListOpts{Name: "debian-12"}), 2)
	require.Empty(t, list(hcloud.ImageListOpts{Status: []hcloud.ImageStatus{hcloud.ImageStatusCreating}}))
	found, _, err := b.Image.GetForArchitecture(t.Context(), "ubuntu-24.04", hcloud.ArchitectureARM)
	require.NoError(t, err)
	require.Equal(t, hcloud.ArchitectureARM, found.Architecture)

	updated, _, err := b.Image.Update(t.Context(), arm[0], hcloud.ImageUpdateOpts{Description: hcloud.Ptr("other"), Labels: map[string]string{}})
	require.NoError(t, err)
	require.Equal(t, "other", updated.Description)
	action, _, err := b.Image.ChangeProtection(t.Context(), arm[0], hcloud.ImageChangeProtectionOpts{Delete: hcloud.Ptr(true)})
	b.wait(t, err, action)
	_, err = b.Image.Delete(t.Context(), arm[0])
	refused(t, err, hcloud.ErrorCodeProtected, "image deletion is protected")
}

// In October 2025 Hetzner announced the end of cx22 to cx52, and in Europe of
// cpx11 to cpx51. Since then a type that is gone everywhere is listed no more,
// and one that is gone in some locations says so there.
func TestServerTypesThatAreNoLongerSold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"cx22", "cx32", "cx42", "cx52"} {
		gone, _, err := b.ServerType.GetByName(t.Context(), name)
		require.NoError(t, err)
		require.Nil(t, gone, name)
	}
	for location, want := range map[string]string{
		"fsn1": `Server Type "cpx21" is unavailable in "fsn1" and can no longer be ordered`,
		"ash":  "",
	} {
		kind, _, err := b.ServerType.GetByName(t.Context(), "cpx21")
		require.NoError(t, err)
		message, unavailable := deprecationutil.ServerTypeMessage(kind, location)
		require.Equal(t, want, message)
		require.Equal(t, want != "", unavailable)
		for _, at := range kind.Locations {
			require.Equal(t, at.IsDeprecated(), !at.Available, at.Location.Name)
		}
	}
	for _, name := range []string{"cx23", "cx33", "cx43", "cx53", "cpx12", "cpx22", "cpx32", "cpx42", "cpx52", "cpx62", "cax11"} {
		kind, _, err := b.ServerType.GetByName(t.Context(), name)
		require.NoError(t, err)
		message, _ := deprecationutil.ServerTypeMessage(kind, "fsn1")
		require.Empty(t, message, name)
	}
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	types, err := b.ServerType.All(t.Context())
	require.NoError(t, err)
	for _, kind := range types {
		require.NotEmpty(t, kind.Locations, kind.Name)
	}
	arm, _, err := b.ServerType.GetByName(t.Context(), "cax11")
	require.NoError(t, err)
	require.Equal(t, hcloud.ArchitectureARM, arm.Architecture)
	locations, err := b.Location.All(t.Context())
	require.NoError(t, err)
	require.Len(t, locations, 6)
	iso, _, err := b.ISO.Get(t.Context(), "talos-amd64-omni-stable.iso")
	require.NoError(t, err)
	require.NotNil(t, iso)
	balancer, _, err := b.LoadBalancerType.GetByID(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, "lb21", balancer.Name)
	absent, _, err := b.ServerType.GetByID(t.Context(), 999)
	require.NoError(t, err)
	require.Nil(t, absent)
}
