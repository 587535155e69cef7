// Package node is a Talos node: the machine with its power, disks and NICs, and
// the operating system in it, which runs Talos' own controllers over resources
// of its own and plays whatever would touch a real host.
package node

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// API is the API of a node while it is served.
type API interface {
	// Add and Remove follow the node's addresses.
	Add(addr netip.Addr) error
	Remove(addr netip.Addr)
	// Stop ends it; when graceful, after the calls that run.
	Stop(graceful bool)
}

// Serve serves the API of a node at its addresses: that of a node in
// maintenance, or the one for clients with a certificate.
type Serve func(m talosapi.Machine, maintenance bool, at []netip.Addr) (API, error)

// Extension is a system extension that an image carries.
type Extension struct {
	Name, Version, Author, Description string
	// Service is the id of the service that it runs, without "ext-", or nothing.
	Service string
}

// Options are what nodes need of the lab.
type Options struct {
	Network    network.Network
	Kubernetes cluster.Kubernetes
	Serve      Serve
	Pace       *pace.Pace
	Faults     *fault.Set
	Timeline   *timeline.Timeline
	// Extensions are those of a schematic in a version of Talos; nil knows none.
	Extensions func(schematic, version string) []Extension
}

// Maker makes nodes, and keeps what nodes of one lab share: who signs for whom,
// and who found whom.
type Maker struct {
	Options
	trust     *trust
	discovery *discovery
	clusters  *clusters
	shared    *sharedAddresses
	foreign   foreign

	mu    sync.Mutex
	boxes map[string]*box
}

var _ machine.Maker = (*Maker)(nil)

// New returns a maker of nodes.
func New(options Options) *Maker {
	if options.Extensions == nil {
		options.Extensions = func(string, string) []Extension { return nil }
	}
	return &Maker{
		Options:   options,
		trust:     newTrust(),
		discovery: newDiscovery(),
		clusters:  newClusters(),
		shared:    newSharedAddresses(),
		boxes:     map[string]*box{},
	}
}

// Make implements machine.Maker.
func (m *Maker) Make(spec machine.Spec) (machine.Box, error) {
	if err := check(spec); err != nil {
		return nil, fmt.Errorf("machine %q: %w", spec.Name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.boxes[spec.Name] != nil {
		return nil, fmt.Errorf("machine %q: there is one of that name already", spec.Name)
	}
	b := newBox(m, spec)
	m.boxes[spec.Name] = b
	return b, nil
}

func check(spec machine.Spec) error {
	switch {
	case spec.Name == "":
		return errors.New("has no name")
	case len(spec.Disks) == 0:
		return errors.New("has no disk")
	}
	if _, err := parseVersion(spec.Image.Talos); err != nil {
		return err
	}
	_, err := modeOf(spec.Platform)
	return err
}

func (m *Maker) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.boxes, name)
}
