package gitops

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestPushAndCloneWithTheRealGit(t *testing.T) {
	lab := start(t)
	work := t.TempDir()
	lab.git(t, work, "init", "--quiet", "--initial-branch", "main")
	write(t, work, "file", "one")
	lab.git(t, work, "add", ".")
	lab.git(t, work, "commit", "--quiet", "--message", "one")
	one := lab.git(t, work, "rev-parse", "HEAD")
	lab.git(t, work, "push", "--quiet", lab.url+"/fresh.git", "main", "main:other")

	clone := t.TempDir()
	lab.git(t, clone, "clone", "--quiet", lab.url+"/fresh.git", "copy")
	content, err := os.ReadFile(filepath.Join(clone, "copy", "file"))
	require.NoError(t, err)
	require.Equal(t, "one", string(content))
	lab.git(t, work, "push", "--quiet", lab.url+"/fresh.git", ":other")

	require.Equal(t, []pushed{{"fresh", "main", one}, {"fresh", "other", one}, {"fresh", "other", ""}}, lab.pushes())
}

func TestALargePushComesThrough(t *testing.T) {
	lab := start(t)
	work := t.TempDir()
	lab.git(t, work, "init", "--quiet", "--initial-branch", "main")
	// Git sends what is larger than its buffer in chunks of unknown number.
	lab.git(t, work, "config", "http.postBuffer", "65536")
	lab.git(t, work, "config", "core.compression", "0")
	write(t, work, "file", strings.Repeat("0123456789abcdef", 1<<16))
	lab.git(t, work, "add", ".")
	lab.git(t, work, "commit", "--quiet", "--message", "large")
	lab.git(t, work, "push", "--quiet", lab.url+"/large.git", "main")
	require.Len(t, lab.pushes(), 1)
}

func TestASeededRepositoryIsTheSameEachTime(t *testing.T) {
	files := fstest.MapFS{"a/b.yaml": {Data: []byte("b: 1\n")}, "c": {Data: []byte("c")}}
	var revisions []string
	for range 2 {
		lab := start(t)
		require.NoError(t, lab.server.Seed(t.Context(), "sample", files))
		// A lab that is started again finds its repository as it was.
		require.NoError(t, lab.server.Seed(t.Context(), "sample", fstest.MapFS{}))
		require.Len(t, lab.pushes(), 1)
		revisions = append(revisions, lab.pushes()[0].revision)
		clone := t.TempDir()
		lab.git(t, clone, "clone", "--quiet", lab.url+"/sample.git")
		require.Equal(t, revisions[0], lab.git(t, filepath.Join(clone, "sample"), "rev-parse", "HEAD"))
		content, err := os.ReadFile(filepath.Join(clone, "sample", "a", "b.yaml"))
		require.NoError(t, err)
		require.Equal(t, "b: 1\n", string(content))
		left, err := filepath.Glob(filepath.Join(lab.dir, ".seed-*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
	require.Equal(t, revisions[0], revisions[1])
}

func TestWhatThereIsNotCannotBeCloned(t *testing.T) {
	lab := start(t)
	_, err := lab.try(t.TempDir(), "clone", "--quiet", lab.url+"/none.git")
	require.ErrorContains(t, err, "not found")
	for _, path := range []string{"/", "/none", "/../etc.git/HEAD", "/.hidden.git/HEAD", "/a/b.git/HEAD"} {
		answer, err := http.Get(lab.url + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusNotFound, answer.StatusCode, path)
	}
}

func TestAFaultKeepsAPushOut(t *testing.T) {
	lab := start(t)
	_, err := lab.faults.Add(fault.Rule{On: fault.Cloud, Subject: Subject, Name: "POST */git-receive-pack", Do: fault.Fail, Code: "503"})
	require.NoError(t, err)
	work := t.TempDir()
	lab.git(t, work, "init", "--quiet", "--initial-branch", "main")
	lab.git(t, work, "commit", "--quiet", "--allow-empty", "--message", "one")
	_, err = lab.try(work, "push", "--quiet", lab.url+"/fresh.git", "main")
	require.ErrorContains(t, err, "503")
	require.Empty(t, lab.pushes())
}

func TestAServerNeedsGit(t *testing.T) {
	_, err := NewServer(Options{Dir: t.TempDir(), Git: filepath.Join(t.TempDir(), "git")})
	require.ErrorContains(t, err, "a git server needs git")
}

type lab struct {
	url, dir string
	server   *Server
	faults   *fault.Set
	timeline *timeline.Timeline
}

func start(t *testing.T) lab {
	t.Helper()
	facts := timeline.New(time.Now, nil)
	dir, faults := filepath.Join(t.TempDir(), "git"), fault.NewSet(facts)
	server, err := NewServer(Options{Dir: dir, Faults: faults, Timeline: facts})
	require.NoError(t, err)
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	return lab{url: listening.URL, dir: dir, server: server, faults: faults, timeline: facts}
}

type pushed struct{ repository, branch, revision string }

func (l lab) pushes() []pushed {
	facts, _ := l.timeline.After(0)
	var pushes []pushed
	for _, fact := range facts {
		if fact.Subject == Subject && fact.What == "push" {
			pushes = append(pushes, pushed{fact.Value, fact.Detail["branch"], fact.Detail["revision"]})
		}
	}
	return pushes
}

func (l lab) git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := l.try(dir, args...)
	require.NoError(t, err)
	return out
}

// try runs git as a user of the lab would, without the settings of the user who runs
// the test.
func (l lab) try(dir string, args ...string) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", err
	}
	return git{program: program, dir: dir}.run(context.Background(), []string{
		"GIT_AUTHOR_NAME=lab", "GIT_AUTHOR_EMAIL=lab@lab.invalid", "GIT_COMMITTER_NAME=lab", "GIT_COMMITTER_EMAIL=lab@lab.invalid",
	}, args...)
}

func write(t *testing.T, dir, file, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
}
