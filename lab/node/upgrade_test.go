package node

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/meta"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

const nextSchematic = "abababababababababababababababababababababababababababababababab"

const nextInstaller = "factory.invalid/hcloud-installer/" + nextSchematic + ":v1.13.9"

// runs returns the running system.
func runs(n *node) string { return n.Version() + " " + n.boot.Image.Schematic[:4] }

func installs(t *testing.T, b *box, image string) (lines string) {
	t.Helper()
	if err := b.running().Install(image, func(line string) { lines += line }); err != nil {
		t.Fatal(err)
	}
	return lines
}

// What the installer has written runs from the next boot on, whatever caused that boot.
func TestAnInstalledSystemRunsFromTheNextBootOn(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	for name, next := range map[string]func(*testLab, *box){
		"reboot": func(lab *testLab, b *box) {
			if err := b.running().Reboot("", false); err != nil {
				t.Error(err)
			}
		},
		"loss of power": func(lab *testLab, b *box) {
			lab.arm(fault.Rule{On: fault.Machine, Do: fault.Crash, Times: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.cluster1("hcloud", cfg)
				if lines := installs(t, cp, nextInstaller); !strings.Contains(lines, "installation of v1.13.9 complete") {
					t.Errorf("the installer printed %q", lines)
				}
				if now := runs(cp.running()); now != "1.13.8 ce4c" {
					t.Errorf("before the boot it runs %s", now)
				}
				next(lab, cp)
				lab.until("cp-1", "stage", "running")
				lab.untilReady(cp)
				if now := runs(cp.running()); now != "1.13.9 abab" {
					t.Errorf("it runs %s", now)
				}
				if _, tagged := cp.disk.Meta()[meta.Upgrade]; tagged {
					t.Error("a node that is up and ready keeps the tag of its former system")
				}
			})
		})
	}
}

func TestASystemThatDoesNotComeUpIsReverted(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		lab.arm(fault.Rule{On: fault.Boot, Name: "1.13.9", Subject: "cp-1", Do: fault.Fail, Message: "no such module"})
		installs(t, cp, nextInstaller)
		if err := cp.running().Reboot("", false); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "fault", "fail")
		facts := lab.until("cp-1", "stage", "running")
		lab.untilReady(cp)
		if reverted := values(facts, "cp-1", "reverted"); !slices.Equal(reverted, []string{"1.13.9"}) {
			t.Errorf("reverted: %q", reverted)
		}
		if now := runs(cp.running()); now != "1.13.8 ce4c" {
			t.Errorf("it runs %s", now)
		}
	})
}

// A system that fails later than that is kept: the former one is only for an upgrade that never was up.
func TestASystemThatWasUpIsNotReverted(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		installs(t, cp, nextInstaller)
		for _, fails := range []bool{false, true} {
			if fails {
				lab.arm(fault.Rule{On: fault.Boot, Do: fault.Fail, Times: 1})
			}
			if err := cp.running().Reboot("", false); err != nil {
				t.Fatal(err)
			}
			lab.until("cp-1", "stage", "running")
			lab.untilReady(cp)
			if now := runs(cp.running()); now != "1.13.9 abab" {
				t.Errorf("it runs %s", now)
			}
		}
	})
}

// Nothing in Talos counts boots: a node that reboots before it is ready still has both systems, and boots the new one again.
func TestARebootBeforeItIsReadyKeepsTheFormerSystem(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		installs(t, cp, nextInstaller)
		held := lab.arm(fault.Rule{On: fault.Boot, Do: fault.Hold})
		reboot := func() {
			if err := cp.running().Reboot("", false); err != nil {
				t.Fatal(err)
			}
			lab.until("cp-1", "api", "apid")
			lab.settle()
		}
		reboot()
		reboot()
		if now, tag := runs(cp.running()), cp.disk.Meta()[meta.Upgrade]; now != "1.13.9 abab" || tag != "A" {
			t.Errorf("it runs %s, and the former system is %q", now, tag)
		}
		if err := lab.faults.Remove(held); err != nil {
			t.Fatal(err)
		}
		lab.untilReady(cp)
	})
}

// An installer that runs twice before a boot overwrites the running system, as the bootloader's two entries are swapped twice.
func TestAfterTwoInstallationsThereIsNothingToReturnTo(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		installs(t, cp, nextInstaller)
		installs(t, cp, nextInstaller)
		lab.arm(fault.Rule{On: fault.Boot, Do: fault.Fail, Times: 1})
		if err := cp.running().Reboot("", false); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "reverted", "1.13.9")
		lab.until("cp-1", "stage", "running")
		lab.untilReady(cp)
		if now := runs(cp.running()); now != "1.13.9 abab" {
			t.Errorf("it runs %s", now)
		}
	})
}

func TestARollbackBootsTheFormerSystem(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		if cp.running().Rollback() {
			t.Error("there is a system to return to before any upgrade")
		}
		for _, wanted := range []string{"1.13.9 abab", "1.13.8 ce4c"} {
			if wanted == "1.13.9 abab" {
				installs(t, cp, nextInstaller)
			} else if !cp.running().Rollback() {
				t.Fatal("there is no system to return to")
			}
			if err := cp.running().Reboot("", false); err != nil {
				t.Fatal(err)
			}
			lab.until("cp-1", "stage", "running")
			lab.untilReady(cp)
			if now := runs(cp.running()); now != wanted {
				t.Errorf("it runs %s, and should run %s", now, wanted)
			}
		}
	})
}

func TestAnInstallerThatFails(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		cp := lab.cluster1("hcloud", cfg)
		lab.arm(fault.Rule{On: fault.Install, Name: "/dev/sda", Subject: "cp-1", Do: fault.Fail, Message: "no space left on device", Times: 2})
		silent := func(string) {}
		if err := cp.running().Install(nextInstaller, silent); err == nil || !strings.Contains(err.Error(), "no space left on device") {
			t.Errorf("the installer ended with %v", err)
		}
		if err := cp.running().Install("factory.invalid/hcloud-installer/"+nextSchematic+":v1.10.0", silent); err == nil || !strings.Contains(err.Error(), "pre-flight checks failed") {
			t.Errorf("an installer of a version that cannot follow ended with %v", err)
		}
		// MachineService.Upgrade has stopped everything by then, so the node reboots.
		if err := cp.running().Upgrade("", nextInstaller, false, false); err != nil {
			t.Fatal(err)
		}
		lab.until("cp-1", "boot", "failed")
		lab.until("cp-1", "stage", "running")
		lab.untilReady(cp)
		if now := runs(cp.running()); now != "1.13.8 ce4c" {
			t.Errorf("it runs %s", now)
		}
	})
}

func TestTheRegistryHasOnlyInstallersOfKnownSchematics(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		lab.maker.options.HasInstaller = func(schematic, version string) bool { return schematic == schematicID && version == "1.13.8" }
		cp := lab.cluster1("hcloud", cfg)
		pull := func(image string) error {
			_, err := cp.running().Pull(t.Context(), "system", image, func(int64, int64) {})
			return err
		}
		if err := pull("factory.invalid/hcloud-installer/" + schematicID + ":v1.13.8"); err != nil {
			t.Error(err)
		}
		for _, image := range []string{nextInstaller, "factory.invalid/installer:v1.13.8"} {
			if err := pull(image); err == nil || !strings.HasSuffix(err.Error(), ": not found") {
				t.Errorf("%s: %v", image, err)
			}
		}
	})
}
