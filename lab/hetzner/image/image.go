// Package image is the images of a project: system images, which contain no Talos, and snapshots, which may contain it.
package image

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

const (
	available = "available"
	system    = "system"
	snapshot  = "snapshot"
)

// Image is what the disk of a server is created from. System images have a name, snapshots only a description.
type Image struct {
	project.Record
	// Content is the Talos on it; an image of anything else has none.
	Content machine.Image

	kind        string // "system" or "snapshot"
	description string
	status      string
	arch        string // "x86" or "arm"
	flavor      string
	version     *string
	diskGB      float32
	createdFrom *schema.ImageCreatedFrom
	protected   bool
}

// View returns the image as an answer shows it.
func (i *Image) View() schema.Image {
	view := schema.Image{
		ID: i.ID, Status: i.status, Type: i.kind, Description: i.description, DiskSize: i.diskGB, Created: new(i.Created),
		CreatedFrom: i.createdFrom, OSFlavor: i.flavor, OSVersion: i.version, Architecture: i.arch, RapidDeploy: i.kind == system,
		Protection: schema.ImageProtection{Delete: i.protected}, Labels: i.LabelsOf(),
	}
	if i.kind == system {
		view.Name = new(i.Name)
	} else if i.status == available {
		view.ImageSize = new(i.diskGB / 8)
	}
	return view
}

// Images are the images of a project.
type Images struct {
	project  *project.Project
	registry *project.Registry[*Image]
	// exists returns an error if there is no such image of Talos; nil knows them
	// all.
	exists func(talos, schematic, arch string) error
}

// New returns a project with the system images.
func New(in *project.Project, exists func(talos, schematic, arch string) error) *Images {
	images := &Images{project: in, registry: project.NewRegistry[*Image](in, "image"), exists: exists}
	for _, one := range systemImages() {
		images.registry.Add(one)
	}
	return images
}

func systemImages() []*Image {
	var images []*Image
	for _, known := range []struct {
		id                           int64
		name, flavor, version, title string
	}{
		{114690387, "debian-12", "debian", "12", "Debian 12"}, {310557660, "debian-13", "debian", "13", "Debian 13"},
		{67794396, "ubuntu-22.04", "ubuntu", "22.04", "Ubuntu 22.04"}, {161547269, "ubuntu-24.04", "ubuntu", "24.04", "Ubuntu 24.04"},
		{330128234, "fedora-42", "fedora", "42", "Fedora 42"}, {115931280, "rocky-9", "rocky", "9", "Rocky Linux 9"},
	} {
		for i, arch := range []string{"x86", "arm"} {
			images = append(images, &Image{
				Record: project.Record{ID: known.id + int64(i), Name: known.name, Created: time.Date(2024, 4, 25, 13, 26, 27, 0, time.UTC)},
				kind:   system, description: known.title, status: available, arch: arch,
				flavor: known.flavor, version: new(known.version), diskGB: 5,
			})
		}
	}
	return images
}

// Choose returns the image that a disk of a type of servers is to be made from.
func (s *Images) Choose(asked schema.IDOrName, kind schema.ServerType) (*Image, error) {
	images := s.registry.All()
	at := slices.IndexFunc(images, func(i *Image) bool {
		return asked.ID != 0 && i.ID == asked.ID ||
			asked.Name != "" && i.kind == system && i.Name == asked.Name && i.arch == kind.Architecture
	})
	if at < 0 {
		return nil, api.Failure(hcloud.ErrorCodeNotFound, "image '%s' not found", asked.Name+api.IDText(asked.ID))
	}
	found := images[at]
	switch {
	case found.status != available:
		return nil, api.Invalid("image", "image %s is not available", strconv.FormatInt(found.ID, 10))
	case found.arch != kind.Architecture:
		return nil, api.Invalid("image", "image architecture '%s' does not fit server type '%s'", found.arch, kind.Name)
	case found.diskGB > float32(kind.Disk):
		return nil, api.Invalid("image", "image disk is bigger than server type disk")
	}
	return found, nil
}

// Reference names an image in an action.
func (s *Images) Reference(image *Image) project.Reference { return s.registry.Reference(image) }

// Begin adds a snapshot that is being created from the disk of a server.
func (s *Images) Begin(description, arch string, content machine.Image, labels map[string]string, diskGB int, from schema.ImageCreatedFrom) *Image {
	made := s.add(description, arch, content, labels)
	made.createdFrom, made.diskGB = &from, float32(diskGB)
	return made
}

// Finish makes a snapshot available that is being created.
func (s *Images) Finish(image *Image) { image.status = available }

// Abandon removes a snapshot that could not be created.
func (s *Images) Abandon(image *Image) { s.registry.Remove(image) }

func (s *Images) add(description, arch string, content machine.Image, labels map[string]string) *Image {
	made := &Image{kind: snapshot, description: description, status: "creating", arch: arch, flavor: "unknown", diskGB: 10, Content: content}
	made.Record = project.Record{ID: s.registry.NewID(description), Created: project.Now(), Labels: maps.Clone(labels)}
	s.registry.Add(made)
	s.project.Timeline.Record(project.Subject, "snapshot", "created", "description", description, "talos", content.Talos, "schematic", content.Schematic)
	return made
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
	// Installs means that the disk has the installer: whatever boots from it installs Talos.
	Installs bool
}

// AddSnapshot adds a snapshot as an upload does, and returns its id. It is called
// without the lock.
func (s *Images) AddSnapshot(one Snapshot) (int64, error) {
	arch, known := map[string]string{"amd64": "x86", "arm64": "arm"}[one.Arch]
	if !known {
		return 0, fmt.Errorf("snapshot %q: architecture %q is not amd64 or arm64", one.Name, one.Arch)
	}
	if s.exists != nil {
		if err := s.exists(one.Talos, one.Schematic, one.Arch); err != nil {
			return 0, fmt.Errorf("snapshot %q: %w", one.Name, err)
		}
	}
	s.project.Lock()
	defer s.project.Unlock()
	if err := api.CheckLabels(one.Labels); err != nil {
		return 0, fmt.Errorf("snapshot %q: %w", one.Name, err)
	}
	made := s.add(one.Name, arch, machine.Image{Talos: one.Talos, Schematic: one.Schematic, Installed: !one.Installs}, one.Labels)
	s.Finish(made)
	return made.ID, nil
}

// Routes returns the routes of images.
func (s *Images) Routes() api.Routes {
	return api.Routes{
		"GET /images":         s.list,
		"GET /images/{id}":    project.Getter(s.registry, func(i *Image) any { return schema.ImageGetResponse{Image: i.View()} }),
		"PUT /images/{id}":    s.update,
		"DELETE /images/{id}": s.remove,
		"POST /images/{id}/actions/change_protection": s.protect,
	}
}

func (s *Images) list(r *api.Call) (api.Reply, error) {
	query := r.URL.Query()
	images := api.Filter(s.registry.All(), query["type"], func(i *Image) string { return i.kind })
	images = api.Filter(images, query["status"], func(i *Image) string { return i.status })
	images = api.Filter(images, query["architecture"], func(i *Image) string { return i.arch })
	if bound := query.Get("bound_to"); bound != "" {
		images = nil // only backups are bound to a server, and there are none
	}
	return project.List(r, "images", images, (*Image).View)
}

// own returns an image that the project may change.
func (s *Images) own(r *api.Call) (*Image, error) {
	found, err := project.Find(r, s.registry)
	if err == nil && found.kind == system {
		err = api.Failure(hcloud.ErrorCodeForbidden, "system images cannot be changed")
	}
	return found, err
}

func (s *Images) update(r *api.Call) (api.Reply, error) {
	found, err := s.own(r)
	if err != nil {
		return api.Reply{}, err
	}
	var asked schema.ImageUpdateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	if asked.Type != nil && *asked.Type != snapshot {
		return api.Reply{}, api.Invalid("type", "must be snapshot")
	}
	if err := s.registry.Change(found, "", asked.Labels); err != nil {
		return api.Reply{}, err
	}
	found.description = api.ValueOr(asked.Description, found.description)
	return api.Answer(schema.ImageUpdateResponse{Image: found.View()})
}

func (s *Images) remove(r *api.Call) (api.Reply, error) {
	found, err := s.own(r)
	if err != nil {
		return api.Reply{}, err
	}
	if found.protected {
		return api.Reply{}, api.Protected(s.registry.Kind)
	}
	if err := s.registry.Unlocked(found); err != nil {
		return api.Reply{}, err
	}
	s.registry.Remove(found)
	return api.NoContent()
}

func (s *Images) protect(r *api.Call) (api.Reply, error) {
	found, err := s.own(r)
	if err != nil {
		return api.Reply{}, err
	}
	var asked schema.ImageActionChangeProtectionRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	return s.registry.Act(found, project.Subject, "change_protection", func() {
		found.protected = api.ValueOr(asked.Delete, found.protected)
	})
}
