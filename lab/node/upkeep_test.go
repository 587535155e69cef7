package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// cluster1 brings up a cluster of one control plane, with which all upkeep starts.
func (l *testLab) cluster1(platform string, cfg func() configured) *box {
	l.t.Helper()
	cp := l.make(spec("cp-1", platform, "1.13.8", 1))
	cp.PowerOn()
	l.configure(cp, cfg)
	l.settle()
	l.bootstrapWhenReady(cp)
	l.untilReady(cp)
	l.read = len(l.facts())
	return cp
}

func TestAReboot(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		before := cp.running()
		tasks := tasksOf(t, before)
		if err := before.Reboot("actor-1", false); err != nil {
			t.Fatal(err)
		}
		facts := lab.until("cp-1", "stage", "running")
		if stages := values(facts, "cp-1", "stage"); !slices.Equal(stages, []string{"rebooting", "booting", "running"}) {
			t.Errorf("stages: %q", stages)
		}
		if asked := values(facts, "cp-1", "bootstrap"); len(asked) > 0 {
			t.Error("the reboot asked for a bootstrap")
		}
		if !slices.Contains(*tasks, "actor-1 stopAllServices") {
			t.Errorf("no event of stopAllServices by the actor: %q", *tasks)
		}
		lab.untilReady(cp)
		if cp.running().boot.ID == before.boot.ID {
			t.Error("the boot id is the same")
		}
	})
}

// tasksOf collects the tasks in a boot's events.
func tasksOf(t *testing.T, n *node) *[]string {
	t.Helper()
	found := &[]string{}
	go func() {
		_ = n.Events(t.Context(), 0, func(event talosapi.Event) error {
			if task, is := event.Payload.(*machineapi.TaskEvent); is && task.Action == machineapi.TaskEvent_START {
				*found = append(*found, event.ActorID+" "+task.Task)
			}
			return nil
		})
	}()
	synctest.Wait()
	return found
}

func TestResets(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	for _, known := range []struct {
		name, platform string
		reset          talosapi.ResetRequest
		what, value    string // the fact that ends it
		data           bool
	}{
		{"state and ephemeral", "hcloud", talosapi.ResetRequest{Graceful: true, Reboot: true, Partitions: []string{"STATE", "EPHEMERAL"}}, "stage", "maintenance", false},
		{"state alone", "hcloud", talosapi.ResetRequest{Reboot: true, Partitions: []string{"STATE"}}, "stage", "maintenance", true},
		{"the disk of a snapshot", "hcloud", talosapi.ResetRequest{Reboot: true, WipeSystem: true}, "boot", "no bootable device", false},
		{"the disk, with an ISO", "metal", talosapi.ResetRequest{Reboot: true, WipeSystem: true}, "stage", "maintenance", false},
		{"nothing of the system", "hcloud", talosapi.ResetRequest{Reboot: true}, "stage", "booting", true},
		{"and off", "hcloud", talosapi.ResetRequest{Graceful: true, Partitions: []string{"STATE", "EPHEMERAL"}}, "power", "off", false},
	} {
		t.Run(known.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.cluster1(known.platform, cfg)
				if err := cp.running().Reset("", known.reset); err != nil {
					t.Fatal(err)
				}
				facts := lab.until("cp-1", known.what, known.value)
				if stages := values(facts, "cp-1", "stage"); stages[0] != "resetting" {
					t.Errorf("stages: %q", stages)
				}
				if left := len(values(facts, "cp-1", "etcd")) > 0; left != known.reset.Graceful {
					t.Errorf("left etcd: %v", left)
				}
				if data := lab.kubernetes.HasData("cp-1"); data != known.data {
					t.Errorf("etcd data is there: %v", data)
				}
			})
		})
	}
}

func TestUpgrades(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	other := strings.Repeat("ab", 32)
	for _, stage := range []bool{false, true} {
		t.Run(fmt.Sprintf("staged %v", stage), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.cluster1("hcloud", cfg)
				image := "factory.invalid/hcloud-installer/" + other + ":v1.13.9"
				if err := cp.running().Upgrade("", image, stage, false); err != nil {
					t.Fatal(err)
				}
				facts := lab.until("cp-1", "stage", "running")
				if stages := values(facts, "cp-1", "stage"); stages[0] != "upgrading" {
					t.Errorf("stages: %q", stages)
				}
				n := cp.running()
				if n.Version() != "1.13.9" || n.boot.Image.Schematic != other {
					t.Errorf("it runs %s of %s", n.Version(), n.boot.Image.Schematic)
				}
				if err := n.Upgrade("", "factory.invalid/busybox:1", false, false); err == nil {
					t.Error("an upgrade to something else is taken")
				}
			})
		})
	}
}

func TestConfigs(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	labelled := configOf(t, talosmachine.TypeControlPlane, func(text string) string {
		return strings.Replace(text, "    nodeLabels:\n", "    nodeLabels:\n        made: later\n", 1)
	})
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		label := func() string {
			synctest.Wait()
			return lab.kubernetes.kubelet("cp-1").Labels["made"]
		}
		n := cp.running()
		if err := n.SetConfig(labelled().provider, true, time.Minute); err != nil {
			t.Fatal(err)
		}
		if label() != "later" {
			t.Errorf("the label of the config to try is %q", label())
		}
		time.Sleep(time.Minute)
		if label() != "" {
			t.Errorf("the label is %q after the config was reverted", label())
		}
		if err := n.SetConfig(labelled().provider, false, 0); err != nil {
			t.Fatal(err)
		}
		if label() != "" {
			t.Errorf("the label is %q before the reboot", label())
		}
		if err := n.Reboot("", true); err != nil {
			t.Fatal(err)
		}
		lab.settle()
		if label() != "later" {
			t.Errorf("the label is %q after the reboot", label())
		}
	})
}

// Talos restarts the kubelet for whatever changes in its specification: here only the taints with which it registers.
func TestTheKubeletRestartsForItsOwnConfiguration(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	schedulable := configOf(t, talosmachine.TypeControlPlane, func(text string) string {
		return strings.Replace(text, "cluster:\n", "cluster:\n    allowSchedulingOnControlPlanes: true\n", 1)
	})
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		if err := cp.running().SetConfig(schedulable().provider, true, 0); err != nil {
			t.Fatal(err)
		}
		facts := lab.until("cp-1", "service", "Finished")
		if last := facts[len(facts)-1]; last.Detail["id"] != "kubelet" {
			t.Fatalf("it ended %v", last)
		}
		lab.until("cp-1", "service", "Running")
		lab.settle()
		if taints := lab.kubernetes.kubelet("cp-1").Taints; len(taints) != 0 {
			t.Errorf("taints: %v", taints)
		}
	})
}

// Talos starts a kubelet again and again that ends itself, and only its log says why. With other arguments it runs.
func TestAKubeletWithAFlagThatItDoesNotKnow(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	misspelt := configOf(t, talosmachine.TypeControlPlane, func(text string) string {
		return strings.Replace(text, "    kubelet:\n", "    kubelet:\n        extraArgs:\n            no-such-flag: \"yes\"\n            v: \"2\"\n", 1)
	})
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		if err := cp.running().SetConfig(misspelt().provider, true, 0); err != nil {
			t.Fatal(err)
		}
		lab.settle()
		if said := cp.running().grep("kubelet", "unknown flag: --no-such-flag"); len(said) < 2 {
			t.Errorf("the kubelet says %q", said)
		}
		if lab.kubernetes.kubelet("cp-1").Node != "" {
			t.Error("the kubelet runs")
		}
		if err := cp.running().SetConfig(cfg().provider, true, 0); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "service", "healthy")
		if lab.kubernetes.kubelet("cp-1").Node != "cp-1" {
			t.Error("the kubelet does not run")
		}
	})
}

// A shared address goes where etcd runs.
func TestASharedAddress(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane, func(text string) string {
		return strings.Replace(text, "    network: {}\n", "    network:\n        interfaces:\n            - interface: eth0\n              dhcp: true\n              vip:\n                ip: 198.51.100.50\n", 1)
	})
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		first := lab.cluster1("metal", cfg)
		if !slices.Contains(lab.network.addresses(), "198.51.100.50") {
			t.Fatalf("up: %q", lab.network.addresses())
		}
		second := lab.make(spec("cp-2", "metal", "1.13.8", 2))
		second.PowerOn()
		lab.configure(second, cfg)
		lab.settle()
		first.PowerOff()
		lab.settle()
		if up := lab.network.addresses(); !slices.Equal(up, []string{"198.51.100.2", "198.51.100.50"}) {
			t.Errorf("up after the first lost its power: %q", up)
		}
	})
}
