package storage

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// ProxmoxDriver is the name of the CSI driver for Proxmox VE.
const ProxmoxDriver = "csi.proxmox.sinextra.dev"

// Proxmox are the volumes of a Proxmox cluster: the driver calls no API here.
// It is safe for concurrent use.
type Proxmox struct {
	mu      sync.Mutex
	volumes map[string]Volume
}

// NewProxmox is a Proxmox cluster without volumes.
func NewProxmox() *Proxmox {
	return &Proxmox{volumes: map[string]Volume{}}
}

// Create makes a disk on the storage that the class names, on the host that the
// zone is.
func (p *Proxmox) Create(_ context.Context, asked Request) (Volume, error) {
	storage := asked.Parameters["storage"]
	if storage == "" {
		return Volume{}, fmt.Errorf("volume %s: the StorageClass has no parameter storage", asked.Name)
	}
	var region, zone string
	for _, topology := range asked.Topologies {
		region, zone = topology[corev1.LabelTopologyRegion], topology[corev1.LabelTopologyZone]
		if region != "" && zone != "" {
			break
		}
	}
	if region == "" || zone == "" {
		return Volume{}, fmt.Errorf("volume %s: no node says its region and zone by labels", asked.Name)
	}
	size := max((asked.Bytes+gib-1)/gib, 1) * gib
	if asked.Limit > 0 && size > asked.Limit {
		return Volume{}, fmt.Errorf("%w: %d bytes, at most %d", ErrSize, size, asked.Limit)
	}
	id := diskPrefix(region, zone, storage) + asked.Name
	p.mu.Lock()
	defer p.mu.Unlock()
	if existing, is := p.volumes[id]; is && existing.Bytes != size {
		return Volume{}, fmt.Errorf("%w: %s has %d bytes, not %d", ErrExists, id, existing.Bytes, size)
	}
	volume := Volume{ID: id, Bytes: size, Topology: map[string]string{
		corev1.LabelTopologyRegion: region, corev1.LabelTopologyZone: zone,
	}}
	p.volumes[id] = volume
	return volume, nil
}

// Delete removes a disk.
func (p *Proxmox) Delete(_ context.Context, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.volumes, id)
	return nil
}

// room is how much each storage of each host has.
const room = 1 << 40

// Free is what is left of a storage.
func (p *Proxmox) Free(place map[string]string, parameters map[string]string) int64 {
	prefix := diskPrefix(place[corev1.LabelTopologyRegion], place[corev1.LabelTopologyZone], parameters["storage"])
	p.mu.Lock()
	defer p.mu.Unlock()
	free := int64(room)
	for id, volume := range p.volumes {
		if strings.HasPrefix(id, prefix) {
			free -= volume.Bytes
		}
	}
	return max(free, 0)
}

// diskPrefix is what the ids of the disks on a storage begin with.
func diskPrefix(region, zone, storage string) string {
	return region + "/" + zone + "/" + storage + "/vm-9999-"
}

// Count is how many volumes there are.
func (p *Proxmox) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.volumes)
}
