// Package gitops is the GitOps of the lab: a git server, the real controllers of
// Flux and the real sealed-secrets controller.
package gitops

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/faulthttp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Subject is the git server's name in facts and faults.
const Subject = "git"

// branch is the first branch of a repository.
const branch = "main"

// Options are what a git server needs.
type Options struct {
	// Dir is where the bare repositories are.
	Dir string
	// Git is the program; by default the one on PATH.
	Git      string
	Faults   *fault.Set
	Timeline *timeline.Timeline
}

// Server serves /<repository>.git over HTTP, for reading and writing, to everyone: it checks no credentials. The first push creates a repository. It is safe
// for concurrent use.
type Server struct {
	git      git
	timeline *timeline.Timeline
	handler  http.Handler

	mu sync.Mutex
	// pushing has a lock for each repository, which is held during a push.
	pushing map[string]*sync.Mutex
}

// NewServer returns a server, whose folder it creates.
func NewServer(options Options) (*Server, error) {
	program, err := exec.LookPath(cmp.Or(options.Git, "git"))
	if err != nil {
		return nil, fmt.Errorf("a git server needs git: %w", err)
	}
	if err := os.MkdirAll(options.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the git server: %w", err)
	}
	s := &Server{
		git:      git{program: program, dir: options.Dir},
		timeline: options.Timeline,
		pushing:  map[string]*sync.Mutex{},
	}
	s.handler = faulthttp.Handler(options.Faults, Subject, http.HandlerFunc(s.serve))
	return s, nil
}

// ServeHTTP answers git's smart protocol.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, r)
}

// address is the path of a request: a repository and an operation on it.
var address = regexp.MustCompile(`^/([A-Za-z0-9][A-Za-z0-9._-]*)\.git(/.*)$`)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	parts := address.FindStringSubmatch(r.URL.Path)
	if parts == nil {
		http.Error(w, "the lab's git server has /<repository>.git and nothing else", http.StatusNotFound)
		return
	}
	repository, asked := parts[1], parts[2]
	service := r.URL.Query().Get("service")
	if asked == "/info/refs" && service == "git-receive-pack" {
		if err := s.create(r.Context(), repository); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if err := measure(w, r); err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if asked != "/git-receive-pack" {
		s.backend().ServeHTTP(w, r)
		return
	}
	s.push(w, r, repository)
}

// maxBody is larger than any repository of a lab.
const maxBody = 256 << 20

// measure reads a body of unknown length, because a CGI program needs its length.
func measure(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength >= 0 {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return nil
}

// push lets git receive the push and records which branches it moved.
func (s *Server) push(w http.ResponseWriter, r *http.Request, repository string) {
	lock := s.lock(repository)
	lock.Lock()
	defer lock.Unlock()
	before, err := s.git.heads(r.Context(), repository)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.backend().ServeHTTP(w, r)
	// The client may disconnect as soon as it has its answer.
	after, err := s.git.heads(context.WithoutCancel(r.Context()), repository)
	if err != nil {
		s.timeline.Record(Subject, "error", err.Error())
		return
	}
	for _, change := range changes(before, after) {
		s.timeline.Record(Subject, "push", repository, "branch", change.branch, "revision", change.revision)
	}
}

func (s *Server) create(ctx context.Context, repository string) error {
	lock := s.lock(repository)
	lock.Lock()
	defer lock.Unlock()
	return s.git.create(ctx, repository)
}

func (s *Server) lock(repository string) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pushing[repository] == nil {
		s.pushing[repository] = &sync.Mutex{}
	}
	return s.pushing[repository]
}

// backend is git's own CGI program.
func (s *Server) backend() http.Handler {
	return &cgi.Handler{
		Path: s.git.program,
		Args: []string{"http-backend"},
		Dir:  s.git.dir,
		Env:  append(s.git.env(), "GIT_PROJECT_ROOT="+s.git.dir, "GIT_HTTP_EXPORT_ALL=1"),
	}
}

func (g git) path(repository string) string {
	return filepath.Join(g.dir, repository+".git")
}
