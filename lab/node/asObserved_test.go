package node

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/safe"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// What was observed on real nodes and that clients must not trip over.

// A node that goes down says that it is ready as long as it answers, and answers with the
// API of the cluster.
func TestANodeThatGoesDownIsReadyAndAnswers(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	for stage, ask := range map[string]func(*node) error{
		"rebooting": func(n *node) error { return n.Reboot("", false) },
		"resetting": func(n *node) error {
			return n.Reset("", talosapi.ResetRequest{Reboot: true, Partitions: []string{"STATE", "EPHEMERAL"}})
		},
	} {
		t.Run(stage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.cluster1("hcloud", cfg)
				if err := ask(cp.running()); err != nil {
					t.Fatal(err)
				}
				lab.until("cp-1", "stage", stage)
				synctest.Wait()
				if _, ready := cp.running().sequencer.Stage(); !ready {
					t.Error("it is not ready")
				}
				began := lab.facts()
				if api := lab.api.of("cp-1"); api != "full" {
					t.Errorf("the API is %q", api)
				}
				lab.until("cp-1", "api", "without machined")
				synctest.Wait()
				if api := lab.api.of("cp-1"); api != "without machined" {
					t.Errorf("the API at the end is %q", api)
				}
				passed := lab.facts()
				if seconds := passed[len(passed)-1].At - began[len(began)-1].At; seconds < 1 {
					t.Errorf("it answered for %.1f s", seconds)
				}
				lab.until("cp-1", "api", "closed")
			})
		})
	}
}

func TestServicesThatClientsCannotStart(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.waitingControlPlane("1.13.8", cfg)
		n := cp.running()
		for _, known := range []struct{ id, action, refused string }{
			{"etcd", "start", ""}, // it waits for the bootstrap, and so is started
			{"etcd", "stop", `service "etcd" doesn't support stop operation via API`},
			{"etcd", "restart", `service "etcd" doesn't support restart operation via API`},
			{"nosuch", "start", `service "nosuch" is not registered`},
		} {
			if err := n.ServiceAction(known.id, known.action); (err == nil) != (known.refused == "") || err != nil && err.Error() != known.refused {
				t.Errorf("%s of %s: %v", known.action, known.id, err)
			}
		}
		n.services.MakeOptional("etcd")
		if err := n.services.Stop(t.Context(), "etcd"); err != nil {
			t.Fatal(err)
		}
		if err := n.ServiceAction("etcd", "start"); err == nil || err.Error() != `service "etcd" doesn't support start operation via API` {
			t.Errorf("start of an etcd that has finished: %v", err)
		}
	})
}

func TestABootstrapRightAfterTheBoot(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.configure(cp, cfg)
		lab.settle()
		lab.read = len(lab.facts())
		if err := cp.running().Reboot("", true); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "api", "apid")
		if stage, _ := cp.running().sequencer.Stage(); stage.String() != "booting" {
			t.Errorf("the stage is %s", stage)
		}
		if err := cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{}); status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "bootstrap is not available yet") {
			t.Errorf("a bootstrap before cri is up: %v", err)
		}
		lab.bootstrapWhenReady(cp)
	})
}

// Talos takes such a config, and then fails to use it.
func TestPodSubnetsWithoutAMask(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane, strings.NewReplacer("10.244.0.0/16", "10.244.0.0").Replace)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.configure(cp, cfg)
		lab.settle()
		for _, failing := range []string{"k8s.AddressFilterController"} {
			if !slices.ContainsFunc(cp.running().grep("controller-runtime", "controller failed"), func(line string) bool { return strings.Contains(line, failing) }) {
				t.Errorf("%s does not fail", failing)
			}
		}
	})
}

// What the kernel adds to the addresses and routes that were decided.
func TestAddressesAndRoutesOfTheKernel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		lab.intoMaintenance(cp)
		st := cp.running().boot.State
		addresses, err := safe.StateListAll[*network.AddressStatus](t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]network.AddressStatusSpec{}
		for address := range addresses.All() {
			seen[address.Metadata().ID()] = *address.TypedSpec()
		}
		if own := seen["eth0/fe80::9000:ff:fe00:1/64"]; own.Scope.String() != "link" || own.Flags.String() != "permanent" {
			t.Errorf("the address of the link is %+v among %v", own, seen)
		}
		if leased := seen["eth0/198.51.100.1/32"]; leased.Priority != 1024 || leased.Flags.String() != "permanent" {
			t.Errorf("the leased address is %+v", leased)
		}
		routes, err := safe.StateListAll[*network.RouteStatus](t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for route := range routes.All() {
			spec := route.TypedSpec()
			found = append(found, strings.Join([]string{spec.Table.String(), spec.Type.String(), spec.Destination.String(), spec.OutLinkName}, " "))
		}
		for _, wanted := range []string{
			"local local 198.51.100.1/32 eth0", "local local 127.0.0.0/8 lo", "local local fe80::9000:ff:fe00:1/128 eth0", "main unicast fe80::/64 eth0",
		} {
			if !slices.Contains(found, wanted) {
				t.Errorf("no route %q among %q", wanted, found)
			}
		}
		if up := lab.network.addresses(); !slices.Equal(up, []string{"198.51.100.1"}) {
			t.Errorf("the lab's network has %q", up)
		}
		clock, err := safe.StateGetByID[*timeresource.Status](t.Context(), st, timeresource.StatusID)
		if err != nil || !clock.TypedSpec().Synced || clock.TypedSpec().Epoch != 0 {
			t.Errorf("the clock is %+v, %v", clock.TypedSpec(), err)
		}
	})
}
