package kube

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// ports are the standard ports of the programs.
var ports = map[string]uint16{"kube-apiserver": 6443, "kube-controller-manager": 10257, "kube-scheduler": 10259}

// component is a program of the control plane that runs as one process for all nodes on which it would do the same.
type component struct {
	space *space
	kind  string
	at    netip.Addr

	log *podLog

	mu    sync.Mutex
	users map[string]*share // by host
	run   *incarnation
	last  <-chan struct{} // done when the one before run is gone
}

// share is one node's share of a component: its container as Talos rendered it.
type share struct {
	host    string
	image   string
	command []string // the environment filled in
	env     []string
	folders map[string]string // in the container, and on the host
	files   map[string][]byte // by path in the container
	// caCert and caKey sign what the API server serves with.
	caCert, caKey []byte
}

// incarnation is one run of the process.
type incarnation struct {
	cancel  context.CancelFunc
	ready   chan struct{}
	done    chan struct{}
	err     error    // once done
	process *process // nil until it is started
}

func newComponent(s *space, kind string, at netip.Addr) *component {
	return &component{space: s, kind: kind, at: at, log: newPodLog(), users: map[string]*share{}}
}

func (c *component) serving() netip.AddrPort { return netip.AddrPortFrom(c.at, ports[c.kind]) }

func (c *component) dir() string {
	return filepath.Join(c.space.dir, c.kind+"-"+c.at.String())
}

// use runs the component for a node until the context ends; ready is called when it serves. An error means that the process ended.
func (c *component) use(ctx context.Context, part *share, ready func()) error {
	run, err := c.enter(part)
	if err != nil {
		return err
	}
	defer c.leave(part.host)
	select {
	case <-run.ready:
	case <-run.done:
		return run.err
	case <-ctx.Done():
		return nil
	}
	if err := c.awaitShown(ctx, run, part); err != nil {
		return err
	}
	ready()
	select {
	case <-run.done:
		return run.err
	case <-ctx.Done():
		return nil
	}
}

// enter adds the node to those that use the process, and starts it for the first.
func (c *component) enter(part *share) (*incarnation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users[part.host] = part
	if c.run != nil && !ended(c.run.done) {
		return c.run, c.join()
	}
	ctx, cancel := context.WithCancel(c.space.k.ctx)
	run := &incarnation{cancel: cancel, ready: make(chan struct{}), done: make(chan struct{})}
	before := c.last
	c.run, c.last = run, run.done
	go func() {
		defer cancel()
		if before != nil {
			<-before
		}
		run.err = c.live(ctx, run, part)
		close(run.done)
	}()
	return run, nil
}

// leave removes the node. For the last node it stops the process, and waits for that.
func (c *component) leave(host string) {
	c.mu.Lock()
	delete(c.users, host)
	run := c.run
	if len(c.users) > 0 || run == nil {
		c.mu.Unlock()
		return
	}
	c.run = nil
	c.mu.Unlock()
	run.cancel()
	<-run.done
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (c *component) pid() int {
	c.mu.Lock()
	run := c.run
	c.mu.Unlock()
	if run == nil || ended(run.done) || !ended(run.ready) {
		return 0
	}
	return run.process.pid()
}

// live runs the process, from its prerequisites until its end.
func (c *component) live(ctx context.Context, run *incarnation, part *share) error {
	if err := c.needs(ctx); err != nil {
		return err
	}
	rewrite := c.rewriting(part)
	if err := writeFiles(part.files, rewrite, "https://"+c.space.prism.address().String()); err != nil {
		return err
	}
	program, args := rewrite.apply(part.command)
	env := slices.Concat(os.Environ(), part.env, runAs(part.image))
	process, err := startProcess(c.space.k.ctx, c.space.k.options.Binary, program, known(program, part.image, args), env, filepath.Join(c.dir(), c.kind+".log"), c.log)
	if err != nil {
		return err
	}
	run.process = process
	defer process.stop()
	if err := c.awaitReady(ctx, process); err != nil {
		return err
	}
	close(run.ready)
	if c.kind == "kube-apiserver" {
		c.space.setLive(c, true)
		defer c.space.setLive(c, false)
	}
	// Nodes that joined while it started are not in its certificate yet.
	c.mu.Lock()
	err = c.join()
	c.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-process.done:
		return process.failure()
	case <-ctx.Done():
		return nil
	}
}

// needs waits for prerequisites without which the program would fail.
func (c *component) needs(ctx context.Context) error {
	if c.kind == "kube-apiserver" {
		return c.space.etcd.await(ctx, (*book).quorum)
	}
	_, err := c.space.awaitAPI(ctx)
	return err
}

// rewriting returns the lab's changes to the flags.
func (c *component) rewriting(part *share) rewriting {
	rewrite := rewriting{
		paths: map[string]string{},
		set:   map[string]string{"bind-address": c.at.String(), "secure-port": fmt.Sprint(ports[c.kind])},
	}
	for inside, host := range part.folders {
		rewrite.paths[inside] = filepath.Join(c.dir(), host)
	}
	switch c.kind {
	case "kube-apiserver":
		rewrite.set["etcd-servers"] = c.space.etcd.process.endpoint()
		// It would list only the node whose flags it has.
		rewrite.set["endpoint-reconciler-type"] = "none"
	case "kube-controller-manager":
		if c.space.k.options.Pace.Profile() == pace.Fast {
			hasten(rewrite.set, part.command)
		}
	}
	return rewrite
}

// hasten shortens slow defaults, unless the command sets them: how long a node may be silent (three heartbeats in the profile fast), and delays between
// calls. Each controller makes several calls before it starts, and the first controller waited five seconds for the last.
func hasten(set map[string]string, command []string) {
	for name, value := range map[string]string{
		"node-monitor-grace-period": "9s", "node-monitor-period": "1s", "kube-api-qps": "500", "kube-api-burst": "1000",
	} {
		if !slices.ContainsFunc(command, func(word string) bool { return strings.HasPrefix(word, "--"+name+"=") }) {
			set[name] = value
		}
	}
}

// flag returns the value of a flag in a command.
func flag(command []string, name string) string {
	value := ""
	for _, word := range command {
		if v, ok := strings.CutPrefix(word, "--"+name+"="); ok {
			value = v
		}
	}
	return value
}
