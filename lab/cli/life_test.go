package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
)

func TestALabComesAndGoes(t *testing.T) {
	dir := folder(t)
	start := command(t, dir, "up", "--seed", "5")
	start.Env = append(start.Env, "HCLOUD_TOKEN=the caller's", "PULUMI_CONFIG_PASSPHRASE=the caller's")
	up := run(t, start)
	require.Zero(t, up.code, up.errors)
	t.Log(up.errors)
	require.Contains(t, up.errors, "lab: starting a process that outlives its parent\n")
	took := regexp.MustCompile(`ready after ([0-9.]+) s`).FindStringSubmatch(up.errors)
	require.NotNil(t, took)
	seconds, err := strconv.ParseFloat(took[1], 64)
	require.NoError(t, err)
	require.Less(t, seconds, 5.0)
	info := living(t, dir)
	require.Contains(t, up.output, "http://"+info.Control)
	require.Contains(t, up.output, "HCLOUD_TOKEN=token")

	var status daemon.Status
	require.NoError(t, json.Unmarshal([]byte(lab(t, dir, "status")), &status))
	require.Equal(t, info.Control, status.Control)
	require.Equal(t, map[string]any{"seed": 5.0}, status.Lab)
	require.NoError(t, json.Unmarshal([]byte(get(t, "http://"+info.Control+"/status")), &status))
	require.Equal(t, uint64(5), status.Seed)

	conn, err := net.Dial("tcp", info.Kubernetes)
	require.NoError(t, err)
	defer conn.Close()
	said, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, "lab 5", string(said), "Kubernetes is reached from this machine")

	again := run(t, command(t, dir, "up"))
	require.Zero(t, again.code)
	require.Equal(t, "lab: runs already, as process "+strconv.Itoa(info.Process.PID)+"\n", again.errors)
	require.Equal(t, up.output, again.output)

	spaces := namespaces(t, info)
	require.NotEmpty(t, inhabitants(t, spaces))
	for _, link := range inhabitants(t, spaces) {
		environment, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(link)), "environ"))
		require.NoError(t, err)
		// Not by NotContains, whose failure would print what is in there.
		require.False(t, strings.Contains(string(environment), "the caller's"), "%s has an account of the lab's caller", link)
		require.True(t, strings.Contains(string(environment), "PATH="), link)
	}
	require.Contains(t, run(t, command(t, dir, "down")).errors, "lab: ended\n")
	gone(t, info, spaces)
	require.Empty(t, files(t, dir))
	require.Equal(t, "lab: none runs in "+dir+"\n", run(t, command(t, dir, "down")).errors)
	for _, args := range [][]string{{"status"}, {"timeline"}, {"fault", "list"}, {"exec", "true"}, {"shell"}} {
		found := run(t, command(t, dir, args...))
		require.Equal(t, result{1, "", "sluice-lab: no lab runs in " + dir + "; start one with: sluice-lab up --dir " + dir + "\n"}, found, args)
	}
}

func TestLabsRunSideBySide(t *testing.T) {
	one, other := folder(t), folder(t)
	lab(t, one, "up", "--seed", "1")
	lab(t, other, "up", "--seed", "2")
	for dir, want := range map[string]string{one: "lab 1", other: "lab 2"} {
		require.Equal(t, want, lab(t, dir, "exec", "--", "bash", "-c", "cat < /dev/tcp/10.0.0.11/6443"), "at the same address")
	}
	lab(t, one, "fault", "add", "--on", "pod", "--do", "hold")
	require.Equal(t, "[]\n", lab(t, other, "fault", "list"))
	require.Contains(t, lab(t, one, "timeline"), "armed")
	require.NotContains(t, lab(t, other, "timeline"), "armed")
	lab(t, one, "down")
	require.Equal(t, "lab 2", lab(t, other, "exec", "--", "bash", "-c", "cat < /dev/tcp/10.0.0.11/6443"))
}

func TestKillingALabEndsAllOfIt(t *testing.T) {
	for name, kill := range map[string]func(*testing.T, string, *daemon.Info){
		"its first process": func(t *testing.T, _ string, info *daemon.Info) {
			require.NoError(t, syscall.Kill(info.Process.PID, syscall.SIGKILL))
		},
		"the one that serves": func(t *testing.T, dir string, _ *daemon.Info) {
			killing := run(t, command(t, dir, "exec", "--", "sh", "-c", "kill -KILL $(pgrep -f 'serve --di[r]'); exec sleep 1000"))
			require.Contains(t, killing.errors, "the lab has ended, and the command with it")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			lab(t, dir, "up")
			info := living(t, dir)
			spaces := namespaces(t, info)
			inside := command(t, dir, "exec", "--", "sh", "-c", "echo here; exec sleep 1000")
			output, err := inside.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, inside.Start())
			_, err = io.ReadFull(output, make([]byte, len("here\n")))
			require.NoError(t, err)

			ended(t, info.Process.PID, func() { kill(t, dir, info) })
			require.Error(t, inside.Wait(), "commands in it end with it")
			gone(t, info, spaces)

			require.NoError(t, os.WriteFile(filepath.Join(dir, "state", "left"), nil, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600))
			up := run(t, command(t, dir, "up"))
			require.Zero(t, up.code, up.errors)
			require.Contains(t, up.errors, "lab: cleaning up after a lab that ended without notice\n")
			require.Equal(t, []string{"kept"}, files(t, filepath.Join(dir, "state")))
			lab(t, dir, "down")
			require.Equal(t, []string{"notes"}, files(t, dir), "what is not the lab's stays")
		})
	}
}

func TestUpWaitsForALabThatIsEnding(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	info := living(t, dir)
	// Its first process outlives the others for as long as it is stopped.
	require.NoError(t, syscall.Kill(info.Process.PID, syscall.SIGSTOP))
	children, err := exec.Command("pgrep", "-P", strconv.Itoa(info.Process.PID)).Output()
	require.NoError(t, err)
	for _, child := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(child)
		require.NoError(t, err)
		ended(t, pid, func() { require.NoError(t, syscall.Kill(pid, syscall.SIGKILL)) })
	}
	up := command(t, dir, "up")
	said, err := up.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, up.Start())
	const waiting = "lab: a lab was here that does not answer: waiting for its end\n"
	words := bufio.NewReader(said)
	line, err := words.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, waiting, line)
	require.NoError(t, syscall.Kill(info.Process.PID, syscall.SIGKILL))
	rest, err := io.ReadAll(words)
	require.NoError(t, err)
	require.NoError(t, up.Wait(), string(rest))
	require.NotEqual(t, info.Process.PID, living(t, dir).Process.PID)
	lab(t, dir, "down")
}

func TestDownCleansUpAfterADeadLab(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	info := living(t, dir)
	ended(t, info.Process.PID, func() { require.NoError(t, syscall.Kill(info.Process.PID, syscall.SIGKILL)) })
	require.Contains(t, run(t, command(t, dir, "down")).errors, "lab: cleaning up after a lab that ended without notice\n")
	require.Empty(t, files(t, dir))
}

func TestDownKillsALabThatDoesNotHear(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	lab(t, dir, "up")
	info := living(t, dir)
	spaces := namespaces(t, info)
	lab(t, dir, "exec", "--", "sh", "-c", "kill -STOP $(pgrep -f 'serve --di[r]')")
	down := run(t, command(t, dir, "down"))
	require.Zero(t, down.code, down.errors)
	require.Contains(t, down.errors, "the lab does not respond")
	gone(t, info, spaces)
	require.Empty(t, files(t, dir))
}

// foreground starts a lab with run and returns when it is ready.
func foreground(t *testing.T, dir string) (*exec.Cmd, *daemon.Info) {
	t.Helper()
	cmd := command(t, dir, "run")
	cmd.Stderr = t.Output()
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return cmd, living(t, dir)
}

func TestRunLastsUntilItIsInterrupted(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := folder(t)
			cmd, info := foreground(t, dir)
			spaces := namespaces(t, info)
			require.NoError(t, cmd.Process.Signal(signal))
			require.NoError(t, cmd.Wait())
			gone(t, info, spaces)
			require.Empty(t, files(t, dir))
		})
	}
}

func TestRunEndsWhenTheLabIsTakenDown(t *testing.T) {
	dir := folder(t)
	cmd, _ := foreground(t, dir)
	lab(t, dir, "down")
	require.NoError(t, cmd.Wait())
	require.Empty(t, files(t, dir))
}

func TestALabThatRunKeepsEndsWithRun(t *testing.T) {
	dir := folder(t)
	cmd, info := foreground(t, dir)
	spaces := namespaces(t, info)
	ended(t, info.Process.PID, func() { require.NoError(t, cmd.Process.Kill()) })
	require.Error(t, cmd.Wait())
	gone(t, info, spaces)
}

func TestALabThatFailsToStartLeavesNothing(t *testing.T) {
	dir := folder(t)
	up := run(t, command(t, dir, "up", "--seed", "13"))
	require.Equal(t, 1, up.code)
	require.Contains(t, up.errors, "sluice-lab: the lab did not become ready: 13 brings bad luck")
	require.Empty(t, files(t, dir))
}

func TestALabIsNotPutOverOtherFiles(t *testing.T) {
	dir := folder(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "state"), 0o755))
	up := run(t, command(t, dir, "up"))
	require.Equal(t, result{1, "", "sluice-lab: " + filepath.Join(dir, "state") + " exists, and no lab created it: choose another folder for the lab\n"}, up)
	require.Equal(t, []string{"state"}, files(t, dir))
}
