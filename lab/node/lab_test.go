package node

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	clusterresource "github.com/siderolabs/talos/pkg/machinery/resources/cluster"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

const schematicID = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"

// testLab is a lab of nodes with everything around them faked.
type testLab struct {
	t          testing.TB
	timeline   *timeline.Timeline
	faults     *fault.Set
	network    *fakeNetwork
	kubernetes *fakeKubernetes
	api        *fakeAPI
	maker      *Maker
	boxes      []machine.Box
	read       int
}

func newTestLab(t testing.TB) *testLab {
	t.Helper()
	facts := timeline.New(time.Now, nil)
	paces, err := pace.New(pace.Fast, 1)
	if err != nil {
		t.Fatal(err)
	}
	lab := &testLab{
		t: t, timeline: facts, faults: fault.NewSet(facts), network: &fakeNetwork{up: map[netip.Addr]bool{}},
		kubernetes: newFakeKubernetes(), api: &fakeAPI{serving: map[string]string{}},
	}
	lab.maker = New(Options{
		Serve: lab.api.serve,
		Lab: Lab{
			Network: lab.network, Kubernetes: lab.kubernetes, Pace: paces, Faults: lab.faults, Timeline: facts,
			Extensions: func(schematic, _ string) []Extension {
				if schematic != schematicID {
					return nil
				}
				return []Extension{{Name: "qemu-guest-agent", Version: "10.2.0", Author: "Sidero Labs", Service: "qemu-guest-agent"}}
			},
			SchematicText: func(string) string { return "customization: {}\n" },
		},
	})
	return lab
}

// spec returns a server of the cloud, or a machine at home.
func spec(name, platform, talos string, number int) machine.Spec {
	one := machine.Spec{
		Name: name, Hostname: name, UUID: boot.DerivedUUID(name), Platform: platform, Arch: "amd64", CPUs: 4, MemoryMiB: 8192,
		ProviderID: fmt.Sprintf("hcloud://%d", 1000+number), InstanceType: "cx33", Region: "eu-central", Zone: "nbg1-dc3",
		Disks: []machine.Disk{{Device: "/dev/sda", Bytes: 80 << 30, Model: "QEMU HARDDISK", Serial: "disk-1", Transport: "virtio", BusPath: "/pci0000:00/0000:00:05.0"}},
		NICs: []machine.NIC{{
			Name: "eth0", MAC: fmt.Sprintf("92:00:00:00:00:%02x", number), DHCP: true, Public: true,
			Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(number)}), 32)},
			Gateway:   netip.MustParseAddr("172.31.1.1"),
		}},
		Image: machine.Image{Talos: talos, Schematic: schematicID, Installed: platform == "hcloud"},
	}
	if platform == "metal" {
		one.ProviderID, one.Hostname = "", ""
	}
	return one
}

func (l *testLab) make(spec machine.Spec) *box {
	l.t.Helper()
	made, err := l.maker.Make(spec)
	if err != nil {
		l.t.Fatal(err)
	}
	l.boxes = append(l.boxes, made)
	return made.(*box)
}

// intoMaintenance turns a machine on, waits until it is in maintenance, and returns
// the facts until then.
func (l *testLab) intoMaintenance(one *box) []timeline.Fact {
	l.t.Helper()
	one.PowerOn()
	facts := l.until(one.spec.Name, "stage", "maintenance")
	synctest.Wait()
	return facts
}

// end deletes all machines, so that nothing runs on.
func (l *testLab) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, box := range l.boxes {
		box.Delete(ctx)
	}
	if ctx.Err() != nil {
		panic("a machine does not end")
	}
	if up := l.network.addresses(); len(up) > 0 {
		l.t.Errorf("addresses that are still up: %v", up)
	}
}

// until waits for the next fact like this one, and returns the facts before.
func (l *testLab) until(subject, what, value string) []timeline.Fact {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 2*time.Minute)
	defer cancel()
	var passed []timeline.Fact
	for {
		facts, more := l.timeline.After(l.read)
		for _, fact := range facts {
			l.read = fact.Seq
			passed = append(passed, fact)
			if fact.Subject == subject && fact.What == what && fact.Value == value {
				return passed
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			for _, fact := range passed {
				l.t.Logf("%7.3f %s %s %s %v", fact.At, fact.Subject, fact.What, fact.Value, fact.Detail)
			}
			l.t.Fatalf("%s: no fact %s %q", subject, what, value)
		}
	}
}

// settle lets all pass that happens by itself.
func (l *testLab) settle() {
	time.Sleep(20 * time.Second)
	synctest.Wait()
}

// facts returns all there are.
func (l *testLab) facts() []timeline.Fact {
	facts, _ := l.timeline.After(0)
	return facts
}

// untilReady waits until the machine status says so.
func (l *testLab) untilReady(one *box) {
	l.t.Helper()
	l.settle()
	if _, ready := one.running().sequencer.Stage(); !ready {
		l.t.Errorf("%s is not ready", one.spec.Name)
	}
}

// grep returns the lines of a log with the text in them.
func (n *node) grep(id, text string) []string {
	var found []string
	_ = n.Log(context.Background(), id, false, -1, func(line []byte) error {
		if strings.Contains(string(line), text) {
			found = append(found, string(line))
		}
		return nil
	})
	return found
}

func members(t testing.TB, n *node) []string {
	t.Helper()
	list, err := safe.StateListAll[*clusterresource.Member](n.boot.Ctx, n.boot.State)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for member := range list.All() {
		names = append(names, member.Metadata().ID())
	}
	return names
}

// values returns those of one kind of fact about a subject.
func values(facts []timeline.Fact, subject, what string) []string {
	var found []string
	for _, fact := range facts {
		if fact.Subject == subject && fact.What == what {
			found = append(found, fact.Value)
		}
	}
	return found
}

// bundle has an account key that is no RSA: that of 4096 bits which later Talos
// makes takes seconds.
var bundle = sync.OnceValues(func() (*secrets.Bundle, error) {
	return secrets.NewBundle(secrets.NewFixedClock(time.Now()), config.TalosVersion1_6)
})

// configured is a config for one node: each has a provider of its own.
type configured struct{ provider config.Provider }

// configOf makes configs outside of the time bubble, in which keys are slow.
func configOf(t testing.TB, kind talosmachine.Type, patches ...func(string) string) func() configured {
	t.Helper()
	data := configBytes(t, kind, patches...)
	return func() configured {
		provider, err := configloader.NewFromBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		return configured{provider}
	}
}

func configBytes(t testing.TB, kind talosmachine.Type, patches ...func(string) string) []byte {
	t.Helper()
	made, err := bundle()
	if err != nil {
		t.Fatal(err)
	}
	input, err := generate.NewInput("test", "https://198.51.100.1:6443", "1.35.2", generate.WithSecretsBundle(made),
		generate.WithVersionContract(config.TalosVersion1_12), generate.WithInstallDisk("/dev/sda"),
		generate.WithInstallImage("factory.invalid/metal-installer/"+schematicID+":v1.13.8"))
	if err != nil {
		t.Fatal(err)
	}
	provider, err := input.Config(kind)
	if err != nil {
		t.Fatal(err)
	}
	data, err := provider.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, patch := range patches {
		data = []byte(patch(string(data)))
	}
	return data
}

func bytesOf(t testing.TB, cfg config.Provider) []byte {
	t.Helper()
	data, err := cfg.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
