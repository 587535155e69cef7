package proxmox

import (
	"fmt"
	"strings"
	"time"
)

// allocateContent makes a disk that no machine has yet.
func (c *Cluster) allocateContent(r *call) (any, error) {
	at, err := c.storage(r.PathValue("storage"))
	if err != nil {
		return nil, err
	}
	if err := r.all(c, "/storage/"+at.Name, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	owner, err := r.params.required("vmid")
	if err != nil {
		return nil, err
	}
	id, err := r.params.number("vmid", 0)
	if err != nil {
		return nil, err
	}
	name, err := r.params.required("filename")
	if err != nil {
		return nil, err
	}
	text, err := r.params.required("size")
	if err != nil {
		return nil, err
	}
	bytes, ok := parseSize(text)
	if !ok {
		return nil, invalid("size", "value does not match the regex pattern")
	}
	if strings.TrimRight(text, "KMGT") == text {
		bytes <<= 10 // without a unit it is kilobytes
	}
	if !at.holds("images") {
		return nil, failure("storage '%s' does not support vm images", at.Name)
	}
	if !strings.HasPrefix(name, "vm-"+owner+"-") {
		return nil, failure("illegal name '%s' - should be 'vm-%s-*'", name, owner)
	}
	volumeID := at.Name + ":" + name
	if at.files {
		volumeID = fmt.Sprintf("%s:%d/%s", at.Name, id, name)
	}
	made := &volume{place: c.at(r.PathValue("node"), volumeID), storage: at.Name, content: "images", format: "raw", vm: id, bytes: bytes, made: time.Now()}
	if c.volumes[made.place] != nil {
		return nil, failure("unable to create image: '%s' already exists", made.id)
	}
	c.volumes[made.place] = made
	return made.id, nil
}
