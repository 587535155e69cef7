package lab

import (
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox"
)

// home is the Proxmox cluster of a lab that has one.
type home struct {
	*proxmox.Cluster
	at      netip.AddrPort
	network network.Network
	servers *servers
	log     *slog.Logger
	// token has all privileges.
	token string
}

// newHome creates the cluster that the config describes.
func newHome(parts daemon.Parts, nodes *node.Maker, images *imageFactory, networks *lans, servers *servers) (*home, error) {
	asked := parts.Config.Proxmox.Complete()
	made := &home{at: netip.AddrPortFrom(asked.Address, asked.Port), network: parts.Network, servers: servers, log: parts.Log}
	options := proxmox.Options{
		Machines: nodes, Pace: parts.Pace, Faults: parts.Faults, Timeline: parts.Timeline, Seed: parts.Config.Seed,
		Hosts: asked.Hosts, Address: asked.Address, Factory: "http://" + network.Factory.String(), Schematic: images.Schematic,
		Door: made.door,
	}
	for _, one := range asked.Storages {
		options.Storages = append(options.Storages, proxmox.Storage{Name: one.Name, Content: one.Content, Shared: one.Shared})
	}
	if asked.DHCP {
		server, err := networks.server(asked.Network, asked.Gateway)
		if err != nil {
			return nil, fmt.Errorf("proxmox: %w", err)
		}
		for _, kept := range asked.Reservations {
			if err := server.Reserve(kept.MAC, kept.Address); err != nil {
				return nil, fmt.Errorf("proxmox: reservation for %s: %w", kept.MAC, err)
			}
		}
		options.DHCP = server
	}
	cluster, err := proxmox.New(options)
	if err != nil {
		return nil, err
	}
	made.Cluster, made.token = cluster, cluster.AddToken("sluice@pve", "lab")
	return made, nil
}

// open serves the API.
func (h *home) open() error { return h.servers.serveTLS(h.at, h, h.Certificate()) }

// door opens and closes the API's address: if no host is up, nothing answers.
func (h *home) door(open bool) {
	var err error
	if open {
		err = h.open()
	} else {
		err = h.network.Remove(h.at.Addr())
	}
	if err != nil {
		h.log.Error("the door of the Proxmox API", "open", open, "error", err)
	}
}

// endpoint returns the URL that clients of the API get.
func (h *home) endpoint() string { return "https://" + h.at.String() }

// env returns the variables with which clients use the API of the cluster.
func (h *home) env() map[string]string {
	return map[string]string{"PROXMOX_VE_ENDPOINT": h.endpoint(), "PROXMOX_VE_API_TOKEN": h.token}
}
