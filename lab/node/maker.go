// Package node simulates Talos nodes: the machine with its power, disks and NICs, and its operating system, which runs Talos' own controllers over its own
// resources and simulates everything that would touch a real host.
//
// The parts of the operating system are separate packages; boot contains what they share, and the rule for their locks. They depend on each other in one
// direction:
//
//	journal, resources, disk < boot < sequence, machineconfig, service <
//	addressing, hardware, trust, discovery, kubernetes < node
//
// If a part calls one that depends on it, it does so through a small interface or a function that newNode passes.
package node

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/addressing"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/discovery"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/kubernetes"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/machineconfig"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/trust"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// API is the API of a node while it is served.
type API interface {
	// Add and Remove follow the node's addresses.
	Add(addr netip.Addr) error
	Remove(addr netip.Addr)
	// StopMachined has every call from now on fail: nobody is behind apid any more.
	StopMachined()
	// Stop ends it; when graceful, after the calls that run.
	Stop(graceful bool)
}

// Serve serves the API of a node at its addresses: that of a node in maintenance, or the one for clients with a certificate.
type Serve func(m talosapi.Machine, maintenance bool, at []netip.Addr) (API, error)

// Extension is a system extension that an image has.
type Extension = boot.Extension

// Lab is what a node uses of the lab.
type Lab = boot.Lab

// Options are what nodes need.
type Options struct {
	Lab
	Serve Serve
}

// Maker creates nodes, and contains what the nodes of one lab share.
type Maker struct {
	options   Options
	trust     *trust.Trust
	discovery *discovery.Service
	clusters  *kubernetes.Clusters
	shared    *addressing.Shared
	foreign   machineconfig.Foreign

	mu    sync.Mutex
	boxes map[string]*box
}

var _ machine.Maker = (*Maker)(nil)

// New returns a maker of nodes.
func New(options Options) *Maker {
	if options.Extensions == nil {
		options.Extensions = func(string, string) []Extension { return nil }
	}
	if options.HasInstaller == nil {
		options.HasInstaller = func(string, string) bool { return true }
	}
	return &Maker{
		options:   options,
		trust:     trust.New(),
		discovery: discovery.New(),
		clusters:  kubernetes.NewClusters(),
		shared:    addressing.NewShared(options.Network),
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
	if _, err := boot.ParseVersion(spec.Image.Talos); err != nil {
		return err
	}
	_, err := boot.ModeOf(spec.Platform)
	return err
}

func (m *Maker) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.boxes, name)
}

// running returns the node that runs on a machine.
func (m *Maker) running(machine string) (*node, error) {
	m.mu.Lock()
	box := m.boxes[machine]
	m.mu.Unlock()
	if box == nil {
		return nil, fmt.Errorf("there is no machine %q", machine)
	}
	n := box.running()
	if n == nil || n.boot.Ctx.Err() != nil {
		return nil, fmt.Errorf("machine %q is not on", machine)
	}
	return n, nil
}

// Runs reports whether a machine is up.
func (m *Maker) Runs(machine string) bool {
	_, err := m.running(machine)
	return err == nil
}

// Link returns the name of a link of a machine. An empty name means the link with the default route.
func (m *Maker) Link(machine, name string) (string, error) {
	n, err := m.running(machine)
	if err != nil {
		return "", err
	}
	return n.network.Link(name)
}

// Hold adds an address to a link of a machine, until it is released or the machine goes down.
func (m *Maker) Hold(machine, link string, address netip.Prefix) (release func(), err error) {
	n, err := m.running(machine)
	if err != nil {
		return nil, err
	}
	if link, err = n.network.Link(link); err != nil {
		return nil, err
	}
	return n.network.Hold(link, address), nil
}

// Status is the status of a machine.
type Status struct {
	Name    string   `json:"name"`
	UUID    string   `json:"uuid"`
	MACs    []string `json:"macs,omitempty"`
	Powered bool     `json:"powered"`
	// Talos is the running version, and Stage the stage of the machine; both are empty while it does not run.
	Talos     string   `json:"talos,omitempty"`
	Stage     string   `json:"stage,omitempty"`
	Ready     bool     `json:"ready"`
	Addresses []string `json:"addresses,omitempty"`
}

// Machines returns the machines of the lab, by name.
func (m *Maker) Machines() []Status {
	m.mu.Lock()
	boxes := make([]*box, 0, len(m.boxes))
	for _, b := range m.boxes {
		boxes = append(boxes, b)
	}
	m.mu.Unlock()
	statuses := make([]Status, 0, len(boxes))
	for _, b := range boxes {
		statuses = append(statuses, b.status())
	}
	slices.SortFunc(statuses, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return statuses
}
