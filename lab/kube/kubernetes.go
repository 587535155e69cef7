// Package kube is the Kubernetes that Talos nodes of the lab form: a real etcd, kube-apiserver, kube-controller-manager and kube-scheduler with the flags and
// files that Talos renders, and simulated kubelets.
//
// The kubelets are simulated here and not by kwok. Clients follow a cluster by what kubelets write: Events, image pulls, back-offs, the last line of a crash,
// pods that wait for a secret or a volume. All of that is connected, per pod and over time, and some containers really run (cluster.Program). One goroutine
// per pod expresses this in little code, which rules about the fields of single objects cannot, and it saves a process of 100 MB.
package kube

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"

	"k8s.io/klog/v2"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	running "github.com/siderolabs/talos/internal/app/machined/sluicelab/process"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Options are the options of a lab's Kubernetes.
type Options struct {
	// Dir is for data, logs and certificates; it is created if it does not exist.
	Dir string
	// Binary is the multi-call binary `controlplane`.
	Binary string
	// Recovery is a program, with its arguments, that calls recovery.Serve.
	Recovery []string
	Network  network.Network
	Pace     *pace.Pace
	Faults   *fault.Set
	Timeline *timeline.Timeline
	// Programs run for the containers that they handle.
	Programs []cluster.Program
	Log      *slog.Logger
}

// Kubernetes runs the clusters of a lab.
type Kubernetes struct {
	options Options
	ctx     context.Context
	cancel  context.CancelCauseFunc

	mu       sync.Mutex
	clusters map[cluster.ID]*space
	hosts    map[string]*host
}

var _ cluster.Kubernetes = (*Kubernetes)(nil)

// New returns a lab's Kubernetes without any cluster.
func New(options Options) *Kubernetes {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	// The Kubernetes libraries write to the lab's log.
	klog.SetSlogLogger(options.Log)
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Kubernetes{
		options: options, ctx: ctx, cancel: cancel,
		clusters: map[cluster.ID]*space{}, hosts: map[string]*host{},
	}
}

// Abandon kills everything that runs, and prevents new starts.
func (k *Kubernetes) Abandon() { k.cancel(running.ErrAbandoned) }

// Close ends everything, and returns when nothing runs any more.
func (k *Kubernetes) Close(ctx context.Context) error {
	k.Abandon()
	k.mu.Lock()
	hosts := slices.Collect(maps.Values(k.hosts))
	spaces := slices.Collect(maps.Values(k.clusters))
	k.mu.Unlock()
	closed := make(chan error, 1)
	go func() {
		for _, h := range hosts {
			k.StopKubelet(h.name)
		}
		for _, h := range hosts {
			k.StopStaticPods(h.name)
		}
		var errs []error
		for _, s := range spaces {
			errs = append(errs, s.close())
		}
		closed <- errors.Join(errs...)
	}()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// cluster returns a cluster, which it creates at the first call.
func (k *Kubernetes) cluster(id cluster.ID) *space {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, known := k.clusters[id]
	if !known {
		s = newSpace(k, id, len(k.clusters)+1)
		k.clusters[id] = s
	}
	return s
}

func (k *Kubernetes) host(name string) *host {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, known := k.hosts[name]
	if !known {
		h = &host{name: name}
		k.hosts[name] = h
	}
	return h
}

// anyData reports whether a node has data of this cluster's etcd.
func (k *Kubernetes) anyData(id cluster.ID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.hosts {
		if stored := h.etcdData(); stored != nil && stored.cluster == id {
			return true
		}
	}
	return false
}

func (k *Kubernetes) record(subject, what, value string, detail ...string) {
	k.options.Timeline.Record(subject, what, value, detail...)
}

// Clusters lists those that have had a control plane.
func (k *Kubernetes) Clusters() []cluster.ID {
	k.mu.Lock()
	defer k.mu.Unlock()
	var ids []cluster.ID
	for id, s := range k.clusters {
		if s.kubeconfig() != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Kubeconfig returns the administrator's kubeconfig of a cluster, for the cluster's endpoint, or nil if there is none yet.
func (k *Kubernetes) Kubeconfig(id cluster.ID) []byte { return k.cluster(id).kubeconfig() }

// APIServer returns an address at which a cluster's API answers while any of its control planes is up, like 127.0.0.1:7445 on a Talos node.
func (k *Kubernetes) APIServer(id cluster.ID) netip.AddrPort { return k.cluster(id).prism.address() }

// Process is a running process.
type Process struct {
	Cluster cluster.ID `json:"cluster"`
	Name    string     `json:"name"`
	PID     int        `json:"pid"`
}

// Processes lists the running processes, for the status of the lab.
func (k *Kubernetes) Processes() []Process {
	k.mu.Lock()
	spaces := slices.Collect(maps.Values(k.clusters))
	k.mu.Unlock()
	var all []Process
	for _, s := range spaces {
		all = append(all, s.processes()...)
	}
	slices.SortFunc(all, func(a, b Process) int { return a.PID - b.PID })
	return all
}

func (k *Kubernetes) clusterDir(id cluster.ID) string {
	return filepath.Join(k.options.Dir, string(id))
}
