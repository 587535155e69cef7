package hetzner

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// image is what a server's disk is made from. System images have a name,
// snapshots only a description.
type image struct {
	record
	kind        string // "system" or "snapshot"
	description string
	status      string
	arch        string // "x86" or "arm"
	flavor      string
	version     *string
	diskGB      float32
	createdFrom *schema.ImageCreatedFrom
	protected   bool
	// holds is the Talos in it; an image of anything else holds none.
	holds machine.Image
}

// systemImages are there from the start. None of them runs Talos.
func systemImages() []*image {
	var images []*image
	for _, system := range []struct {
		id                           int64
		name, flavor, version, title string
	}{
		{114690387, "debian-12", "debian", "12", "Debian 12"}, {310557660, "debian-13", "debian", "13", "Debian 13"},
		{67794396, "ubuntu-22.04", "ubuntu", "22.04", "Ubuntu 22.04"}, {161547269, "ubuntu-24.04", "ubuntu", "24.04", "Ubuntu 24.04"},
		{330128234, "fedora-42", "fedora", "42", "Fedora 42"}, {115931280, "rocky-9", "rocky", "9", "Rocky Linux 9"},
	} {
		for i, arch := range []string{"x86", "arm"} {
			images = append(images, &image{
				record: record{id: system.id + int64(i), name: system.name, created: time.Date(2024, 4, 25, 13, 26, 27, 0, time.UTC)},
				kind:   "system", description: system.title, status: "available", arch: arch,
				flavor: system.flavor, version: pointer(system.version), diskGB: 5,
			})
		}
	}
	return images
}

// Snapshot is a snapshot of a disk with Talos on it.
type Snapshot struct {
	// Name is its description in the API.
	Name   string
	Labels map[string]string
	// Talos is the version, such as "1.13.8"; Schematic the Image Factory's id.
	Talos, Schematic string
	// Arch is "amd64" or "arm64".
	Arch string
	// Installs says that Talos is not on it yet: what boots from it installs Talos.
	Installs bool
}

// AddSnapshot puts a snapshot into the project, as an upload would, and returns
// its id.
func (c *Cloud) AddSnapshot(snapshot Snapshot) (int64, error) {
	arch, known := map[string]string{"amd64": "x86", "arm64": "arm"}[snapshot.Arch]
	if !known {
		return 0, fmt.Errorf("snapshot %q: architecture %q is not amd64 or arm64", snapshot.Name, snapshot.Arch)
	}
	if c.Images != nil {
		if err := c.Images(snapshot.Talos, snapshot.Schematic, snapshot.Arch); err != nil {
			return 0, fmt.Errorf("snapshot %q: %w", snapshot.Name, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := checkLabels(snapshot.Labels); err != nil {
		return 0, fmt.Errorf("snapshot %q: %w", snapshot.Name, err)
	}
	made := c.snapshot(snapshot.Name, arch, machine.Image{Talos: snapshot.Talos, Schematic: snapshot.Schematic, Installed: !snapshot.Installs})
	made.status, made.labels = "available", labelled(snapshot.Labels)
	return made.id, nil
}

// snapshot adds one that is being created.
func (c *Cloud) snapshot(description, arch string, holds machine.Image) *image {
	made := &image{kind: "snapshot", description: description, status: "creating", arch: arch, flavor: "unknown", diskGB: 10, holds: holds}
	made.id = c.identities.id("image", description, func(id int64) bool { _, taken := c.images.items[id]; return taken })
	made.created, made.labels = now(), map[string]string{}
	c.images.add(made)
	c.Timeline.Record(subject, "snapshot", "created", "description", description, "talos", holds.Talos, "schematic", holds.Schematic)
	return made
}

func (i *image) view() schema.Image {
	view := schema.Image{
		ID: i.id, Status: i.status, Type: i.kind, Description: i.description, DiskSize: i.diskGB, Created: pointer(i.created),
		CreatedFrom: i.createdFrom, OSFlavor: i.flavor, OSVersion: i.version, Architecture: i.arch, RapidDeploy: i.kind == "system",
		Protection: schema.ImageProtection{Delete: i.protected}, Labels: labelled(i.labels),
	}
	if i.kind == "system" {
		view.Name = pointer(i.name)
	} else if i.status == "available" {
		view.ImageSize = pointer(i.diskGB / 8)
	}
	return view
}

func (c *Cloud) imageRoutes() map[string]handler {
	return map[string]handler{
		"GET /images":         c.listImages,
		"GET /images/{id}":    c.getImage,
		"PUT /images/{id}":    c.updateImage,
		"DELETE /images/{id}": c.deleteImage,
		"POST /images/{id}/actions/change_protection": c.protectImage,
	}
}

func (c *Cloud) listImages(r *call) (reply, error) {
	query := r.URL.Query()
	images := allowed(c.images.all(), query["type"], func(i *image) string { return i.kind })
	images = allowed(images, query["status"], func(i *image) string { return i.status })
	images = allowed(images, query["architecture"], func(i *image) string { return i.arch })
	if bound := query.Get("bound_to"); bound != "" {
		images = nil // only backups are bound to a server, and there are none
	}
	return list(r, "images", images, (*image).view)
}

func (c *Cloud) getImage(r *call) (reply, error) {
	found, err := find(r, c.images)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.ImageGetResponse{Image: found.view()})
}

// ownImage is one that the project may change.
func (c *Cloud) ownImage(r *call) (*image, error) {
	found, err := find(r, c.images)
	if err == nil && found.kind == "system" {
		err = failure(hcloud.ErrorCodeForbidden, "system images cannot be changed")
	}
	return found, err
}

func (c *Cloud) updateImage(r *call) (reply, error) {
	found, err := c.ownImage(r)
	if err != nil {
		return reply{}, err
	}
	var asked schema.ImageUpdateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	if asked.Type != nil && *asked.Type != "snapshot" {
		return reply{}, invalid("type", "must be snapshot")
	}
	if err := c.images.change(found, "", asked.Labels); err != nil {
		return reply{}, err
	}
	found.description = valueOr(asked.Description, found.description)
	return answer(schema.ImageUpdateResponse{Image: found.view()})
}

func (c *Cloud) deleteImage(r *call) (reply, error) {
	found, err := c.ownImage(r)
	if err != nil {
		return reply{}, err
	}
	if found.protected {
		return reply{}, protected("image")
	}
	if err := c.unlocked("image", found.id); err != nil {
		return reply{}, err
	}
	c.images.remove(found)
	return nothing()
}

func (c *Cloud) protectImage(r *call) (reply, error) {
	found, err := c.ownImage(r)
	if err != nil {
		return reply{}, err
	}
	var asked schema.ImageActionChangeProtectionRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	return c.act(subject, "change_protection", "image", found.id, func() {
		found.protected = valueOr(asked.Delete, found.protected)
	})
}

// chooseImage finds what a new server's disk is to be made from.
func (c *Cloud) chooseImage(asked schema.IDOrName, kind schema.ServerType) (*image, error) {
	images := c.images.all()
	at := slices.IndexFunc(images, func(i *image) bool {
		return asked.ID != 0 && i.id == asked.ID ||
			asked.Name != "" && i.kind == "system" && i.name == asked.Name && i.arch == kind.Architecture
	})
	if at < 0 {
		return nil, failure(hcloud.ErrorCodeNotFound, "image '%s' not found", asked.Name+idText(asked.ID))
	}
	found := images[at]
	switch {
	case found.status != "available":
		return nil, invalid("image", "image %s is not available", strconv.FormatInt(found.id, 10))
	case found.arch != kind.Architecture:
		return nil, invalid("image", "image architecture '%s' does not fit server type '%s'", found.arch, kind.Name)
	case found.diskGB > float32(kind.Disk):
		return nil, invalid("image", "image disk is bigger than server type disk")
	}
	return found, nil
}
