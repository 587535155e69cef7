package daemon

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func entries(t *testing.T, folder Folder) []string {
	t.Helper()
	found, err := os.ReadDir(string(folder))
	require.NoError(t, err)
	names := []string{}
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return names
}

func TestWhatIsKnownOfALabIsKept(t *testing.T) {
	folder := Folder(t.TempDir())
	info, err := folder.Info()
	require.NoError(t, err)
	require.Nil(t, info)

	written := &Info{Process: Process{PID: 1 << 22, Start: 2, Boot: "b"}, Control: "127.0.0.1:1", Config: DefaultConfig(), Ready: true, Env: map[string]string{"A": "b"}}
	require.NoError(t, folder.write(written))
	info, err = folder.Info()
	require.NoError(t, err)
	require.Equal(t, written, info)
	require.Equal(t, []string{infoFile}, entries(t, folder))

	living, err := folder.Living()
	require.NoError(t, err)
	require.Nil(t, living)

	require.NoError(t, os.WriteFile(folder.Path(infoFile), []byte("{"), 0o600))
	_, err = folder.Info()
	require.EqualError(t, err, folder.Path(infoFile)+" is not what a lab writes: unexpected end of JSON input")
}

func TestCleanRemovesWhatIsALabsOnly(t *testing.T) {
	folder := Folder(t.TempDir())
	mine := []string{"Pulumi.yaml", "notes"}
	require.NoError(t, folder.checkFree())
	for _, name := range append(mine, infoFile, logFile, timelineFile) {
		require.NoError(t, os.WriteFile(folder.Path(name), nil, 0o600))
	}
	require.EqualError(t, folder.checkFree(), folder.Path(logFile)+" exists, and no lab created it: choose another folder for the lab")
	require.NoError(t, folder.prepare(map[string]string{"kubectl": "/bin/true"}))
	require.NoError(t, os.MkdirAll(folder.Path(stateDir+"/etcd/member"), 0o700))
	require.NoError(t, folder.clean())
	require.Equal(t, mine, entries(t, folder))
	require.NoError(t, folder.clean(), "once more")
}

func TestTheFolderIsLockedUntilItIsNot(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "not", "there", "yet"))
	unlock, err := folder.lock()
	require.NoError(t, err)
	dir, err := os.Open(string(folder))
	require.NoError(t, err)
	defer dir.Close()
	require.ErrorIs(t, unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
	unlock()
	require.NoError(t, unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB))
}

func TestTheControlSocketMayHaveALongPath(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), strings.Repeat("long/", 40)))
	require.NoError(t, os.MkdirAll(string(folder), 0o755))
	sockets, err := folder.openSockets()
	require.NoError(t, err)
	defer sockets.close()
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })}
	served := make(chan error, 1)
	go func() { served <- server.Serve(sockets.control) }()
	status, err := folder.Client().Status(t.Context())
	require.NoError(t, err)
	require.JSONEq(t, "{}", string(status))
	require.NoError(t, server.Close())
	require.ErrorIs(t, <-served, http.ErrServerClosed)
	require.FileExists(t, folder.Path(socketFile))
}

func TestDownWithoutALab(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "none"))
	ran, err := folder.Down(context.Background(), func(string) {})
	require.NoError(t, err)
	require.False(t, ran)
	require.NoDirExists(t, string(folder))
}
