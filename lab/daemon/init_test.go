package daemon

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReapCollectsWhatNobodyWaitsFor(t *testing.T) {
	// The shell ends at once and leaves its child to this process.
	output, err := exec.Command("sh", "-c", "true >&- & echo $!").Output()
	require.NoError(t, err)
	orphan := strings.TrimSpace(string(output))

	// Signals reach a process, also one that ended, until it is collected.
	last := exec.Command("sh", "-c", fmt.Sprintf("while kill -0 %s; do :; done 2>&-; exit 3", orphan))
	require.NoError(t, last.Start())
	code, err := reap(last.Process.Pid)
	require.NoError(t, err)
	require.Equal(t, 3, code)
}

func TestReapGivesTheSignalThatEndedIt(t *testing.T) {
	killed := exec.Command("sh", "-c", "kill -KILL $$")
	require.NoError(t, killed.Start())
	code, err := reap(killed.Process.Pid)
	require.NoError(t, err)
	require.Equal(t, 137, code)
}

func TestReapSaysWhenThereIsNothingToWaitFor(t *testing.T) {
	_, err := reap(12345)
	require.EqualError(t, err, "wait for processes: no child processes")
}
