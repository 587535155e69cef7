package nstest

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestTestsRunInNamespacesOfTheirOwn(t *testing.T) {
	require.Equal(t, 1, os.Getpid(), "process 1 of its pid namespace")

	links, err := net.Interfaces()
	require.NoError(t, err)
	for _, link := range links {
		require.NotZero(t, link.Flags&net.FlagLoopback, "%s is not of the host", link.Name)
		require.NotZero(t, link.Flags&net.FlagUp, "%s is up", link.Name)
	}

	processes, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	require.Equal(t, []string{"/proc/1"}, processes, "/proc shows this namespace")
}
