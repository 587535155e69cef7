package storage

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// HetznerDriver is the name of Hetzner's CSI driver.
const HetznerDriver = "csi.hetzner.cloud"

// HetznerTopology is the label of a node with the location whose volumes it can reach.
const HetznerTopology = HetznerDriver + "/location"

const (
	gib = 1 << 30
	// minGiB is the smallest size at Hetzner.
	minGiB = 10
	// maxGiB is the largest.
	maxGiB = 10240
)

// hetznerVolumes are volumes of a Hetzner project.
type hetznerVolumes struct {
	client *hcloud.Client
}

// Create creates a volume of a number of GiB, at least 10, in the best location.
func (v hetznerVolumes) Create(ctx context.Context, asked Request) (Volume, error) {
	size := max((asked.Bytes+gib-1)/gib, minGiB)
	if size > maxGiB || asked.Limit > 0 && size*gib > asked.Limit {
		return Volume{}, fmt.Errorf("%w: %d GiB, of %d to %d and at most %d bytes", ErrSize, size, minGiB, maxGiB, asked.Limit)
	}
	existing, _, err := v.client.Volume.GetByName(ctx, asked.Name)
	if err != nil {
		return Volume{}, fmt.Errorf("looking for volume %s: %w", asked.Name, err)
	}
	if existing != nil {
		if int64(existing.Size) != size {
			return Volume{}, fmt.Errorf("%w: %s has %d GiB, not %d", ErrExists, asked.Name, existing.Size, size)
		}
		return made(existing), nil
	}
	var location string
	for _, topology := range asked.Topologies {
		if location = topology[HetznerTopology]; location != "" {
			break
		}
	}
	if location == "" {
		return Volume{}, fmt.Errorf("volume %s: no node says its location by the label %s", asked.Name, HetznerTopology)
	}
	result, _, err := v.client.Volume.Create(ctx, hcloud.VolumeCreateOpts{
		Name:     asked.Name,
		Size:     int(size),
		Location: &hcloud.Location{Name: location},
		Labels:   labels(asked.Parameters),
	})
	if err != nil {
		return Volume{}, fmt.Errorf("creating volume %s: %w", asked.Name, err)
	}
	actions := result.NextActions
	if result.Action != nil {
		actions = append(actions, result.Action)
	}
	if err := v.client.Action.WaitFor(ctx, actions...); err != nil {
		return Volume{}, fmt.Errorf("creating volume %s: %w", asked.Name, err)
	}
	return made(result.Volume), nil
}

// Delete detaches the volume from its server, if it is attached, and deletes it.
func (v hetznerVolumes) Delete(ctx context.Context, id string) error {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		// No Hetzner volume has such an id.
		return nil
	}
	volume, _, err := v.client.Volume.GetByID(ctx, number)
	if err != nil || volume == nil {
		return err
	}
	if volume.Server != nil {
		action, _, err := v.client.Volume.Detach(ctx, volume)
		if err != nil {
			return fmt.Errorf("detaching volume %s: %w", id, err)
		}
		if err := v.client.Action.WaitFor(ctx, action); err != nil {
			return fmt.Errorf("detaching volume %s: %w", id, err)
		}
	}
	if _, err := v.client.Volume.Delete(ctx, volume); err != nil && !hcloud.IsError(err, hcloud.ErrorCodeNotFound) {
		return fmt.Errorf("deleting volume %s: %w", id, err)
	}
	return nil
}

func made(volume *hcloud.Volume) Volume {
	return Volume{
		ID:       strconv.FormatInt(volume.ID, 10),
		Bytes:    int64(volume.Size) * gib,
		Topology: map[string]string{HetznerTopology: volume.Location.Name},
	}
}

// The parameters with which the provisioner names the claim of a volume.
const (
	claimName      = "csi.storage.k8s.io/pvc/name"
	claimNamespace = "csi.storage.k8s.io/pvc/namespace"
	volumeName     = "csi.storage.k8s.io/pv/name"
)

// labels returns labels for the volume that name its claim, if the provisioner is
// configured to pass it.
func labels(parameters map[string]string) map[string]string {
	labels := map[string]string{"managed-by": "csi-driver"}
	for from, to := range map[string]string{
		claimName: "pvc-name", claimNamespace: "pvc-namespace", volumeName: "pv-name",
	} {
		if value := parameters[from]; value != "" {
			labels[to] = value
		}
	}
	return labels
}
