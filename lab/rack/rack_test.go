package rack

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// workshop makes boxes that only record calls.
type workshop struct {
	made []*box
	// fails is what the next one fails with.
	fails error
}

type box struct {
	machine.Box
	spec        machine.Spec
	on, deleted bool
}

func (w *workshop) Make(spec machine.Spec) (machine.Box, error) {
	if err := w.fails; err != nil {
		w.fails = nil
		return nil, err
	}
	made := &box{spec: spec}
	w.made = append(w.made, made)
	return made, nil
}

func (b *box) PowerOn()               { b.on = true }
func (b *box) PowerOff()              { b.on = false }
func (b *box) Delete(context.Context) { b.deleted = true }

func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

var gateway = netip.MustParseAddr("10.0.1.1")

func racked(t *testing.T, machines ...Machine) (*Rack, *workshop, *dhcp.Server) {
	t.Helper()
	facts := timeline.New(time.Now, nil)
	router, err := dhcp.New(dhcp.Options{
		Network: prefix("10.0.1.0/24"), Gateway: gateway, From: netip.MustParseAddr("10.0.1.100"), To: netip.MustParseAddr("10.0.1.199"), Timeline: facts,
	})
	require.NoError(t, err)
	made := &workshop{}
	for i := range machines {
		machines[i].Gateway, machines[i].Talos = gateway, "1.13.8"
	}
	rack, err := New(Options{
		Makes: made, Timeline: facts, Schematic: "default",
		LAN: func(netip.Prefix, netip.Addr) (*dhcp.Server, error) { return router, nil },
		Meta: func(schematic string) (map[uint8]string, error) {
			if schematic == "own" {
				return map[uint8]string{10: "brought along"}, nil
			}
			return nil, nil
		},
		Learn: func(schematic, customization string) error {
			if customization == "broken" {
				return errors.New("not of " + schematic)
			}
			return nil
		},
	}, machines)
	require.NoError(t, err)
	return rack, made, router
}

func TestMachinesAreOnFromTheBeginning(t *testing.T) {
	_, made, router := racked(t,
		Machine{Name: "cp-1", Address: prefix("10.0.1.31/24"), MAC: "02:00:00:00:00:01", DHCP: true},
		Machine{Name: "w-1", Address: prefix("10.0.1.32/24"), MAC: "02:00:00:00:00:02"},
		Machine{Name: "w-2", Address: prefix("10.0.1.33/24"), Schematic: "own", Installed: true},
	)
	require.Len(t, made.made, 3)
	for _, one := range made.made {
		require.True(t, one.on, one.spec.Name)
		require.Equal(t, "metal", one.spec.Platform)
		require.NotEmpty(t, one.spec.UUID)
	}
	byDHCP, written, brought := made.made[0].spec, made.made[1].spec, made.made[2].spec
	require.Empty(t, byDHCP.Meta)
	require.Contains(t, written.Meta[10], "address: 10.0.1.32/24\n")
	require.Contains(t, written.Meta[10], "linkName: enx020000000002\n")
	require.Equal(t, "brought along", brought.Meta[10])
	require.True(t, brought.Image.Installed)
	leases := router.Leases()
	require.Equal(t, []dhcp.Lease{{MAC: "02:00:00:00:00:01", Address: netip.MustParseAddr("10.0.1.31"), Reserved: true}}, leases)
}

func TestAMachineIsReplaced(t *testing.T) {
	rack, made, router := racked(t, Machine{Name: "cp-1", Address: prefix("10.0.1.31/24"), DHCP: true})
	before := made.made[0]
	by, err := rack.Replace(t.Context(), "cp-1", Identity{})
	require.NoError(t, err)
	require.True(t, before.deleted)
	after := made.made[1]
	require.True(t, after.on)
	require.Equal(t, by, Identity{MAC: after.spec.NICs[0].MAC, UUID: after.spec.UUID})
	require.NotEqual(t, before.spec.UUID, after.spec.UUID)
	require.NotEqual(t, before.spec.NICs[0].MAC, after.spec.NICs[0].MAC)
	leases := router.Leases()
	require.Len(t, leases, 1)
	require.Equal(t, by.MAC, leases[0].MAC)
	require.Equal(t, "10.0.1.31", leases[0].Address.String())

	asked := Identity{MAC: "02:00:00:00:00:09", UUID: "00000000-0000-4000-8000-000000000009"}
	by, err = rack.Replace(t.Context(), "cp-1", asked)
	require.NoError(t, err)
	require.Equal(t, asked, by)
	for want, refused := range map[string]func() error{
		`no machine "cp-9": there are cp-1`: func() error { return rack.PowerOn("cp-9") },
		`mac: "x" is not a MAC address`: func() error {
			_, err := rack.Replace(t.Context(), "cp-1", Identity{MAC: "x"})
			return err
		},
	} {
		require.EqualError(t, refused(), want)
	}
	require.Len(t, made.made, 3)
}

func TestWhatFailsLeavesNothingBehind(t *testing.T) {
	rack, made, router := racked(t, Machine{Name: "cp-1", Address: prefix("10.0.1.31/24"), MAC: "02:00:00:00:00:01", DHCP: true})
	leases := router.Leases()
	more := []Machine{{Name: "w-1", Address: prefix("10.0.1.32/24"), Gateway: gateway, Talos: "1.13.8", DHCP: true}}
	made.fails = errors.New("no disk")
	_, err := rack.Add(more)
	require.EqualError(t, err, "machine w-1: no disk")
	require.Equal(t, leases, router.Leases())

	_, err = router.Lease("02:00:00:00:00:09", "unknown")
	require.NoError(t, err)
	leases = router.Leases()
	_, err = rack.Replace(t.Context(), "cp-1", Identity{MAC: "02:00:00:00:00:09"})
	require.ErrorContains(t, err, "machine cp-1: its address: 02:00:00:00:00:09 has 10.0.1.1")
	require.False(t, made.made[0].deleted, "the one before it is still there")
	require.Equal(t, leases, router.Leases())

	ended, end := context.WithCancel(t.Context())
	end()
	_, err = rack.Replace(ended, "cp-1", Identity{MAC: "02:00:00:00:00:02"})
	require.EqualError(t, err, "machine cp-1: does not end: context canceled")
	require.Equal(t, leases, router.Leases())
	made.fails = errors.New("no disk")
	_, err = rack.Replace(t.Context(), "cp-1", Identity{MAC: "02:00:00:00:00:02"})
	require.EqualError(t, err, "machine cp-1: no disk")
	require.Equal(t, leases, router.Leases())

	_, err = rack.Replace(t.Context(), "cp-1", Identity{MAC: "02:00:00:00:00:02"})
	require.NoError(t, err)
	added, err := rack.Add(more)
	require.NoError(t, err)
	require.Equal(t, []string{"w-1"}, added)
}

func TestMoreMachinesArePutIn(t *testing.T) {
	rack, made, _ := racked(t, Machine{Name: "cp-1", Address: prefix("10.0.1.31/24")})
	more := func(name, address string) Machine {
		return Machine{Name: name, Address: prefix(address), Gateway: gateway, Talos: "1.13.8"}
	}
	added, err := rack.Add([]Machine{more("cp-1", "10.0.1.31/24"), more("w-1", "10.0.1.32/24")})
	require.NoError(t, err)
	require.Equal(t, []string{"w-1"}, added)
	require.Len(t, made.made, 2)
	require.True(t, made.made[1].on)

	_, err = rack.Add([]Machine{more("w-2", "10.0.1.32/24")})
	require.EqualError(t, err, "machine w-2: machine w-1 has the address 10.0.1.32")
	broken := more("w-3", "10.0.1.33/24")
	broken.Customization = "broken"
	_, err = rack.Add([]Machine{broken})
	require.EqualError(t, err, "machine w-3: not of default")
	_, err = rack.Add([]Machine{{Name: "w-4"}})
	require.ErrorContains(t, err, "machines[0].talos: is missing")
	require.Len(t, made.made, 2)
}

func TestTheButtonAndThePlug(t *testing.T) {
	rack, made, _ := racked(t, Machine{Name: "cp-1", Address: prefix("10.0.1.31/24")})
	require.NoError(t, rack.PowerOff("cp-1"))
	require.False(t, made.made[0].on)
	require.NoError(t, rack.PowerOn("cp-1"))
	require.True(t, made.made[0].on)
	require.NoError(t, rack.Close(t.Context()))
	require.True(t, made.made[0].deleted)
}

func TestAllFaultsOfMachines(t *testing.T) {
	var said []string
	for _, err := range Check([]Machine{
		{Name: "a", Address: prefix("10.0.1.31/24"), Gateway: gateway, Talos: "1.13.8", MAC: "x", UUID: "AB"},
		{Name: "a", Address: prefix("10.0.1.31/24"), Gateway: netip.MustParseAddr("10.0.2.1"), Talos: "1.13.8", Disks: []Disk{{GB: 1}}},
		{Gateway: gateway},
	}) {
		said = append(said, err.Error())
	}
	wanted := []string{
		`machines[0].mac: "x" is not a MAC address`,
		`machines[0].uuid: "AB" is not a UUID in lower case with dashes`,
		"machines[1].gateway: must be an address in 10.0.1.0/24",
		"machines[1].disks: each needs a device and its size in GB",
		"machines[1].name: there is another a",
		"machines[1].address: another has 10.0.1.31",
		"machines[2].name: is missing",
		"machines[2].talos: is missing",
		"machines[2].address: must be an IPv4 address with its prefix, such as 10.0.1.31/24",
	}
	if !slices.Equal(said, wanted) {
		t.Errorf("said:\n%s", strings.Join(said, "\n"))
	}
}
