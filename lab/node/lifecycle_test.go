package node

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// configure waits for maintenance and gives the node its config.
func (l *testLab) configure(one *box, cfg func() configured) {
	l.t.Helper()
	l.until(one.spec.Name, "stage", "maintenance")
	synctest.Wait()
	if err := one.running().SetConfig(cfg().provider, true, 0); err != nil {
		l.t.Fatal(err)
	}
}

// bootstrapWhenReady asks for a bootstrap as soon as the node takes it.
func (l *testLab) bootstrapWhenReady(one *box) {
	l.t.Helper()
	for !one.running().services.IsUp("cri") {
		l.until(one.spec.Name, "service", "healthy")
	}
	if err := one.running().Bootstrap(l.t.Context(), talosapi.BootstrapRequest{}); err != nil {
		l.t.Fatal(err)
	}
}

func TestAnAPIThatDoesNotStartAfterMaintenanceStartsAgain(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		lab.api.failures = 2
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.configure(cp, cfg)
		lab.until("cp-1", "api", "apid")
		if api := lab.api.of("cp-1"); api != "full" {
			t.Fatalf("the API after maintenance is %q", api)
		}
	})
}

func TestAControlPlaneComesUpFromASnapshot(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		facts := lab.until("cp-1", "stage", "maintenance")
		if stages := values(facts, "cp-1", "stage"); !slices.Equal(stages, []string{"booting", "maintenance"}) {
			t.Fatalf("stages: %q", stages)
		}
		synctest.Wait()
		if api := lab.api.of("cp-1"); api != "maintenance" {
			t.Fatalf("the API in maintenance is %q", api)
		}
		if code := status.Code(cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{})); code != codes.FailedPrecondition {
			t.Fatalf("a bootstrap in maintenance: %s", code)
		}
		if err := cp.running().SetConfig(cfg().provider, true, 0); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "service", "Preparing")
		synctest.Wait()
		lab.bootstrapWhenReady(cp)
		facts = lab.until("cp-1", "stage", "running")
		if stages := values(facts, "cp-1", "stage"); !slices.Equal(stages, []string{"running"}) {
			t.Fatalf("stages after the bootstrap: %q", stages)
		}
		if err := cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{}); status.Code(err) != codes.AlreadyExists {
			t.Fatalf("a second bootstrap: %v", err)
		}
		lab.untilReady(cp)
		if failed := cp.running().grep("controller-runtime", "controller failed"); len(failed) > 0 {
			t.Errorf("controllers that failed:\n%s", strings.Join(failed, "\n"))
		}
		plane := lab.kubernetes.plane("cp-1")
		if plane.Address != netip.MustParseAddr("198.51.100.1") || plane.Port != 6443 || len(plane.Pods) != 3 {
			t.Errorf("the control plane is at %s:%d with %d pods", plane.Address, plane.Port, len(plane.Pods))
		}
		for _, file := range []string{"kube-apiserver/apiserver.crt", "kube-apiserver/encryptionconfig.yaml", "kube-controller-manager/ca.key", "kube-scheduler/kubeconfig"} {
			if len(plane.Files["/system/secrets/kubernetes/"+file]) == 0 {
				t.Errorf("no file %s", file)
			}
		}
		if lab.kubernetes.applied == 0 {
			t.Error("Talos' manifests were not applied")
		}
	})
}

// A control plane stays booting until the bootstrap.
func TestAControlPlaneWaitsForTheBootstrap(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.make(spec("cp-1", "hcloud", "1.12.6", 1))
		cp.PowerOn()
		lab.configure(cp, cfg)
		lab.settle()
		n := cp.running()
		if stage, _ := n.sequencer.Stage(); stage.String() != "booting" {
			t.Errorf("the stage is %s", stage)
		}
		for _, service := range n.Services() {
			if service.Id == "etcd" {
				last := service.Events.Events[len(service.Events.Events)-1]
				if service.State != "Preparing" || last.Msg != "Running pre state" || !service.Health.Unknown {
					t.Errorf("etcd is %s, %q, health known: %v", service.State, last.Msg, !service.Health.Unknown)
				}
			}
		}
	})
}

// What clients see of an install depends on the version, and on whether the node has its
// hostname before STATE is mounted: only then has it a certificate.
func TestInstallation(t *testing.T) {
	static := strings.NewReplacer("auto: stable", "hostname: w-1").Replace
	for _, known := range []struct {
		name, version string
		hostname      func(string) string
		apis          []string // from the config on
	}{
		{"1.12 with a static hostname", "1.12.6", static, []string{"closed", "apid"}},
		{"1.12 with a stable hostname", "1.12.6", nil, []string{"closed", "apid"}},
		{"1.13 with a static hostname", "1.13.8", static, []string{"closed", "apid", "without machined", "closed", "apid"}},
		{"1.13 with a stable hostname", "1.13.8", nil, []string{"closed", "apid"}},
	} {
		patches := []func(string) string{strings.NewReplacer("v1.13.8", "v"+known.version).Replace}
		if known.hostname != nil {
			patches = append(patches, known.hostname)
		}
		cfg := configOf(t, talosmachine.TypeWorker, patches...)
		plane := configOf(t, talosmachine.TypeControlPlane)
		t.Run(known.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
				cp.PowerOn()
				lab.configure(cp, plane)
				lab.settle()
				worker := lab.make(spec("w-1", "metal", known.version, 2))
				worker.PowerOn()
				lab.configure(worker, cfg)
				facts := lab.until("w-1", "stage", "running")
				stages := []string{"booting", "installing", "rebooting", "booting", "running"}
				if seen := values(facts, "w-1", "stage"); !slices.Equal(seen, stages) {
					t.Errorf("stages: %q, wanted %q", seen, stages)
				}
				if apis := values(facts, "w-1", "api"); !slices.Equal(apis, known.apis) {
					t.Errorf("APIs: %q, wanted %q", apis, known.apis)
				}
				if installed := values(facts, "w-1", "installed"); !slices.Equal(installed, []string{known.version}) {
					t.Errorf("installed: %q", installed)
				}
			})
		})
	}
}

// A worker has no key of the CA: its API answers once a control plane's trustd
// has signed.
func TestAWorkerNeedsAControlPlane(t *testing.T) {
	worker, plane := configOf(t, talosmachine.TypeWorker), configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		w := lab.make(spec("w-1", "hcloud", "1.13.8", 2))
		w.PowerOn()
		lab.configure(w, worker)
		lab.settle()
		if api := lab.api.of("w-1"); api == "full" {
			t.Fatalf("the API of a worker without a control plane is %q", api)
		}
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.configure(cp, plane)
		lab.settle()
		if api := lab.api.of("w-1"); api != "full" {
			t.Fatalf("the API of the worker is %q", api)
		}
		names := map[string]bool{}
		for _, member := range members(t, w.running()) {
			names[member] = true
		}
		if !names["cp-1"] || !names["w-1"] {
			t.Errorf("the worker knows the members %v", names)
		}
	})
}

func TestUserDataIsTheConfig(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		given := spec("cp-1", "hcloud", "1.13.8", 1)
		given.UserData = bytesOf(t, cfg().provider)
		cp := lab.make(given)
		cp.PowerOn()
		facts := lab.until("cp-1", "api", "apid")
		if stages := values(facts, "cp-1", "stage"); slices.Contains(stages, "maintenance") {
			t.Errorf("stages: %q", stages)
		}
	})
}

func TestANetworkIsAttachedWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.until("cp-1", "stage", "maintenance")
		private := machine.NIC{
			Name: "eth1", MAC: "86:00:00:00:00:01", DHCP: true, Gateway: netip.MustParseAddr("10.0.0.1"),
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.11/32")},
		}
		cp.Attach(private)
		lab.until("cp-1", "address", "10.0.0.11")
		if up := lab.network.addresses(); !slices.Equal(up, []string{"10.0.0.11", "198.51.100.1"}) {
			t.Errorf("up: %q", up)
		}
		cp.Detach(private.MAC)
		lab.until("cp-1", "address gone", "10.0.0.11")
	})
}

func TestPower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		lab.intoMaintenance(cp)
		first := cp.running().boot.ID
		cp.Reset()
		lab.until("cp-1", "stage", "maintenance")
		synctest.Wait()
		if second := cp.running().boot.ID; second == first {
			t.Errorf("the boot id is %s twice", second)
		}
		cp.Shutdown()
		lab.until("cp-1", "power", "off")
		synctest.Wait()
		if cp.Powered() || len(lab.network.addresses()) > 0 {
			t.Errorf("powered: %v, up: %v", cp.Powered(), lab.network.addresses())
		}
	})
}
