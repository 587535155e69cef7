package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/control"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/rack"
)

// asCommand is set in the environment of the test binary to run it as the command
// line.
const asCommand = "SLUICE_LAB_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Run(os.Args[1:], compose))
	}
	os.Exit(m.Run())
}

// apiServer is where the tests' labs answer what is forwarded to Kubernetes.
var apiServer = netip.MustParseAddrPort("10.0.0.11:6443")

// small is a lab that greets at its API server and runs one process more.
type small struct {
	parts  daemon.Parts
	server net.Listener
}

func compose(ctx context.Context, parts daemon.Parts) (daemon.Lab, error) {
	if parts.Config.Seed == 13 {
		return nil, errors.New("13 brings bad luck")
	}
	if err := parts.Network.Add(apiServer.Addr()); err != nil {
		return nil, err
	}
	server, err := parts.Network.Listen(apiServer)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, "lab %d", parts.Config.Seed)
			_ = conn.Close()
		}
	}()
	parts.Progress("starting a process that outlives its parent")
	if err := exec.CommandContext(ctx, "sh", "-c", "sleep 1000 >&- 2>&- &").Run(); err != nil {
		return nil, err
	}
	return &small{parts: parts, server: server}, os.WriteFile(filepath.Join(parts.Dir, "kept"), nil, 0o600)
}

func (s *small) Status() any { return map[string]uint64{"seed": s.parts.Config.Seed} }

func (s *small) Machines() control.Machines { return s }

func (s *small) Add(machines []rack.Machine) ([]string, error) {
	return []string{machines[0].Name}, s.hand(machines[0].Name, "added")
}

func (s *small) PowerOn(name string) error  { return s.hand(name, "on") }
func (s *small) PowerOff(name string) error { return s.hand(name, "off") }

func (s *small) Replace(_ context.Context, name string, by rack.Identity) (rack.Identity, error) {
	return by, s.hand(name, "replaced")
}

// hand records what a user does to a machine.
func (s *small) hand(name, what string) error {
	if name != "box" {
		return fmt.Errorf("no machine %q", name)
	}
	s.parts.Timeline.Record(name, "hand", what)
	return nil
}

func (s *small) Leases() []dhcp.Lease { return nil }

func (s *small) Kubeconfig() ([]byte, error) { return []byte("kind: Config\n"), nil }

func (s *small) Env() map[string]string { return map[string]string{"HCLOUD_TOKEN": "token"} }

func (s *small) DialKubernetes(ctx context.Context) (net.Conn, error) {
	return s.parts.Network.Dial(ctx, netip.Addr{}, apiServer)
}

func (s *small) Close(context.Context) error { return s.server.Close() }

// folder returns the folder of a lab that is taken down after the test.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "lab")
	t.Cleanup(func() {
		down := exec.Command(os.Args[0], "down", "--dir", dir)
		down.Env = append(os.Environ(), asCommand+"=1")
		output, err := down.CombinedOutput()
		require.NoError(t, err, string(output))
	})
	return dir
}

// command returns the command line, for a lab's folder.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{args[0], "--dir", dir}, args[1:]...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// result is the exit code and the output of a command.
type result struct {
	code           int
	output, errors string
}

func run(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var output, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return result{cmd.ProcessState.ExitCode(), output.String(), errs.String()}
}

// lab runs a command that must succeed, and returns what it prints.
func lab(t *testing.T, dir string, args ...string) string {
	t.Helper()
	found := run(t, command(t, dir, args...))
	require.Zero(t, found.code, "%s: %s%s", args, found.output, found.errors)
	return found.output
}

// living returns what is known of a lab that runs.
func living(t *testing.T, dir string) *daemon.Info {
	t.Helper()
	info, err := daemon.Folder(dir).Living()
	require.NoError(t, err)
	require.NotNil(t, info)
	return info
}

// namespaces returns those of a lab, as the kernel names them.
func namespaces(t *testing.T, info *daemon.Info) []string {
	t.Helper()
	var found []string
	for _, kind := range []string{"pid", "net", "mnt"} {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", info.Process.PID, kind))
		require.NoError(t, err)
		found = append(found, name)
	}
	return found
}

// inhabitants returns the processes that are in one of the namespaces.
func inhabitants(t *testing.T, namespaces []string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/ns/*")
	require.NoError(t, err)
	var found []string
	for _, link := range links {
		name, err := os.Readlink(link)
		if err != nil || hasEnded(t, link) {
			continue
		}
		for _, namespace := range namespaces {
			if name == namespace {
				found = append(found, link)
			}
		}
	}
	return found
}

// hasEnded reports whether a process has ended, even if it was not reaped yet.
func hasEnded(t *testing.T, link string) bool {
	t.Helper()
	status, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(link)), "status"))
	return err != nil || strings.Contains(string(status), "State:\tZ")
}

// gone checks that nothing is left of a lab but its files.
func gone(t *testing.T, info *daemon.Info, namespaces []string) {
	t.Helper()
	require.False(t, info.Process.Alive())
	require.Empty(t, inhabitants(t, namespaces))
	for _, address := range []string{info.Control, info.Kubernetes} {
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err, "the port is free")
		require.NoError(t, listener.Close())
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	require.NotContains(t, string(mounts), "resolv.conf /etc/resolv.conf", "nothing was mounted here")
}

// files returns the names in a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := []string{}
	for _, file := range found {
		names = append(names, file.Name())
	}
	return names
}

// ended waits until a process has ended.
func ended(t *testing.T, pid int, during func()) {
	t.Helper()
	handle, err := unix.PidfdOpen(pid, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Close(handle)) }()
	during()
	for {
		fds := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, 60_000); !errors.Is(err, syscall.EINTR) {
			require.NoError(t, err)
			require.NotZero(t, fds[0].Revents, "process %d does not end", pid)
			return
		}
	}
}

// get returns what a URL answers on this host.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return strings.TrimSpace(string(body))
}
