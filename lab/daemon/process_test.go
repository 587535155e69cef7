package daemon

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startCat starts a process that runs until its input is closed.
func startCat(t *testing.T) (Process, *exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command("cat")
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	process, err := identify(cmd.Process.Pid)
	require.NoError(t, err)
	return process, cmd, input
}

// open returns a handle of a process that runs, which is closed after the test.
func open(t *testing.T, process Process) *os.File {
	t.Helper()
	handle, err := process.open()
	require.NoError(t, err)
	t.Cleanup(func() { _ = handle.Close() })
	return handle
}

// waiting starts a process that waits, until the returned function is called.
func waiting(t *testing.T) (Process, func()) {
	t.Helper()
	process, cmd, input := startCat(t)
	return process, func() {
		require.NoError(t, input.Close())
		require.NoError(t, cmd.Wait())
	}
}

func TestAProcessIsItselfOnly(t *testing.T) {
	process, end := waiting(t)
	defer end()
	require.True(t, process.Alive())
	require.False(t, process.ending())
	for name, change := range map[string]func(*Process){
		"another of that number":      func(p *Process) { p.Start++ },
		"before the machine started":  func(p *Process) { p.Boot = "earlier" },
		"a number that nobody has":    func(p *Process) { p.PID = 1 << 22 },
		"none, as before it is known": func(p *Process) { *p = Process{} },
	} {
		other := process
		change(&other)
		require.False(t, other.Alive(), name)
		require.True(t, other.ending(), name)
	}
	other := process
	other.Start++
	handle, err := other.open()
	require.NoError(t, err)
	require.Nil(t, handle, "it cannot be killed by mistake")
}

func TestTheFirstProcessIsKnownFromInside(t *testing.T) {
	// These tests run as the first process of a pid namespace, as a lab does.
	outside, err := identify(os.Getpid())
	require.NoError(t, err)
	outside.PID = 4711
	require.True(t, outside.Alive())
	require.True(t, outside.inLab())
	other, end := waiting(t)
	defer end()
	require.False(t, other.inLab())
}

func TestAProcessThatEndedIsNotAlive(t *testing.T) {
	process, cmd, input := startCat(t)
	handle := open(t, process)

	ended, err := wait(handle, time.Millisecond)
	require.NoError(t, err)
	require.False(t, ended)

	require.NoError(t, input.Close())
	ended, err = wait(handle, time.Minute)
	require.NoError(t, err)
	require.True(t, ended)
	require.False(t, process.Alive(), "also before it is collected")
	require.NoError(t, cmd.Wait())
	require.False(t, process.Alive())
	require.NoError(t, kill(handle), "killing it now harms nobody")
	gone, err := process.open()
	require.NoError(t, err)
	require.Nil(t, gone)
}

func TestKill(t *testing.T) {
	process, cmd, _ := startCat(t)
	handle := open(t, process)
	require.NoError(t, kill(handle))
	require.EqualError(t, cmd.Wait(), "signal: killed")
}
