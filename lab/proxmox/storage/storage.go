// Package storage is the storages of a cluster, and the images and disks on them.
package storage

import (
	"net/http"
	"slices"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
)

// Definition is a place for images and disks, which every host has for itself.
type Definition struct {
	Name string `json:"name"`
	// Content is what may be there, such as "import" and "images".
	Content []string `json:"content"`
	// Shared means that it is one place, which all hosts see.
	Shared bool `json:"shared,omitempty"`
}

// Storage is a storage with what follows from its content.
type Storage struct {
	Definition
	// files means that it is a directory; otherwise it is a volume group.
	files bool
}

// TotalBytes is the size of every storage.
const TotalBytes = 2 << 40

// fileContent is what only a directory can hold.
var fileContent = []string{"iso", "vztmpl", "backup", "snippets", "import"}

func newStorage(one Definition) *Storage {
	return &Storage{one, slices.ContainsFunc(one.Content, func(kind string) bool { return slices.Contains(fileContent, kind) })}
}

// Kind returns the plugin of Proxmox for such a storage.
func (s *Storage) Kind() string {
	switch {
	case s.files && s.Shared:
		return "nfs"
	case s.files:
		return "dir"
	case s.Shared:
		return "rbd"
	}
	return "lvmthin"
}

// path returns where a host has the files of a storage.
func (s *Storage) path() string {
	if s.Shared {
		return "/mnt/pve/" + s.Name
	}
	return "/var/lib/vz"
}

// Holds reports whether the storage may have a kind of content.
func (s *Storage) Holds(content string) bool { return slices.Contains(s.Content, content) }

func (s *Storage) definition() map[string]any {
	view := map[string]any{"storage": s.Name, "type": s.Kind(), "content": strings.Join(s.Content, ","), "digest": api.Digest(s.Name)}
	switch s.Kind() {
	case "nfs":
		view["server"], view["export"] = "10.0.0.3", "/export/"+s.Name
	case "rbd":
		view["pool"], view["krbd"] = s.Name, 0
	case "lvmthin":
		view["thinpool"], view["vgname"] = "data", "pve"
	}
	if s.files {
		view["path"] = s.path()
	}
	if s.Shared {
		view["shared"] = 1
	}
	return view
}

// Machines are the virtual machines, as far as storages need to know of them.
type Machines interface {
	// PoolOf is the pool of a virtual machine, or nothing.
	PoolOf(id int) string
	// Uses reports whether a virtual machine has a disk on a volume.
	Uses(id int, volume *Volume) bool
}

// Storages are the storages of a cluster with all that is on them.
type Storages struct {
	// Machines is set before the first request.
	Machines Machines

	datacenter *datacenter.Datacenter
	tasks      *task.Tasks
	all        []*Storage
	volumes    map[Place]*Volume
	factory    factoryClient
}

// New returns a cluster with empty storages. The Image Factory is at an endpoint, whatever
// host is in the URLs that are to be downloaded.
func New(in *datacenter.Datacenter, tasks *task.Tasks, definitions []Definition, factory string) *Storages {
	s := &Storages{
		datacenter: in, tasks: tasks, volumes: map[Place]*Volume{},
		factory: factoryClient{endpoint: factory, client: &http.Client{Transport: &http.Transport{}}},
	}
	for _, one := range definitions {
		s.all = append(s.all, newStorage(one))
	}
	return s
}

// Close closes the connections to the Image Factory. It is called without the lock.
func (s *Storages) Close() { s.factory.client.CloseIdleConnections() }

// All returns the storages, in the order of their definition.
func (s *Storages) All() []*Storage { return s.all }

// Get returns the storage of that name.
func (s *Storages) Get(name string) (*Storage, error) {
	at := slices.IndexFunc(s.all, func(one *Storage) bool { return one.Name == name })
	if at < 0 {
		return nil, api.Failure("storage '%s' does not exist", name)
	}
	return s.all[at], nil
}

// CheckSeen returns an error if the caller may not know of a storage.
func CheckSeen(r *api.Call, name string) error {
	return r.Some("/storage/"+name, "Datastore.Audit", "Datastore.AllocateSpace")
}

// View returns a storage as a host has it.
func (s *Storages) View(host string, of *Storage) map[string]any {
	used, shared := s.used(host, of), 0
	if of.Shared {
		shared = 1
	}
	return map[string]any{
		"storage": of.Name, "type": of.Kind(), "content": strings.Join(of.Content, ","), "active": 1, "enabled": 1, "shared": shared,
		"total": int64(TotalBytes), "used": used, "avail": TotalBytes - used, "used_fraction": float64(used) / TotalBytes,
	}
}

// used returns how much of a storage is used on a host.
func (s *Storages) used(host string, of *Storage) int64 {
	total := int64(4 << 30)
	for _, one := range s.volumes {
		if one.isOn(host) && one.Storage == of.Name {
			total += one.Bytes
		}
	}
	return total
}

// Routes returns the routes of storages and of their content.
func (s *Storages) Routes() api.Routes {
	return api.Routes{
		"GET /storage":                                               s.listDefinitions,
		"GET /storage/{storage}":                                     s.getDefinition,
		"GET /nodes/{node}/query-url-metadata":                       s.queryURL,
		"GET /nodes/{node}/storage":                                  s.list,
		"GET /nodes/{node}/storage/{storage}/status":                 s.get,
		"GET /nodes/{node}/storage/{storage}/content":                s.listContent,
		"GET /nodes/{node}/storage/{storage}/content/{volume...}":    s.getContent,
		"DELETE /nodes/{node}/storage/{storage}/content/{volume...}": s.deleteContent,
		"POST /nodes/{node}/storage/{storage}/content":               s.allocateContent,
		"POST /nodes/{node}/storage/{storage}/download-url":          s.download,
	}
}

func (s *Storages) listDefinitions(r *api.Call) (any, error) {
	views := []map[string]any{}
	for _, one := range s.all {
		if r.Some("/storage/"+one.Name, "Datastore.Audit", "Datastore.Allocate") == nil {
			views = append(views, one.definition())
		}
	}
	return views, nil
}

func (s *Storages) getDefinition(r *api.Call) (any, error) {
	name := r.PathValue("storage")
	if err := r.All("/storage/"+name, "Datastore.Allocate"); err != nil {
		return nil, err
	}
	found, err := s.Get(name)
	if err != nil {
		return nil, err
	}
	return found.definition(), nil
}

func (s *Storages) list(r *api.Call) (any, error) {
	views := []map[string]any{}
	for _, one := range s.all {
		if content := r.Params["content"]; content != "" && !slices.ContainsFunc(api.List(content), one.Holds) {
			continue
		}
		if name := r.Params["storage"]; name != "" && name != one.Name || CheckSeen(r, one.Name) != nil {
			continue
		}
		views = append(views, s.View(r.PathValue("node"), one))
	}
	return views, nil
}

func (s *Storages) get(r *api.Call) (any, error) {
	found, err := s.ofPath(r)
	if err != nil {
		return nil, err
	}
	return s.View(r.PathValue("node"), found), nil
}

// ofPath returns the storage that a path names.
func (s *Storages) ofPath(r *api.Call) (*Storage, error) {
	name := r.PathValue("storage")
	if err := CheckSeen(r, name); err != nil {
		return nil, err
	}
	return s.Get(name)
}
