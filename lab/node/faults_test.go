package node

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"

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
		lab.intoMaintenance(w)
		if disks := w.running().hardware.Disks(); len(disks) > 0 {
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
		if disks := w.running().hardware.Disks(); len(disks) != 1 {
			t.Errorf("disks: %v", disks)
		}
	})
}

func TestAFailedInstall(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeWorker)
	for _, talos := range []string{"1.12.6", "1.13.8"} {
		t.Run(talos, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				lab.arm(fault.Rule{On: fault.Install, Name: "/dev/sda", Do: fault.Fail, Message: "exit code 1", Times: 1})
				w := lab.make(spec("w-1", "metal", talos, 1))
				w.PowerOn()
				lab.until("w-1", "stage", "maintenance")
				synctest.Wait()
				errors := errorsOf(t, w.running())
				if err := w.running().SetConfig(cfg().provider, true, 0); err != nil {
					t.Fatal(err)
				}
				failed := lab.until("w-1", "boot", "failed")
				back := lab.until("w-1", "stage", "maintenance")
				synctest.Wait()
				if passed := back[len(back)-1].At - failed[len(failed)-1].At; passed < 0.4 {
					t.Errorf("it rebooted at once, after %.1f s", passed)
				}
				if len(*errors) == 0 || !strings.Contains((*errors)[0], `task "upgrade" failed`) {
					t.Errorf("errors in events: %q", *errors)
				}
				if installed, _, saved := w.disk.Read(); installed != nil || saved != nil || w.running().Config() != nil {
					t.Error("it has Talos or a config")
				}
				// Sent again, the config is kept: the installer succeeds.
				if err := w.running().SetConfig(cfg().provider, true, 0); err != nil {
					t.Fatal(err)
				}
				lab.until("w-1", "installed", "1.13.8")
				lab.settle()
				if w.running().Maintenance() {
					t.Error("it has no config")
				}
			})
		})
	}
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
		ca := func(cfg config.Provider) []byte { return cfg.Cluster().IssuingCA().Crt }
		if bytes.Equal(ca(cp.running().Config()), ca(own().provider)) {
			t.Error("its cluster is ours")
		}
	})
}

// Services flap under load, also those of a node that runs: its stage stays, and it is
// not ready meanwhile.
func TestAServiceThatFlaps(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		lab.arm(fault.Rule{On: fault.Health, Name: "cri", Subject: "cp-1", Do: fault.Fail, Message: "no answer", Times: 2})
		forever := lab.arm(fault.Rule{On: fault.Health, Name: "kubelet", Do: fault.Fail})
		synctest.Wait()
		if unmet := unmetOf(t, cp); !slices.Equal(unmet, []string{"services"}) {
			t.Errorf("unmet: %q", unmet)
		}
		for id, wanted := range map[string]string{"cri": "Health check failed: no answer", "kubelet": "Health check failed: context deadline exceeded"} {
			if state, health, message := serviceOf(t, cp, id); state != "Running" || health.GetHealthy() || message != wanted {
				t.Errorf("%s is %s, healthy %v, %q", id, state, health.GetHealthy(), message)
			}
		}
		if stage, ready := cp.running().sequencer.Stage(); stage.String() != "running" || ready {
			t.Errorf("stage %s, ready %v", stage, ready)
		}
		lab.settle()
		if _, health, message := serviceOf(t, cp, "cri"); !health.GetHealthy() || message != "Health check successful" {
			t.Errorf("cri after two checks: healthy %v, %q", health.GetHealthy(), message)
		}
		if err := lab.faults.Remove(forever); err != nil {
			t.Fatal(err)
		}
		lab.untilReady(cp)
		if unmet := unmetOf(t, cp); len(unmet) > 0 {
			t.Errorf("unmet: %q", unmet)
		}
	})
}

func TestAClockThatIsWrong(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		lab.arm(fault.Rule{On: fault.Clock, Name: "boot", Do: fault.Skew, By: fault.Offset(48 * time.Hour), Times: 1})
		held := lab.arm(fault.Rule{On: fault.Clock, Name: "sync", Do: fault.Hold})
		cp := lab.make(spec("cp-1", "hcloud", "1.13.8", 1))
		cp.PowerOn()
		lab.configure(cp, cfg)
		lab.settle()
		if ahead := time.Until(cp.running().Now()); ahead != 48*time.Hour {
			t.Errorf("the clock is %s ahead", ahead)
		}
		api, err := safe.StateGetByID[*secrets.API](t.Context(), cp.running().boot.State, secrets.APIID)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := api.TypedSpec().Server.GetCert()
		if err != nil || time.Until(certificate.NotBefore) < 47*time.Hour {
			t.Errorf("the certificate is of %s, %v", certificate.NotBefore, err)
		}
		if state, _, message := serviceOf(t, cp, "etcd"); state != "Waiting" || !strings.Contains(message, "time sync") {
			t.Errorf("etcd without the time is %s, %q", state, message)
		}
		if err := lab.faults.Remove(held); err != nil {
			t.Fatal(err)
		}
		lab.settle()
		if ahead := time.Until(cp.running().Now()); ahead != 0 {
			t.Errorf("the clock is %s ahead after its time server answered", ahead)
		}
		if state, _, _ := serviceOf(t, cp, "etcd"); state != "Preparing" {
			t.Errorf("etcd is %s", state)
		}
	})
}

func TestAnImageOfAPod(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		images := lab.kubernetes.kubelets["cp-1"].Images
		lab.arm(fault.Rule{On: fault.Image, Name: "*/web:1", Subject: "cp-1", Do: fault.Fail, Message: "no such image", Times: 1})
		if err := images.Pull(t.Context(), "example.com/web:1"); err == nil || !strings.Contains(err.Error(), "no such image") {
			t.Errorf("the pull: %v", err)
		}
		if images.Has("example.com/web:1") {
			t.Error("an image is there that was not pulled")
		}
		if err := images.Pull(t.Context(), "example.com/web:1"); err != nil {
			t.Fatal(err)
		}
		// A call has pulled it ahead of the pod.
		if _, err := cp.running().Pull(t.Context(), "k8s.io", "example.com/web:2", func(int64, int64) {}); err != nil {
			t.Fatal(err)
		}
		for _, image := range []string{"example.com/web:1", "example.com/web:2"} {
			if !images.Has(image) {
				t.Errorf("%s is missing", image)
			}
		}
	})
}
