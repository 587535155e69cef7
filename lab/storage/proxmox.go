package storage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// ProxmoxDriver is the name of the CSI driver for Proxmox VE.
const ProxmoxDriver = "csi.proxmox.sinextra.dev"

// nobody is the id of a machine that does not exist: volumes belong to it, so that they outlive the machines that use them.
const nobody = 9999

// proxmoxVolumes are disks of Proxmox clusters, by the name of their region.
type proxmoxVolumes map[string]*proxmoxAPI

// proxmoxConfig is the driver's config: the clusters that it uses.
type proxmoxConfig struct {
	Clusters []struct {
		URL         string `yaml:"url"`
		Insecure    bool   `yaml:"insecure"`
		TokenID     string `yaml:"token_id"`
		TokenSecret string `yaml:"token_secret"`
		Region      string `yaml:"region"`
	} `yaml:"clusters"`
}

// defaultProxmoxConfig is the file that the driver reads by default.
const defaultProxmoxConfig = "/etc/proxmox/config.yaml"

// newProxmox reads the driver's config, like the real driver, from the file in --cloud-config.
func newProxmox(run cluster.Run) (Volumes, error) {
	file := defaultProxmoxConfig
	for _, arg := range run.Container.Args {
		if named, is := strings.CutPrefix(strings.TrimLeft(arg, "-"), "cloud-config="); is {
			file = named
		}
	}
	text, mounted := run.Files[path.Clean(file)]
	if !mounted {
		return nil, fmt.Errorf("failed to read config: open %s: no such file or directory", file)
	}
	var config proxmoxConfig
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("failed to read config: %w", err)
	}
	if len(config.Clusters) == 0 {
		return nil, errors.New("failed to read config: there are no clusters in it")
	}
	volumes := proxmoxVolumes{}
	for i, one := range config.Clusters {
		if one.URL == "" || one.TokenID == "" || one.TokenSecret == "" || one.Region == "" {
			return nil, fmt.Errorf("failed to read config: cluster #%d: url, token_id, token_secret and region are required", i+1)
		}
		volumes[one.Region] = newProxmoxAPI(one.URL, one.TokenID+"="+one.TokenSecret, one.Insecure)
	}
	return volumes, nil
}

// disk is a volume's place: its region, host, storage and name.
type disk struct{ region, host, storage, name string }

func (d disk) id() string { return d.region + "/" + d.host + "/" + d.storage + "/" + d.name }

// volid returns Proxmox' id of it.
func (d disk) volid() string { return d.storage + ":" + d.name }

func parseDisk(id string) (disk, error) {
	parts := strings.Split(id, "/")
	if len(parts) != 4 {
		return disk{}, fmt.Errorf("volume id %q is not of the form region/zone/storage/name", id)
	}
	return disk{parts[0], parts[1], parts[2], parts[3]}, nil
}

// content returns the API's path of its storage's content.
func (d disk) content() string {
	return "/nodes/" + url.PathEscape(d.host) + "/storage/" + url.PathEscape(d.storage) + "/content"
}

// Create creates a disk on the storage that the class names, on the host that is the zone.
func (p proxmoxVolumes) Create(ctx context.Context, asked Request) (Volume, error) {
	at := disk{storage: asked.Parameters["storage"], name: fmt.Sprintf("vm-%d-%s", nobody, asked.Name)}
	if at.storage == "" {
		return Volume{}, fmt.Errorf("volume %s: the StorageClass has no parameter storage", asked.Name)
	}
	for _, topology := range asked.Topologies {
		at.region, at.host = topology[corev1.LabelTopologyRegion], topology[corev1.LabelTopologyZone]
		if at.region != "" && at.host != "" {
			break
		}
	}
	if at.region == "" || at.host == "" {
		return Volume{}, fmt.Errorf("volume %s: no node says its region and zone by labels", asked.Name)
	}
	size := max((asked.Bytes+gib-1)/gib, 1) * gib
	if asked.Limit > 0 && size > asked.Limit {
		return Volume{}, fmt.Errorf("%w: %d bytes, at most %d", ErrSize, size, asked.Limit)
	}
	api, err := p.of(at.region)
	if err != nil {
		return Volume{}, err
	}
	if err := api.ensure(ctx, at, size); err != nil {
		return Volume{}, err
	}
	return Volume{ID: at.id(), Bytes: size, Topology: map[string]string{
		corev1.LabelTopologyRegion: at.region, corev1.LabelTopologyZone: at.host,
	}}, nil
}

func (p proxmoxVolumes) of(region string) (*proxmoxAPI, error) {
	if api := p[region]; api != nil {
		return api, nil
	}
	return nil, fmt.Errorf("region %q is of none of the clusters in the driver's config", region)
}

// Delete deletes a disk, which may already be deleted.
func (p proxmoxVolumes) Delete(ctx context.Context, id string) error {
	at, err := parseDisk(id)
	if err != nil {
		return err
	}
	api, err := p.of(at.region)
	if err != nil {
		return err
	}
	found, _, err := api.size(ctx, at)
	if err != nil || !found {
		return err
	}
	return api.task(ctx, http.MethodDelete, at.content()+"/"+url.PathEscape(at.volid()))
}

// Free returns the free space of a storage.
func (p proxmoxVolumes) Free(ctx context.Context, place map[string]string, parameters map[string]string) (int64, error) {
	api, err := p.of(place[corev1.LabelTopologyRegion])
	if err != nil {
		return 0, err
	}
	var status struct {
		Available int64 `json:"avail"`
	}
	at := disk{host: place[corev1.LabelTopologyZone], storage: parameters["storage"]}
	err = api.call(ctx, http.MethodGet, strings.TrimSuffix(at.content(), "content")+"status", nil, &status)
	return status.Available, err
}

// ensure creates a disk unless one with the name and size exists.
func (a *proxmoxAPI) ensure(ctx context.Context, at disk, size int64) error {
	found, has, err := a.size(ctx, at)
	switch {
	case err != nil:
		return err
	case found && has != size:
		return fmt.Errorf("%w: %s has %d bytes, not %d", ErrExists, at.id(), has, size)
	case found:
		return nil
	}
	return a.call(ctx, http.MethodPost, at.content(), url.Values{
		"vmid": {strconv.Itoa(nobody)}, "filename": {at.name}, "size": {strconv.FormatInt(size/1024, 10)},
	}, nil)
}

// size returns that of a disk, if it exists.
func (a *proxmoxAPI) size(ctx context.Context, at disk) (found bool, size int64, err error) {
	var listed []struct {
		ID   string `json:"volid"`
		Size int64  `json:"size"`
	}
	if err := a.call(ctx, http.MethodGet, at.content(), nil, &listed); err != nil {
		return false, 0, err
	}
	for _, one := range listed {
		if one.ID == at.volid() {
			return true, one.Size, nil
		}
	}
	return false, 0, nil
}
