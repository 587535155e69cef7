package proxmox

import (
	"slices"
	"strings"
)

// Storage is a place for images and disks, which every host has for itself.
type Storage struct {
	Name string `json:"name"`
	// Content is what may be there, such as "import" and "images".
	Content []string `json:"content"`
	// Shared says that it is one place, which all hosts see.
	Shared bool `json:"shared,omitempty"`
}

// storage is one with what follows from its content.
type storage struct {
	Storage
	// files says that it is a directory; else it is a volume group.
	files bool
}

// storageBytes is how much each has.
const storageBytes = 2 << 40

// fileContent is what only a directory can hold.
var fileContent = []string{"iso", "vztmpl", "backup", "snippets", "import"}

func newStorage(one Storage) *storage {
	return &storage{one, slices.ContainsFunc(one.Content, func(kind string) bool { return slices.Contains(fileContent, kind) })}
}

func (s *storage) kind() string {
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

// path is where a host has the files of a storage.
func (s *storage) path() string {
	if s.Shared {
		return "/mnt/pve/" + s.Name
	}
	return "/var/lib/vz"
}

func (s *storage) holds(content string) bool { return slices.Contains(s.Content, content) }

// storage finds one by its name.
func (c *Cluster) storage(name string) (*storage, error) {
	at := slices.IndexFunc(c.storages, func(one *storage) bool { return one.Name == name })
	if at < 0 {
		return nil, failure("storage '%s' does not exist", name)
	}
	return c.storages[at], nil
}

// used is how much of a storage is taken on a host.
func (c *Cluster) used(host string, of *storage) int64 {
	total := int64(4 << 30)
	for _, one := range c.volumes {
		if one.isOn(host) && one.storage == of.Name {
			total += one.bytes
		}
	}
	return total
}

func (c *Cluster) storageRoutes() map[string]handler {
	return map[string]handler{
		"GET /storage":                                               c.listDefinitions,
		"GET /storage/{storage}":                                     c.getDefinition,
		"GET /nodes/{node}/storage":                                  c.listStorages,
		"GET /nodes/{node}/storage/{storage}/status":                 c.getStorage,
		"GET /nodes/{node}/storage/{storage}/content":                c.listContent,
		"GET /nodes/{node}/storage/{storage}/content/{volume...}":    c.getContent,
		"DELETE /nodes/{node}/storage/{storage}/content/{volume...}": c.deleteContent,
		"POST /nodes/{node}/storage/{storage}/content":               c.allocateContent,
		"POST /nodes/{node}/storage/{storage}/download-url":          c.download,
	}
}

// seesStorage says whether who calls may know of a storage.
func (c *Cluster) seesStorage(r *call, name string) error {
	return r.some(c, "/storage/"+name, "Datastore.Audit", "Datastore.AllocateSpace")
}

func (s *storage) definition() map[string]any {
	view := map[string]any{"storage": s.Name, "type": s.kind(), "content": strings.Join(s.Content, ","), "digest": digestOf(s.Name)}
	switch s.kind() {
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

func (c *Cluster) listDefinitions(r *call) (any, error) {
	views := []map[string]any{}
	for _, one := range c.storages {
		if r.some(c, "/storage/"+one.Name, "Datastore.Audit", "Datastore.Allocate") == nil {
			views = append(views, one.definition())
		}
	}
	return views, nil
}

func (c *Cluster) getDefinition(r *call) (any, error) {
	name := r.PathValue("storage")
	if err := r.all(c, "/storage/"+name, "Datastore.Allocate"); err != nil {
		return nil, err
	}
	found, err := c.storage(name)
	if err != nil {
		return nil, err
	}
	return found.definition(), nil
}

func (c *Cluster) viewStorage(host string, of *storage) map[string]any {
	used, shared := c.used(host, of), 0
	if of.Shared {
		shared = 1
	}
	return map[string]any{
		"storage": of.Name, "type": of.kind(), "content": strings.Join(of.Content, ","), "active": 1, "enabled": 1, "shared": shared,
		"total": int64(storageBytes), "used": used, "avail": storageBytes - used, "used_fraction": float64(used) / storageBytes,
	}
}

func (c *Cluster) listStorages(r *call) (any, error) {
	views := []map[string]any{}
	for _, one := range c.storages {
		if content := r.params["content"]; content != "" && !slices.ContainsFunc(list(content), one.holds) {
			continue
		}
		if name := r.params["storage"]; name != "" && name != one.Name || c.seesStorage(r, one.Name) != nil {
			continue
		}
		views = append(views, c.viewStorage(r.PathValue("node"), one))
	}
	return views, nil
}

func (c *Cluster) getStorage(r *call) (any, error) {
	found, err := c.pathStorage(r)
	if err != nil {
		return nil, err
	}
	return c.viewStorage(r.PathValue("node"), found), nil
}

// pathStorage is the one that a path names.
func (c *Cluster) pathStorage(r *call) (*storage, error) {
	name := r.PathValue("storage")
	if err := c.seesStorage(r, name); err != nil {
		return nil, err
	}
	return c.storage(name)
}
