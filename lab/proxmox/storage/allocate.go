package storage

import (
	"fmt"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
)

// allocateContent creates a disk that no virtual machine uses yet.
func (s *Storages) allocateContent(r *api.Call) (any, error) {
	at, err := s.Get(r.PathValue("storage"))
	if err != nil {
		return nil, err
	}
	if err := r.All("/storage/"+at.Name, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	owner, err := r.Params.Required("vmid")
	if err != nil {
		return nil, err
	}
	id, err := r.Params.Number("vmid", 0)
	if err != nil {
		return nil, err
	}
	name, err := r.Params.Required("filename")
	if err != nil {
		return nil, err
	}
	text, err := r.Params.Required("size")
	if err != nil {
		return nil, err
	}
	bytes, ok := ParseSize(text)
	if !ok {
		return nil, api.Invalid("size", "value does not match the regex pattern")
	}
	if strings.TrimRight(text, "KMGT") == text {
		bytes <<= 10 // without a unit it is kilobytes
	}
	if !at.Holds("images") {
		return nil, api.Failure("storage '%s' does not support vm images", at.Name)
	}
	if !strings.HasPrefix(name, "vm-"+owner+"-") {
		return nil, api.Failure("illegal name '%s' - should be 'vm-%s-*'", name, owner)
	}
	volumeID := at.Name + ":" + name
	if at.files {
		volumeID = fmt.Sprintf("%s:%d/%s", at.Name, id, name)
	}
	made := NewDisk(at.Name, id)
	made.Place, made.Bytes, made.made = s.at(r.PathValue("node"), volumeID), bytes, time.Now()
	if s.volumes[made.Place] != nil {
		return nil, api.Failure("unable to create image: '%s' already exists", made.ID)
	}
	s.volumes[made.Place] = made
	return made.ID, nil
}
