package process

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const folder = "/run/secrets/sluice-test"

func TestAProgramThatEndsByItselfIsAnError(t *testing.T) {
	for script, want := range map[string]string{
		"exit 3": "sh ended by itself: exit status 3",
		"exit 0": "sh ended by itself",
	} {
		require.EqualError(t, Run(t.Context(), shell(script, io.Discard)), want)
	}
	missing := Command{Path: filepath.Join(t.TempDir(), "none"), Log: io.Discard}
	require.ErrorContains(t, Run(t.Context(), missing), "none: fork/exec")
}

func TestAProgramEndsWithItsContextAndWithItsChildren(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := &lines{}
	ended := make(chan error, 1)
	// The child does not listen, the parent says goodbye.
	script := `trap 'echo bye; exit 0' TERM; (trap '' TERM; while :; do sleep 60; done) >/dev/null 2>&1 & echo $!; wait`
	go func() { ended <- Run(ctx, shell(script, log)) }()
	child, err := strconv.Atoi(log.first(t))
	require.NoError(t, err)
	handle, err := unix.PidfdOpen(child, 0)
	require.NoError(t, err)
	defer unix.Close(handle)
	cancel()
	require.NoError(t, <-ended)
	require.Contains(t, log.String(), "bye")
	requireEnded(t, handle)
}

func TestAProgramThatNobodyNeedsIsNotAsked(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	log := &lines{}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, shell(`trap 'echo bye; exit 0' TERM; echo here; while :; do sleep 60 & wait; done`, log))
	}()
	log.first(t)
	cancel(ErrAbandoned)
	require.NoError(t, <-ended)
	require.Equal(t, "here\n", log.String())
}

// requireEnded waits for the end of the process.
func requireEnded(t *testing.T, handle int) {
	t.Helper()
	const fiveSeconds = 5000
	for {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, fiveSeconds)
		if err == unix.EINTR {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, ready, "it is still there")
		return
	}
}

func TestItHasNoEnvironmentButItsOwn(t *testing.T) {
	t.Setenv("OTHER", "value")
	log := &lines{}
	command := shell(`echo "$OWN,$OTHER"; exit 1`, log)
	command.Env = []string{"OWN=1"}
	require.Error(t, Run(t.Context(), command))
	require.Equal(t, "1,\n", log.String())
}

func TestFoldersAreLaidOverForItAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root, as the daemon of the lab is in its namespaces")
	}
	log := &lines{}
	command := shell("cat "+folder+"/token; exit 1", log)
	command.Folders = map[string]map[string][]byte{folder: {"token": []byte("secret")}}
	require.Error(t, Run(t.Context(), command))
	require.Equal(t, "secret", log.String())
	_, err := os.Stat(folder)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestNoFolderIsLaidOverWhatEveryProgramNeeds(t *testing.T) {
	for _, folder := range []string{"/sluice-none/secrets", "/usr/sluice-none", "/etc/sluice-none"} {
		_, err := nearest(folder)
		require.ErrorContains(t, err, "no folder on the way that may be covered", folder)
	}
}

func TestReadyIsCalledOnceItAnswers(t *testing.T) {
	var asked int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var readied int
	err := Serve(ctx, shell("while :; do sleep 60; done", io.Discard), server.URL, func() {
		readied = asked
		cancel()
	})
	require.NoError(t, err)
	require.Equal(t, 3, readied)
}

func TestAProgramThatNeverAnswersIsNeverReady(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	err := Serve(t.Context(), shell("exit 7", io.Discard), server.URL, func() { t.Error("it is not ready") })
	require.EqualError(t, err, "sh ended by itself: exit status 7")
}

func shell(script string, log io.Writer) Command {
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Log: log}
}

// lines is a log whose first line can be waited for.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.text.Write(data)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) first(t *testing.T) string {
	t.Helper()
	for {
		l.mu.Lock()
		line, _, whole := strings.Cut(l.text.String(), "\n")
		more := make(chan struct{})
		l.more = more
		l.mu.Unlock()
		if whole {
			return line
		}
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatal("no line came")
		}
	}
}
