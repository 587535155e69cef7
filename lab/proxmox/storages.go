package proxmox

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
)

// Storage is a place for images and disks, which every host has for itself.
type Storage struct {
	Name string `json:"name"`
	// Content is what may be there, such as "import" and "images".
	Content []string `json:"content"`
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

// place is where a volume is: no host sees those of another.
type place struct{ host, id string }

// volume is a file or a disk on a storage.
type volume struct {
	place
	storage, content, format string
	bytes                    int64
	vm                       int
	made                     time.Time
	// image is what is on it, or nil.
	image *factory.Image
}

func (s *storage) kind() string {
	if s.files {
		return "dir"
	}
	return "lvmthin"
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

// volume finds one by its id on a host.
func (c *Cluster) volume(host, id string) (*volume, error) {
	if found := c.volumes[place{host, id}]; found != nil {
		return found, nil
	}
	storage, _, _ := strings.Cut(id, ":")
	if _, err := c.storage(storage); err != nil {
		return nil, err
	}
	return nil, failure("volume '%s' does not exist", id)
}

func (c *Cluster) sortedVolumes() []*volume {
	return slices.SortedFunc(maps.Values(c.volumes), func(a, b *volume) int {
		return strings.Compare(a.host+"/"+a.id, b.host+"/"+b.id)
	})
}

// used is how much of a storage is taken on a host.
func (c *Cluster) used(host string, of *storage) int64 {
	total := int64(4 << 30)
	for _, one := range c.volumes {
		if one.host == host && one.storage == of.Name {
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
	if s.files {
		view["path"] = "/var/lib/vz"
	} else {
		view["thinpool"], view["vgname"] = "data", "pve"
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
	used := c.used(host, of)
	return map[string]any{
		"storage": of.Name, "type": of.kind(), "content": strings.Join(of.Content, ","), "active": 1, "enabled": 1, "shared": 0,
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

func (c *Cluster) listContent(r *call) (any, error) {
	at, err := c.pathStorage(r)
	if err != nil {
		return nil, err
	}
	views := []map[string]any{}
	for _, one := range c.sortedVolumes() {
		if one.host != r.PathValue("node") || one.storage != at.Name {
			continue
		}
		if kind := r.params["content"]; kind != "" && kind != one.content {
			continue
		}
		if c.seesVolume(r, one) == nil {
			views = append(views, one.view())
		}
	}
	return views, nil
}

// seesVolume says whether who calls may know of a volume: the disks of a machine
// are for those who may see the machine.
func (c *Cluster) seesVolume(r *call, one *volume) error {
	if one.vm == 0 || c.access.has(r.who, "/storage/"+one.storage, "Datastore.Allocate") {
		return c.seesStorage(r, one.storage)
	}
	inPool := ""
	if owner := c.vms[one.vm]; owner != nil {
		inPool = owner.pool
	}
	return r.onVM(c, one.vm, inPool, "VM.Config.Disk")
}

func (v *volume) view() map[string]any {
	view := map[string]any{"volid": v.id, "content": v.content, "format": v.format, "size": v.bytes, "ctime": v.made.Unix()}
	if v.vm != 0 {
		view["vmid"] = v.vm
	}
	return view
}

// pathVolume is the volume that a path names, with or without its storage.
func (c *Cluster) pathVolume(r *call) (*volume, error) {
	at, id := r.PathValue("storage"), r.PathValue("volume")
	if _, err := c.storage(at); err != nil {
		return nil, err
	}
	if !strings.Contains(id, ":") {
		id = at + ":" + id
	}
	return c.volume(r.PathValue("node"), id)
}

func (c *Cluster) getContent(r *call) (any, error) {
	found, err := c.pathVolume(r)
	if err != nil {
		return nil, err
	}
	if err := c.seesVolume(r, found); err != nil {
		return nil, err
	}
	return map[string]any{"path": found.path(), "size": found.bytes, "used": found.bytes, "format": found.format}, nil
}

func (v *volume) path() string {
	_, name, _ := strings.Cut(v.id, ":")
	switch v.content {
	case "import":
		return "/var/lib/vz/" + name
	case "iso":
		return "/var/lib/vz/template/" + name
	default:
		return "/dev/pve/" + name
	}
}

// deleteContent removes a volume that no machine needs.
func (c *Cluster) deleteContent(r *call) (any, error) {
	found, err := c.pathVolume(r)
	if err != nil {
		return nil, err
	}
	if found.vm == 0 {
		err = r.some(c, "/storage/"+found.storage, "Datastore.AllocateTemplate", "Datastore.Allocate")
	} else {
		err = r.all(c, "/storage/"+found.storage, "Datastore.Allocate")
	}
	if err != nil {
		return nil, err
	}
	if owner := c.vms[found.vm]; owner != nil && owner.uses(found) {
		return nil, failure("cannot remove volume '%s' - it is in use by VM %d", found.id, owner.id)
	}
	return c.start(r, job{kind: "imgdel", id: found.storage + "@" + found.host, done: func(*task) error {
		delete(c.volumes, found.place)
		return nil
	}})
}
