package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// serviceOf is a service, with its state, its health and its last message.
func serviceOf(t testing.TB, one *box, id string) (state string, health *machineapi.ServiceHealth, message string) {
	t.Helper()
	for _, service := range one.running().Services() {
		if service.GetId() == id {
			events := service.GetEvents().GetEvents()
			return service.GetState(), service.GetHealth(), events[len(events)-1].GetMsg()
		}
	}
	t.Fatalf("there is no service %s", id)
	return "", nil, ""
}

// etcdService is the service etcd, with its state and its last message.
func etcdService(t testing.TB, one *box) (state, message string, events []*machineapi.ServiceEvent) {
	t.Helper()
	for _, service := range one.running().Services() {
		if service.GetId() == "etcd" {
			events = service.GetEvents().GetEvents()
			return service.GetState(), events[len(events)-1].GetMsg(), events
		}
	}
	t.Fatal("there is no service etcd")
	return "", "", nil
}

func wantEtcd(t testing.TB, one *box, state, message string) {
	t.Helper()
	if is, said, _ := etcdService(t, one); is != state || said != message {
		t.Errorf("etcd is %s, %q; wanted %s, %q", is, said, state, message)
	}
}

// waitingControlPlane returns a control plane whose etcd waits to be bootstrapped.
func (l *testLab) waitingControlPlane(version string, cfg func() configured) *box {
	l.t.Helper()
	l.kubernetes.joining = time.Second
	cp := l.make(spec("cp-1", "hcloud", version, 1))
	cp.PowerOn()
	l.configure(cp, cfg)
	l.settle()
	wantEtcd(l.t, cp, "Preparing", "Running pre state")
	return cp
}

func TestASecondBootstrapStopsTheEtcdOfTheFirst(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.waitingControlPlane("1.13.8", cfg)
		if err := cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{}); err != nil {
			t.Fatal(err)
		}
		if _, _, events := etcdService(t, cp); !events[0].GetTs().AsTime().Equal(time.Now()) {
			t.Errorf("the etcd of a bootstrap begins with the events of the one before: %v", events)
		}
		err := cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{})
		if status.Code(err) != codes.Unknown || err.Error() != "etcd data directory is not empty" {
			t.Fatalf("a second bootstrap: %v", err)
		}
		wantEtcd(t, cp, "Finished", "Bootstrap requested")
		lab.until("cp-1", "stage", "running")
		lab.settle()
		wantEtcd(t, cp, "Finished", "Bootstrap requested")
		for _, action := range []string{"start", "restart"} {
			if err := cp.running().ServiceAction("etcd", action); err == nil || err.Error() != `service "etcd" doesn't support start operation via API` {
				t.Errorf("%s: %v", action, err)
			}
		}
		if err := cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{}); status.Code(err) != codes.AlreadyExists {
			t.Errorf("a third bootstrap: %v", err)
		}
		if err := cp.running().Reboot("me", false); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "etcd", "member")
		lab.settle()
		wantEtcd(t, cp, "Running", "Health check successful")
	})
}

func TestABootstrapIsCanceledWithItsConnection(t *testing.T) {
	for version, left := range map[string][2]string{
		"1.12.6": {"Failed", "Failed to run pre stage: failed to build initial etcd cluster: failed to build cluster arguments: context canceled"},
		"1.13.8": {"Finished", "Service finished successfully"},
	} {
		cfg := configOf(t, talosmachine.TypeControlPlane, strings.NewReplacer("v1.13.8", "v"+version).Replace)
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.waitingControlPlane(version, cfg)
				gone, leave := context.WithCancel(t.Context())
				leave()
				if err := cp.running().Bootstrap(gone, talosapi.BootstrapRequest{}); !errors.Is(err, context.Canceled) {
					t.Fatalf("a canceled bootstrap: %v", err)
				}
				lab.settle()
				wantEtcd(t, cp, left[0], left[1])
				if lab.kubernetes.HasData("cp-1") {
					t.Error("there is data")
				}
				if err := cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{}); err != nil {
					t.Fatalf("the next bootstrap: %v", err)
				}
				lab.until("cp-1", "etcd", "member")
				lab.settle()
				wantEtcd(t, cp, "Running", "Health check successful")
			})
		})
	}
}

func TestTheImageOfEtcdCannotBePulled(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		id, err := lab.faults.Add(fault.Rule{On: fault.Image, Name: "*/etcd:*", Subject: "cp-1", Do: fault.Fail, Message: "no such host"})
		if err != nil {
			t.Fatal(err)
		}
		cp := lab.waitingControlPlane("1.13.8", cfg)
		if len(cp.running().grep("machined", "pulling image registry.k8s.io/etcd:")) == 0 {
			t.Error("the log does not have the pull")
		}
		if said := cp.running().grep("machined", "retrying error: failed to pull image"); len(said) < 2 || !strings.Contains(said[0], "no such host") {
			t.Errorf("the log says: %q", said)
		}
		// Who bootstraps twice meanwhile harms nothing: etcd has not started.
		for range 2 {
			if err := cp.running().Bootstrap(t.Context(), talosapi.BootstrapRequest{}); err != nil {
				t.Fatal(err)
			}
			lab.settle()
			wantEtcd(t, cp, "Preparing", "Running pre state")
		}
		if err := lab.faults.Remove(id); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "etcd", "member")
		lab.settle()
		wantEtcd(t, cp, "Running", "Health check successful")
		if images := cp.running().Images("system"); len(images) == 0 {
			t.Error("the image is not in the namespace of Talos")
		}
	})
}

// Talos sees static pods once the kubelet has found an API server, with which it checks
// who asks it. Until then they are no reason for a node not to be ready.
func TestStaticPodsAppearLate(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		lab.kubernetes.unreached = true
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.configure(cp, cfg)
		lab.settle()
		lab.bootstrapWhenReady(cp)
		lab.settle()
		if pods := len(lab.kubernetes.plane("cp-1").Pods); pods != 3 {
			t.Fatalf("%d static pods run", pods)
		}
		if shown, unmet := staticPodsOf(t, cp), unmetOf(t, cp); len(shown) > 0 || !slices.Equal(unmet, []string{"nodeReady"}) {
			t.Errorf("shown: %q, unmet: %q", shown, unmet)
		}
		lab.kubernetes.registers(cluster.NodeState{Registered: true, Ready: true})
		synctest.Wait()
		if shown, unmet := staticPodsOf(t, cp), unmetOf(t, cp); len(shown) != 3 || len(unmet) > 0 {
			t.Errorf("shown with an API server: %q, unmet: %q", shown, unmet)
		}
	})
}

func staticPodsOf(t *testing.T, b *box) []string {
	t.Helper()
	list, err := safe.StateListAll[*k8s.StaticPodStatus](t.Context(), b.running().boot.State)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for status := range list.All() {
		ids = append(ids, status.Metadata().ID())
	}
	return ids
}

// unmetOf are the conditions for being ready that are unmet.
func unmetOf(t *testing.T, b *box) []string {
	t.Helper()
	status, err := safe.StateGetByID[*runtimeresource.MachineStatus](t.Context(), b.running().boot.State, runtimeresource.MachineStatusID)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, condition := range status.TypedSpec().Status.UnmetConditions {
		names = append(names, condition.Name)
	}
	return names
}

func TestEtcdIsRecoveredFromASnapshot(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.waitingControlPlane("1.13.8", cfg)
		request := talosapi.BootstrapRequest{Recover: true}

		// Talos does not start it again where the snapshot is none, and the next bootstrap does.
		lab.kubernetes.recovery = errors.New("error verifying snapshot: invalid database")
		if err := cp.running().Bootstrap(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		lab.settle()
		wantEtcd(t, cp, "Failed", "Failed to run pre stage: error verifying snapshot: invalid database")
		if lab.kubernetes.HasData("cp-1") {
			t.Error("there is data")
		}
		// One that is cut off crashes machined, and the node boots again.
		lab.kubernetes.recovery = recovery.ErrCrashed
		if err := cp.running().Bootstrap(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "machined", "crashed")
		lab.settle()
		wantEtcd(t, cp, "Preparing", "Running pre state")
		lab.kubernetes.recovery = nil
		if err := lab.kubernetes.UploadSnapshot("cp-1", strings.NewReader("revision 42")); err != nil {
			t.Fatal(err)
		}
		if err := cp.running().Bootstrap(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "etcd", "member")
		lab.settle()
		wantEtcd(t, cp, "Running", "Health check successful")
		if len(cp.running().grep("machined", "recovering etcd from snapshot: revision 42")) != 1 {
			t.Error("the log does not have the recovery")
		}
	})
}
