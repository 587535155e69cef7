package dhcp

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func server(t *testing.T, from, to string) *Server {
	t.Helper()
	made, err := New(Options{
		Network: netip.MustParsePrefix("10.0.0.0/16"), Gateway: netip.MustParseAddr("10.0.0.1"),
		From: netip.MustParseAddr(from), To: netip.MustParseAddr(to), Timeline: timeline.New(time.Now, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestTheSameMACGetsTheSameAddress(t *testing.T) {
	one, other := server(t, "10.0.0.100", "10.0.0.199"), server(t, "10.0.0.100", "10.0.0.199")
	macs := []string{"02:68:39:ad:f0:7c", "02:00:00:00:00:01"}
	var got []netip.Prefix
	for _, mac := range macs {
		for range 2 {
			lease, err := one.Lease(mac, "vm-300")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lease.Address)
		}
	}
	if got[0] != got[1] || got[2] != got[3] || got[0] == got[2] {
		t.Errorf("leases: %v", got)
	}
	// Another life of the lab, and another order.
	lease, err := other.Lease(strings.ToUpper(macs[1]), "vm-301")
	if err != nil || lease.Address != got[2] || lease.Gateway != netip.MustParseAddr("10.0.0.1") {
		t.Errorf("the other server gives %v, %v", lease, err)
	}
}

func TestNobodyGetsAnAddressThatIsTaken(t *testing.T) {
	one := server(t, "10.0.0.100", "10.0.0.103")
	if err := one.Reserve("02:00:00:00:00:99", netip.MustParseAddr("10.0.0.101")); err != nil {
		t.Fatal(err)
	}
	given := map[netip.Prefix]bool{}
	for i := range 3 {
		lease, err := one.Lease(fmt.Sprintf("02:00:00:00:00:%02x", i), "vm")
		if err != nil {
			t.Fatal(err)
		}
		given[lease.Address] = true
	}
	if len(given) != 3 || given[netip.MustParsePrefix("10.0.0.101/16")] {
		t.Errorf("given: %v", given)
	}
	if _, err := one.Lease("02:00:00:00:00:aa", "vm"); err == nil {
		t.Error("a fifth got an address of four")
	}
	one.Release("02:00:00:00:00:00")
	if _, err := one.Lease("02:00:00:00:00:aa", "vm"); err != nil {
		t.Errorf("after one was given back: %v", err)
	}
	reserved, err := one.Lease("02-00-00-00-00-99", "cp-1")
	if err != nil || reserved.Address != netip.MustParsePrefix("10.0.0.101/16") {
		t.Errorf("the reserved one: %v, %v", reserved, err)
	}
	if leases := one.Leases(); len(leases) != 4 || leases[1].Machine != "cp-1" || !leases[1].Reserved {
		t.Errorf("leases: %+v", leases)
	}
}

func TestAnAddressIsPassedOn(t *testing.T) {
	const before, after, other, addr = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03", "10.0.0.31"
	one := server(t, "10.0.0.100", "10.0.0.103")
	if err := one.Reserve(before, netip.MustParseAddr(addr)); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Lease(other, "vm"); err != nil {
		t.Fatal(err)
	}
	for _, refused := range [][2]string{{before, other}, {after, before}, {before, "x"}, {"x", after}} {
		if err := one.Pass(refused[0], refused[1]); err == nil {
			t.Errorf("from %s to %s: it is passed on", refused[0], refused[1])
		}
	}
	for _, to := range []string{before, after} {
		if err := one.Pass(before, to); err != nil {
			t.Errorf("to %s: %v", to, err)
		}
		if leases := one.Leases(); len(leases) != 2 || leases[0] != (Lease{MAC: to, Address: netip.MustParseAddr(addr), Reserved: true}) {
			t.Errorf("leases: %+v", leases)
		}
	}
}

func TestAServerThatCannotBe(t *testing.T) {
	for _, options := range []Options{
		{From: netip.MustParseAddr("10.1.0.1"), To: netip.MustParseAddr("10.0.0.9")},
		{From: netip.MustParseAddr("10.0.0.9"), To: netip.MustParseAddr("10.0.0.8")},
		{From: netip.MustParseAddr("10.0.0.9")},
	} {
		options.Network, options.Gateway = netip.MustParsePrefix("10.0.0.0/16"), netip.MustParseAddr("10.0.0.1")
		if _, err := New(options); err == nil {
			t.Errorf("%s to %s is taken", options.From, options.To)
		}
	}
}
