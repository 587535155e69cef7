package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExec(t *testing.T) {
	dir := folder(t)
	tools := filepath.Join(t.TempDir(), "tools.json")
	require.NoError(t, os.WriteFile(tools, []byte(`{"talosctl": "/bin/echo"}`), 0o600))
	lab(t, dir, "up", "--tools", tools)

	for name, test := range map[string]struct {
		script string
		code   int
		output string
	}{
		"succeeds":           {"true", 0, ""},
		"fails":              {"exit 7", 7, ""},
		"is killed":          {"kill -TERM $$", 143, ""},
		"reads input":        {"cat", 0, "what is typed"},
		"finds tools":        {"talosctl version", 0, "version\n"},
		"knows the lab":      {`echo "$SLUICE_LAB $HCLOUD_TOKEN"`, 0, dir + " token\n"},
		"uses no proxy":      {`echo "$HTTP_PROXY$https_proxy$All_Proxy$NOT_PROXY"`, 0, "kept\n"},
		"stays where it is":  {"pwd", 0, "/usr\n"},
		"sees its own /proc": {"test -d /proc/$$ && readlink /proc/self/root", 0, "/\n"},
		"reaches the lab":    {"exec 3<>/dev/tcp/192.0.2.2/80; printf 'GET /faults HTTP/1.0\\r\\n\\r\\n' >&3; tail -n 1 <&3", 0, "[]\n"},
		"resolves nothing":   {"! getent hosts example.org", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, dir, "exec", "--", "bash", "-c", test.script)
			cmd.Stdin = strings.NewReader("what is typed")
			cmd.Dir = "/usr"
			cmd.Env = append(cmd.Env, "HTTP_PROXY=http://10.0.0.1", "https_proxy=http://10.0.0.1", "All_Proxy=http://10.0.0.1", "NOT_PROXY=kept", "HCLOUD_TOKEN=a real one")
			require.Equal(t, result{test.code, test.output, ""}, run(t, cmd))
		})
	}
	require.Equal(t, result{127, "", "sluice-lab: exec: \"nonexistent\": executable file not found in $PATH\n"}, run(t, command(t, dir, "exec", "--", "nonexistent")))
}

func TestTheCommandLineWorksInsideToo(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	inside := func(args ...string) result {
		return run(t, command(t, dir, append([]string{"exec", "--", os.Args[0]}, args...)...))
	}
	require.Equal(t, result{0, "[]\n", ""}, inside("fault", "list"))
	require.Contains(t, inside("up").errors, "runs already")
	require.Equal(t, result{5, "", ""}, inside("exec", "--", "sh", "-c", "exit 5"))
	require.Equal(t, result{1, "", "sluice-lab: this is inside of the lab: leave its shell first\n"}, inside("down"))
}

// blocked starts a command in a lab that waits, and returns when it does.
func blocked(t *testing.T, dir, script string) *exec.Cmd {
	t.Helper()
	cmd := command(t, dir, "exec", "--", "sh", "-c", script)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return cmd
}

func TestExecPassesSignalsOnce(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	for signal, name := range map[syscall.Signal]string{syscall.SIGINT: "INT", syscall.SIGTERM: "TERM", syscall.SIGHUP: "HUP", syscall.SIGUSR1: "USR1"} {
		t.Run(name, func(t *testing.T) {
			cmd := blocked(t, dir, `n=10; trap 'n=$((n+1))' `+name+`; echo ready; while [ $n = 10 ]; do :; done; exit $n`)
			require.NoError(t, cmd.Process.Signal(signal))
			require.EqualError(t, cmd.Wait(), "exit status 11")
		})
	}
	unhandled := blocked(t, dir, "echo ready; exec sleep 1000")
	require.NoError(t, unhandled.Process.Signal(syscall.SIGINT))
	require.EqualError(t, unhandled.Wait(), "exit status 130")
}

func TestACommandEndsWithItsExec(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	lab(t, dir, "up")
	cmd := blocked(t, dir, "echo ready; exec sleep 1000")
	var inside []int
	for _, link := range inhabitants(t, namespaces(t, living(t, dir))[1:2]) {
		status, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(link)), "status"))
		require.NoError(t, err)
		if strings.Contains(string(status), fmt.Sprintf("PPid:\t%d\n", cmd.Process.Pid)) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(link))))
			require.NoError(t, err)
			inside = append(inside, pid)
		}
	}
	require.Len(t, inside, 1)
	ended(t, inside[0], func() { require.NoError(t, cmd.Process.Kill()) })
	require.Error(t, cmd.Wait())
}

func TestShellSaysThatItIsOne(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	cmd := command(t, dir, "shell")
	cmd.Env = append(cmd.Env, "SHELL=/bin/bash")
	cmd.Stdin = strings.NewReader("echo \"prompt: $PS1\"; exit 3\n")
	found := run(t, cmd)
	require.Equal(t, 3, found.code, found.errors)
	require.Contains(t, found.output, "prompt: (lab lab) ")
	other := command(t, dir, "shell")
	other.Env = append(other.Env, "SHELL=/bin/sh")
	other.Stdin = strings.NewReader("echo \"prompt: $PS1\"\n")
	require.Equal(t, "prompt: (lab lab) $ \n", run(t, other).output)
}

// TestRootless starts a lab as a user without rights.
func TestRootless(t *testing.T) {
	home, err := os.MkdirTemp("", "rootless")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	require.NoError(t, os.Chmod(home, 0o755))
	program := filepath.Join(home, "sluice-lab")
	copyProgram(t, program)
	var who *syscall.Credential
	if os.Getuid() == 0 {
		const nobody = 65534
		who = &syscall.Credential{Uid: nobody, Gid: nobody}
		require.NoError(t, os.Chown(home, nobody, nobody))
	}
	dir := filepath.Join(home, "lab")
	as := func(who *syscall.Credential, args ...string) result {
		cmd := command(t, dir, args...)
		cmd.Path, cmd.Dir = program, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
		return run(t, cmd)
	}
	t.Cleanup(func() { require.Zero(t, as(who, "down").code) })
	up := as(who, "up", "--seed", "8")
	require.Zero(t, up.code, up.errors)
	t.Log(up.errors)
	info := living(t, dir)
	spaces := namespaces(t, info)
	reach := []string{"exec", "--", "bash", "-c", "cat < /dev/tcp/10.0.0.11/6443; exit 9"}
	require.Equal(t, result{9, "lab 8", ""}, as(who, reach...))
	require.Equal(t, result{9, "lab 8", ""}, as(nil, reach...), "also whoever runs this test")
	require.Equal(t, result{0, "/\n", ""}, as(who, "exec", "--", "pwd"))
	down := as(who, "down")
	require.Zero(t, down.code, down.errors)
	gone(t, info, spaces)
	require.Empty(t, files(t, dir))
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer from.Close()
	program, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(program, from)
	require.NoError(t, err)
	require.NoError(t, program.Close())
}
