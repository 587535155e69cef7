package storage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
)

// Place is where a volume is. A host does not see the volumes of another; those of a
// shared storage are on no host.
type Place struct{ Host, ID string }

// isOn reports whether a host sees what is there.
func (p Place) isOn(host string) bool { return p.Host == "" || p.Host == host }

// Volume is a file or a disk on a storage.
type Volume struct {
	Place
	Storage, Content string
	Bytes            int64
	// VM is the id of the virtual machine that it belongs to, or 0.
	VM int
	// Image is what is on it, or nil.
	Image *factory.Image

	format string
	made   time.Time
}

// NewDisk returns an empty disk of a virtual machine. It has no place yet.
func NewDisk(storage string, vm int) *Volume {
	return &Volume{Storage: storage, Content: "images", format: "raw", VM: vm}
}

func (v *Volume) view() map[string]any {
	view := map[string]any{"volid": v.ID, "content": v.Content, "format": v.format, "size": v.Bytes, "ctime": v.made.Unix()}
	if v.VM != 0 {
		view["vmid"] = v.VM
	}
	return view
}

// at returns the place of a volume as a host names it.
func (s *Storages) at(host, id string) Place {
	name, _, _ := strings.Cut(id, ":")
	if on, err := s.Get(name); err == nil && on.Shared {
		return Place{"", id}
	}
	return Place{host, id}
}

// Volume returns the volume with an id on a host, or nil.
func (s *Storages) Volume(host, id string) *Volume { return s.volumes[s.at(host, id)] }

// Find returns the volume with an id on a host, or an error.
func (s *Storages) Find(host, id string) (*Volume, error) {
	if found := s.Volume(host, id); found != nil {
		return found, nil
	}
	name, _, _ := strings.Cut(id, ":")
	if _, err := s.Get(name); err != nil {
		return nil, err
	}
	return nil, api.Failure("volume '%s' does not exist", id)
}

// Has reports whether there is still a volume at the place of one.
func (s *Storages) Has(v *Volume) bool { return s.volumes[v.Place] != nil }

// Allocate gives a disk of a virtual machine a place on a host.
func (s *Storages) Allocate(v *Volume, host string, cloudInit bool) {
	v.Place, v.made = s.at(host, s.freeID(host, v.VM, v.Storage, cloudInit)), time.Now()
	s.volumes[v.Place] = v
}

// Move moves a disk of a virtual machine to another host.
func (s *Storages) Move(v *Volume, host string, cloudInit bool) {
	s.Remove(v)
	v.Place = s.at(host, s.freeID(host, v.VM, v.Storage, cloudInit))
	s.volumes[v.Place] = v
}

// Remove removes a volume.
func (s *Storages) Remove(v *Volume) { delete(s.volumes, v.Place) }

// RemoveOf removes all volumes of a virtual machine on a host.
func (s *Storages) RemoveOf(vm int, host string) {
	maps.DeleteFunc(s.volumes, func(_ Place, v *Volume) bool { return v.VM == vm && v.isOn(host) })
}

// freeID returns the next id on a host for a disk of a virtual machine.
func (s *Storages) freeID(host string, vm int, storage string, cloudInit bool) string {
	prefix, suffix := storage+":", ""
	if on, err := s.Get(storage); err == nil && on.files {
		prefix, suffix = fmt.Sprintf("%s:%d/", storage, vm), ".raw"
	}
	if cloudInit {
		return fmt.Sprintf("%svm-%d-cloudinit%s", prefix, vm, suffix)
	}
	for number := 0; ; number++ {
		id := fmt.Sprintf("%svm-%d-disk-%d%s", prefix, vm, number, suffix)
		if s.Volume(host, id) == nil {
			return id
		}
	}
}

// Sorted returns all volumes, by host and id.
func (s *Storages) Sorted() []*Volume {
	return slices.SortedFunc(maps.Values(s.volumes), func(a, b *Volume) int {
		return strings.Compare(a.Host+"/"+a.ID, b.Host+"/"+b.ID)
	})
}

// CheckVolumeSeen returns an error if the caller may not know of a volume: the
// disks of a virtual machine are for those who may see it.
func (s *Storages) CheckVolumeSeen(r *api.Call, one *Volume) error {
	if one.VM == 0 || r.Caller.May("/storage/"+one.Storage, "Datastore.Allocate") {
		return CheckSeen(r, one.Storage)
	}
	return r.OnVM(one.VM, s.Machines.PoolOf(one.VM), "VM.Config.Disk")
}

// volumePath returns where a host has a volume.
func (s *Storages) volumePath(v *Volume) string {
	_, name, _ := strings.Cut(v.ID, ":")
	on, err := s.Get(v.Storage)
	switch {
	case err != nil:
		return ""
	case v.Content == "iso":
		return on.path() + "/template/" + name
	case v.Content == "import":
		return on.path() + "/" + name
	case on.files:
		return on.path() + "/images/" + name
	case on.Shared:
		return "rbd:" + v.Storage + "/" + name
	}
	return "/dev/pve/" + name
}

// volumeOfPath returns the volume that a path names, with or without its storage.
func (s *Storages) volumeOfPath(r *api.Call) (*Volume, error) {
	at, id := r.PathValue("storage"), r.PathValue("volume")
	if _, err := s.Get(at); err != nil {
		return nil, err
	}
	if !strings.Contains(id, ":") {
		id = at + ":" + id
	}
	return s.Find(r.PathValue("node"), id)
}

func (s *Storages) listContent(r *api.Call) (any, error) {
	at, err := s.ofPath(r)
	if err != nil {
		return nil, err
	}
	views := []map[string]any{}
	for _, one := range s.Sorted() {
		if !one.isOn(r.PathValue("node")) || one.Storage != at.Name {
			continue
		}
		if kind := r.Params["content"]; kind != "" && kind != one.Content {
			continue
		}
		if s.CheckVolumeSeen(r, one) == nil {
			views = append(views, one.view())
		}
	}
	return views, nil
}

func (s *Storages) getContent(r *api.Call) (any, error) {
	found, err := s.volumeOfPath(r)
	if err != nil {
		return nil, err
	}
	if err := s.CheckVolumeSeen(r, found); err != nil {
		return nil, err
	}
	return map[string]any{"path": s.volumePath(found), "size": found.Bytes, "used": found.Bytes, "format": found.format}, nil
}

// deleteContent removes a volume that no virtual machine uses.
func (s *Storages) deleteContent(r *api.Call) (any, error) {
	found, err := s.volumeOfPath(r)
	if err != nil {
		return nil, err
	}
	if found.VM == 0 {
		err = r.Some("/storage/"+found.Storage, "Datastore.AllocateTemplate", "Datastore.Allocate")
	} else {
		err = r.All("/storage/"+found.Storage, "Datastore.Allocate")
	}
	if err != nil {
		return nil, err
	}
	if s.Machines.Uses(found.VM, found) {
		return nil, api.Failure("cannot remove volume '%s' - it is in use by VM %d", found.ID, found.VM)
	}
	return s.tasks.Start(r, task.Job{Kind: "imgdel", ID: found.Storage + "@" + r.PathValue("node"), Done: func(*task.Task) error {
		s.Remove(found)
		return nil
	}})
}
