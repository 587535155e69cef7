package node

import (
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

func TestTheAgentAnswersInMaintenanceToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one := lab.make(spec("cp-1", "nocloud", "1.13.8", 1))
		_, answers := one.Guest()
		require.False(t, answers, "it is off")
		one.PowerOn()
		lab.until("cp-1", "stage", "maintenance")
		lab.settle()
		guest, answers := one.Guest()
		require.True(t, answers)
		require.Equal(t, "1.13.8", guest.Talos)
		require.Contains(t, guest.Links, machine.GuestLink{
			Name: "eth0", MAC: "92:00:00:00:00:01",
			Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32"), netip.MustParsePrefix("fe80::9000:ff:fe00:1/64")},
		})
	})
}

func TestWithoutTheExtensionNoAgentAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		bare := spec("cp-1", "nocloud", "1.13.8", 1)
		bare.Image.Schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
		one := lab.make(bare)
		one.PowerOn()
		lab.until("cp-1", "stage", "maintenance")
		lab.settle()
		_, answers := one.Guest()
		require.False(t, answers)
	})
}
