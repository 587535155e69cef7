package proxmox

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
)

// place is where a volume is: no host sees those of another, and those of a shared
// storage are on none.
type place struct{ host, id string }

// isOn says whether a host sees what is there.
func (p place) isOn(host string) bool { return p.host == "" || p.host == host }

// at is the place of a volume as a host names it.
func (c *Cluster) at(host, id string) place {
	storage, _, _ := strings.Cut(id, ":")
	if on, err := c.storage(storage); err == nil && on.Shared {
		return place{"", id}
	}
	return place{host, id}
}

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

// volume finds one by its id on a host.
func (c *Cluster) volume(host, id string) (*volume, error) {
	if found := c.volumes[c.at(host, id)]; found != nil {
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

func (c *Cluster) listContent(r *call) (any, error) {
	at, err := c.pathStorage(r)
	if err != nil {
		return nil, err
	}
	views := []map[string]any{}
	for _, one := range c.sortedVolumes() {
		if !one.isOn(r.PathValue("node")) || one.storage != at.Name {
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
	return map[string]any{"path": c.path(found), "size": found.bytes, "used": found.bytes, "format": found.format}, nil
}

// path is where a host has a volume.
func (c *Cluster) path(v *volume) string {
	_, name, _ := strings.Cut(v.id, ":")
	on, err := c.storage(v.storage)
	switch {
	case err != nil:
		return ""
	case v.content == "iso":
		return on.path() + "/template/" + name
	case v.content == "import":
		return on.path() + "/" + name
	case on.files:
		return on.path() + "/images/" + name
	case on.Shared:
		return "rbd:" + v.storage + "/" + name
	}
	return "/dev/pve/" + name
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
	return c.start(r, job{kind: "imgdel", id: found.storage + "@" + r.PathValue("node"), done: func(*task) error {
		delete(c.volumes, found.place)
		return nil
	}})
}
