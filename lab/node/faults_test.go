package node

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

func (l *testLab) arm(rule fault.Rule) string {
	l.t.Helper()
	id, err := l.faults.Add(rule)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

func TestAHeldStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		hold := lab.arm(fault.Rule{On: fault.Stage, Name: "maintenance", Do: fault.Hold})
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.settle()
		if stages := values(lab.facts(), "cp-1", "stage"); !slices.Equal(stages, []string{"booting"}) {
			t.Errorf("stages: %q", stages)
		}
		if err := lab.faults.Remove(hold); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "stage", "maintenance")
	})
}

func TestACrash(t *testing.T) {
	for _, known := range []struct {
		code    string
		powered bool
	}{{"", true}, {"off", false}} {
		t.Run("code "+known.code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				lab.arm(fault.Rule{On: fault.Stage, Name: "maintenance", Do: fault.Crash, Code: known.code, Times: 1})
				cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
				cp.PowerOn()
				lab.settle()
				if cp.Powered() != known.powered {
					t.Errorf("powered: %v", cp.Powered())
				}
				if again := slices.Contains(values(lab.facts(), "cp-1", "stage"), "maintenance"); again != known.powered {
					t.Errorf("in maintenance after the crash: %v", again)
				}
			})
		})
	}
}

func TestAServiceThatFails(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		lab.arm(fault.Rule{On: fault.Service, Name: "kubelet", Do: fault.Fail, Message: "no such image", Times: 2})
		cp := lab.cluster1("hcloud", cfg)
		failed := 0
		for _, fact := range lab.facts() {
			if fact.What == "service" && fact.Value == "Failed" && fact.Detail["id"] == "kubelet" {
				failed++
			}
		}
		if failed != 2 || len(cp.running().grep("machined", "no such image")) != 2 {
			t.Errorf("the kubelet failed %d times", failed)
		}
	})
}

func TestADiskThatIsNotThere(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeWorker)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		lab.arm(fault.Rule{On: fault.Disk, Name: "/dev/sda", Do: fault.Absent, Times: 1})
		w := lab.make(spec("w-1", "metal", "1.13.8", 1))
		w.PowerOn()
		lab.until("w-1", "stage", "maintenance")
		synctest.Wait()
		if disks := w.running().disks(); len(disks) > 0 {
			t.Errorf("disks: %v", disks)
		}
		errors := errorsOf(t, w.running())
		if err := w.running().SetConfig(cfg().provider, true, 0); err != nil {
			t.Fatal(err)
		}
		// The install fails, and the machine reboots into maintenance with its disk.
		lab.until("w-1", "stage", "maintenance")
		synctest.Wait()
		if len(*errors) == 0 || !strings.Contains((*errors)[0], "/dev/sda: no such file or directory") {
			t.Errorf("errors in events: %q", *errors)
		}
		if disks := w.running().disks(); len(disks) != 1 {
			t.Errorf("disks: %v", disks)
		}
	})
}

// errorsOf collects the errors of sequences.
func errorsOf(t *testing.T, n *node) *[]string {
	t.Helper()
	found := &[]string{}
	go func() {
		_ = n.Events(t.Context(), 0, func(event talosapi.Event) error {
			if sequence, is := event.Payload.(*machineapi.SequenceEvent); is && sequence.Error != nil {
				*found = append(*found, sequence.Error.Message)
			}
			return nil
		})
	}()
	synctest.Wait()
	return found
}

func TestAForeignNode(t *testing.T) {
	own := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		lab.arm(fault.Rule{On: fault.PKI, Subject: "cp-2", Do: fault.Other})
		cp := lab.make(spec("cp-2", "hcloud", "1.13.8", 2))
		cp.PowerOn()
		facts := lab.until("cp-2", "api", "apid")
		if slices.Contains(values(facts, "cp-2", "stage"), "maintenance") {
			t.Error("it was in maintenance")
		}
		foreign, err := cp.running().clusterID()
		if err != nil {
			t.Fatal(err)
		}
		if ours, err := (&node{cfg: own().provider}).clusterID(); err != nil || ours == foreign {
			t.Errorf("its cluster is ours: %v, %v", ours, err)
		}
	})
}
