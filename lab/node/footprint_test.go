package node

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
)

// What a node may cost in a cluster of a hundred.
const (
	heapLimit      = 15 << 20
	goroutineLimit = 100
)

func TestAHundredNodes(t *testing.T) {
	plane, worker := configBytes(t, talosmachine.TypeControlPlane), configBytes(t, talosmachine.TypeWorker)
	synctest.Test(t, func(t *testing.T) {
		heap, goroutines := measure()
		lab := newTestLab(t)
		defer lab.end()
		const count = 100
		began := time.Now()
		for i := range count {
			one := spec("node-"+string(rune('a'+i/10))+string(rune('a'+i%10)), "hcloud", "1.13.8", i+1)
			one.UserData = worker
			if i < 3 {
				one.UserData = plane
			}
			lab.make(one).PowerOn()
		}
		lab.settle()
		if err := lab.boxes[0].(*box).running().Bootstrap(t.Context(), talosapi.BootstrapRequest{}); err != nil {
			t.Fatal(err)
		}
		lab.settle()
		ready := 0
		for _, one := range lab.boxes {
			if stage, is := one.(*box).running().sequencer.Stage(); is && stage.String() == "running" {
				ready++
			}
		}
		if ready != count {
			t.Errorf("%d of %d nodes are ready", ready, count)
		}
		heapNow, goroutinesNow := measure()
		perNode, each := (heapNow-heap)/count, (goroutinesNow-goroutines)/count
		t.Logf("%d KiB of heap and %d goroutines a node, %s of the lab's time", perNode>>10, each, time.Since(began))
		if perNode > heapLimit || each > goroutineLimit {
			t.Errorf("a node costs %d bytes of heap and %d goroutines, allowed are %d and %d", perNode, each, heapLimit, goroutineLimit)
		}
	})
}

func measure() (heap, goroutines int) {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc), runtime.NumGoroutine()
}
