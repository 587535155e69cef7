package node

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

func TestThePowerFailsWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		first, second := lab.make(spec("cp-1", "hcloud", "1.13.8", 1)), lab.make(spec("cp-2", "hcloud", "1.13.8", 2))
		first.PowerOn()
		second.PowerOn()
		lab.settle()
		lab.arm(fault.Rule{On: fault.Machine, Subject: "cp-1", Do: fault.Crash, Times: 1})
		lab.arm(fault.Rule{On: fault.Machine, Subject: "cp-2", Do: fault.Crash, Code: fault.StaysOff, Times: 1})
		lab.settle()
		again := []string{"on", "lost"}
		if power := values(lab.facts(), "cp-1", "power"); !slices.Equal(power, again) || !first.Powered() {
			t.Errorf("power of cp-1: %q", power)
		}
		if stages := values(lab.facts(), "cp-1", "stage"); !slices.Equal(stages, []string{"booting", "maintenance", "booting", "maintenance"}) {
			t.Errorf("stages of cp-1: %q", stages)
		}
		if power := values(lab.facts(), "cp-2", "power"); !slices.Equal(power, []string{"on", "off"}) || second.Powered() {
			t.Errorf("power of cp-2: %q", power)
		}
		statuses := lab.maker.Machines()
		if len(statuses) != 2 || statuses[0].Stage != "maintenance" || statuses[0].Talos != "1.13.8" || len(statuses[0].Addresses) == 0 {
			t.Errorf("cp-1 is %+v", statuses[0])
		}
		if statuses[1].Powered || statuses[1].Stage != "" {
			t.Errorf("cp-2 is %+v", statuses[1])
		}
	})
}

func TestDisksComeAndGoWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		w := lab.make(spec("w-1", "hcloud", "1.13.8", 1))
		lab.intoMaintenance(w)
		volume := machine.Disk{Device: "/dev/sdb", Bytes: 10 << 30, Serial: "7", Model: "Volume", Transport: "virtio"}
		w.AttachDisk(volume)
		if shown := shownDisks(t, w); !slices.Equal(shown, []string{"loop0", "sda", "sdb"}) {
			t.Errorf("disks with a volume: %q", shown)
		}
		w.Reset()
		lab.until("w-1", "stage", "maintenance")
		synctest.Wait()
		if shown := shownDisks(t, w); !slices.Equal(shown, []string{"loop0", "sda", "sdb"}) {
			t.Errorf("disks after a reset: %q", shown)
		}
		w.DetachDisk("7")
		if shown := shownDisks(t, w); !slices.Equal(shown, []string{"loop0", "sda"}) {
			t.Errorf("disks without it: %q", shown)
		}
	})
}

func shownDisks(t *testing.T, b *box) []string {
	t.Helper()
	list, err := safe.StateListAll[*block.Disk](t.Context(), b.running().boot.State)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for disk := range list.All() {
		ids = append(ids, disk.Metadata().ID())
	}
	return ids
}

func TestOtherHardwareIsThereAfterABoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		w := lab.make(spec("w-1", "hcloud", "1.13.8", 1))
		w.Resize(16, 32768, 320_000_000_000)
		lab.intoMaintenance(w)
		disk, err := safe.StateGetByID[*block.Disk](t.Context(), w.running().boot.State, "sda")
		if err != nil {
			t.Fatal(err)
		}
		processor, err := safe.StateListAll[*hardware.Processor](t.Context(), w.running().boot.State)
		if err != nil {
			t.Fatal(err)
		}
		if size, cores := disk.TypedSpec().Size, processor.Get(0).TypedSpec().CoreCount; size != 320_000_000_000 || cores != 16 {
			t.Errorf("%d bytes and %d cores", size, cores)
		}
		if image := w.Image(); image.Talos != "1.13.8" {
			t.Errorf("on the disk is %+v", image)
		}
	})
}
