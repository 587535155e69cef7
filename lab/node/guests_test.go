package node

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/safe"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
)

// A program on the node, such as kube-vip, brings up addresses itself.
func TestAddressesOfProgramsOnTheNode(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	address := netip.MustParsePrefix("198.51.100.50/32")
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		first := lab.cluster1("metal", cfg)
		second := lab.make(spec("cp-2", "metal", "1.13.8", 2))
		second.PowerOn()
		lab.configure(second, cfg)
		lab.settle()

		hold := func(machine, link string) func() {
			t.Helper()
			release, err := lab.maker.Hold(machine, link, address)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return release
		}
		isUp := func() bool { return slices.Contains(lab.network.addresses(), "198.51.100.50") }

		release := hold(first.spec.Name, "eth0")
		if !isUp() {
			t.Fatalf("up: %q", lab.network.addresses())
		}
		n := first.running()
		if _, err := safe.StateGetByID[*network.AddressStatus](t.Context(), n.boot.State, network.AddressID("eth0", address)); err != nil {
			t.Errorf("Talos does not see it: %v", err)
		}
		release()
		synctest.Wait()
		if isUp() {
			t.Error("it is up after it was released")
		}

		// The new holder keeps it, whenever the old one releases it.
		release = hold(first.spec.Name, "")
		hold("cp-2", "")
		release()
		synctest.Wait()
		if !isUp() {
			t.Error("the old holder took it from the new one")
		}
		if !lab.maker.Runs("cp-2") {
			t.Error("cp-2 does not run")
		}
		second.PowerOff()
		lab.settle()
		if lab.maker.Runs("cp-2") {
			t.Error("cp-2 runs without power")
		}
		if isUp() {
			t.Error("it outlives the machine that holds it")
		}
	})
}

func TestAddressesThatCannotBeHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one := lab.make(spec("cp-1", "metal", "1.13.8", 1))
		hold := func(machine, link string) string {
			_, err := lab.maker.Hold(machine, link, netip.MustParsePrefix("198.51.100.50/32"))
			if err == nil {
				return ""
			}
			return err.Error()
		}
		if said := hold("cp-9", "eth0"); said != `there is no machine "cp-9"` {
			t.Error(said)
		}
		if said := hold("cp-1", "eth0"); said != `machine "cp-1" is not on` {
			t.Error(said)
		}
		one.PowerOn()
		lab.until("cp-1", "stage", "maintenance")
		if said := hold("cp-1", "tailscale0"); said != `link "tailscale0": Link not found` {
			t.Error(said)
		}
	})
}
