package talosapi

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// program runs the real talosctl.
type program struct {
	t      *testing.T
	path   string
	config string
}

// talosctl returns the one that SLUICE_TALOSCTL names, with a talosconfig that has the
// nodes as endpoints.
func (l *lab) talosctl(endpoints ...*fake) program {
	path := talosctl(l.t)
	data, err := l.talosconfig(role.MakeSet(role.Admin), endpoints...).Bytes()
	require.NoError(l.t, err)
	return program{l.t, path, write(l.t, "talosconfig", data)}
}

// run returns what it prints, and its error.
func (p program) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, append(args, "--talosconfig", p.config)...)
	cmd.Env = []string{"HOME=" + p.t.TempDir()}
	output, err := cmd.CombinedOutput()
	p.t.Logf("talosctl %s\n%s", strings.Join(args, " "), output)
	return string(output), err
}

// prints expects success and all the texts; fails expects failure and them.
func (p program) prints(args []string, texts ...string) {
	p.t.Helper()
	output, err := p.run(args...)
	require.NoError(p.t, err)
	for _, text := range texts {
		require.Contains(p.t, output, text)
	}
}

func (p program) fails(args []string, texts ...string) {
	p.t.Helper()
	output, err := p.run(args...)
	require.Error(p.t, err)
	for _, text := range texts {
		require.Contains(p.t, output, text)
	}
}

func words(format string, args ...any) []string { return strings.Fields(fmt.Sprintf(format, args...)) }

func TestTalosctlInMaintenance(t *testing.T) {
	l := newLab(t)
	good := l.config(machine.TypeControlPlane)
	for version, dry := range map[string]string{
		"1.12.6": "Node is running in maintenance mode and does not have a config yet.",
		"1.13.8": "Applied configuration without a reboot (skipped in dry-run)",
	} {
		t.Run(version, func(t *testing.T) {
			l := &lab{t: t, network: l.network, timeline: l.timeline, faults: l.faults, server: l.server, bundle: l.bundle}
			f := l.maintenance(version)
			at := f.addresses[0]
			ctl := l.talosctl(f)
			file := write(t, "good.yaml", good)
			ctl.prints(words("get disks --insecure -n %s", at), "sda", "QEMU HARDDISK")
			ctl.prints(words("apply-config --insecure -n %s -f %s --dry-run", at, file), dry)
			bad := write(t, "bad.yaml", bytes.Replace(good, []byte("disk: /dev/sda"), nil, 1))
			ctl.fails(words("apply-config --insecure -n %s -f %s", at, bad), "either install disk or diskSelector should be defined")
			require.Empty(t, f.wasAsked())
			ctl.prints(words("apply-config --insecure -n %s -f %s", at, file))
			require.Equal(t, []string{"config now=true revert=0s"}, f.wasAsked())
			ctl.fails(words("version -n %s", at), "certificate signed by unknown authority")
		})
	}
}

func TestTalosctlConfigured(t *testing.T) {
	l := newLab(t)
	one, two := l.configured("1.13.8", machine.TypeControlPlane), l.configured("1.13.8", machine.TypeWorker)
	for i, line := range []string{"SeaBIOS", "Linux"} {
		one.kernel[i] = "kern:    info: [" + line + "]"
	}
	a, b := one.addresses[0].String(), two.addresses[0].String()
	ctl := l.talosctl(one)
	ctl.prints(words("version -n %s,%s", a, b), "NODE:        "+a, "NODE:        "+b, "Tag:         v1.13.8", "Enabled:     RBAC")
	ctl.prints(words("services -n %s", a), "kubelet", "Running", "etcd")
	ctl.prints(words("service kubelet restart -n %s", b), `Service "kubelet" restarted`)
	ctl.prints(words("get disks -n %s,%s", a, b), a, b, "sda")
	ctl.prints(words("dmesg -n %s", a), "SeaBIOS", "Linux")
	ctl.prints(words("logs kubelet -n %s", b), "three")
	ctl.prints(words("memory -n %s,%s", a, b), "TOTAL")
	ctl.prints(words("containers -k -n %s", a), "one:1")
	ctl.prints(words("processes -n %s", a), "/sbin/init", "kubelet")
	ctl.prints(words("stats -k -n %s", a), "k8s.io/one")
	ctl.prints(words("mounts -n %s", a), "MOUNTED ON")
	ctl.prints(words("ls -l /proc/sys/kernel/random/boot_id -n %s", a), "boot_id")
	ctl.prints(words("time -n %s", a), "time.cloudflare.com")
	ctl.fails(words("bootstrap -n %s", b), "bootstrap is only available on control plane nodes")
	ctl.prints(words("bootstrap -n %s", a))
	ctl.fails(words("bootstrap -n %s", a), "etcd data directory is not empty")
	one.etcd.members = []cluster.MemberInfo{{ID: 7, Hostname: one.host, PeerURLs: []string{"https://10.0.0.11:2380"}, ClientURLs: []string{"https://10.0.0.11:2379"}}}
	ctl.prints(words("etcd members -n %s", a), one.host, "https://10.0.0.11:2380")
	ctl.prints(words("etcd status -n %s", a), "0000000000000000")
	ctl.prints(words("etcd alarm list -n %s", a))
	// talosctl checks the snapshot, which the test's etcd fills with something else than a database.
	ctl.fails(words("etcd snapshot %s -n %s", filepath.Join(t.TempDir(), "snapshot"), a), "sha256 checksum not found (size 80000)")
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	ctl.prints(words("kubeconfig %s -n %s", kubeconfig, a))
	require.FileExists(t, kubeconfig)
	ctl.fails(words("kubeconfig %s -n %s", kubeconfig, b), "kubeconfig is only available on control plane nodes")
	ctl.fails(words("read /etc/nope -n %s", a), "NotFound")
	ctl.prints(words("upgrade -n %s --image installer:2 --no-reboot --drain=false", b), "upgrade completed")
	ctl.prints(words("image ls -n %s", b), "installer:2", "sha256:1")
	ctl.prints(words("meta write 0xa value -n %s", a))
	require.Equal(t, "value", one.Meta()[10])
	file := write(t, "good.yaml", l.config(machine.TypeControlPlane))
	ctl.prints(words("apply-config -n %s -f %s --dry-run", a, file), "No changes.")
}

func TestTalosctlWithOldNode(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.12.6", machine.TypeControlPlane)
	at := f.addresses[0]
	ctl := l.talosctl(f)
	ctl.prints(words("version -n %s", at), "Tag:         v1.12.6")
	ctl.prints(words("upgrade -n %s --image installer:2 --wait=false --drain=false --force", at), "falling back to legacy", "Upgrade request received")
	require.Equal(t, []string{"pull system installer:2", "upgrade installer:2 stage=false force=true"}, f.wasAsked())
	ctl.prints(words("image ls -n %s --namespace cri", at), "installer:2")
	ctl.prints(words("reset -n %s --graceful=false --reboot --wait=false", at))
	ctl.prints(words("shutdown -n %s --wait=false", at))
}

func TestTalosctlHealth(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	at := f.addresses[0]
	l.talosctl(f).fails(words("health -n %s --control-plane-nodes %s --wait-timeout 2s", at, at),
		fmt.Sprintf("discovered nodes: [%q]", at), "waiting for etcd to be healthy: 1 error occurred")
}

func TestTalosctlWatches(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	ctl := l.talosctl(f)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, ctl.path, "get", "disks", "-w", "-n", f.addresses[0].String(), "--talosconfig", ctl.config)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	printed := &lines{more: make(chan struct{}, 1)}
	cmd.Stdout, cmd.Stderr = printed, printed
	require.NoError(t, cmd.Start())
	printed.waitFor(within(t), t, "sda")
	require.NoError(t, f.resources.Create(t.Context(), block.NewDisk(block.NamespaceName, "sdb")))
	printed.waitFor(within(t), t, "sdb")
	cancel()
	require.Error(t, cmd.Wait(), "it watches until it is stopped")
}

func TestTalosctlRebootsAndWaits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	f := l.machine("1.13.8", "hcloud")
	l.configure(f, machine.TypeControlPlane)
	running := l.serve(f)
	booted := make(chan struct{})
	f.watched = make(chan struct{}, 1)
	f.onReboot = func(actor string) {
		defer close(booted)
		<-f.watched
		f.happen(Event{ActorID: actor, Payload: &machineapi.SequenceEvent{Sequence: "reboot", Action: machineapi.SequenceEvent_START}})
		// talosctl watches again a moment after the sequence started, and a real
		// machine takes longer than that to stop.
		<-f.watched
		running.Stop(true)
		f.mu.Lock()
		f.events, f.files["/proc/sys/kernel/random/boot_id"] = nil, "second\n"
		f.mu.Unlock()
		l.serve(f)
		f.happen(Event{Payload: &machineapi.MachineStatusEvent{
			Stage: machineapi.MachineStatusEvent_RUNNING, Status: &machineapi.MachineStatusEvent_MachineStatus{Ready: true},
		}})
	}
	l.talosctl(f).prints(words("reboot --wait -n %s", f.addresses[0]), "actor ID", "post check passed")
	<-booted
	require.Equal(t, []string{"reboot force=false"}, f.wasAsked())
}

// lines is the output of a program so far.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(data)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// waitFor returns once the text was printed.
func (l *lines) waitFor(ctx context.Context, t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(l.String(), text) {
		select {
		case <-l.more:
		case <-ctx.Done():
			t.Fatalf("%q was not printed, but:\n%s", text, l)
		}
	}
}
