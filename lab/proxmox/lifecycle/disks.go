package lifecycle

import (
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// newDisk matches a request for a new disk: "<storage>:<GiB>".
var newDisk = regexp.MustCompile(`^([^/:\s]+):(\d+(\.\d+)?)$`)

// Sizes of disks for a certain purpose.
const (
	efiBytes       = 4 << 20
	tpmBytes       = 4 << 20
	cloudInitBytes = 4 << 20
	// importedBytes is the virtual size of every image of the lab's factory.
	importedBytes = 1 << 30
)

// disks makes the disks of drives.
type disks struct{ *Parts }

// allocation is a volume to create for a drive of a virtual machine.
type allocation struct {
	drive vm.Drive
	made  *storage.Volume
	// from is the initial content of the disk, or nil.
	from *storage.Volume
}

// plan checks that the caller may give a virtual machine a drive. It returns what must be created for it, or nil.
func (d *disks) plan(r *api.Call, m *vm.VM, one vm.Drive) (*allocation, error) {
	file := one.File()
	if one.IsEmpty() {
		if file == "cdrom" {
			return nil, r.All("/", "Sys.Console")
		}
		return nil, nil
	}
	at, name, hasStorage := strings.Cut(file, ":")
	if !hasStorage {
		return nil, api.Invalid(one.Key, "invalid format - unable to parse drive options")
	}
	into, err := d.Storages.Get(at)
	if err != nil {
		return nil, err
	}
	match := newDisk.FindStringSubmatch(file)
	if match == nil && name != "cloudinit" {
		held, err := d.Storages.Find(m.Host, file)
		if err != nil {
			return nil, err
		}
		if held.VM != 0 && held.VM != m.ID {
			return nil, r.All("/storage/"+at, "Datastore.Allocate")
		}
		return nil, d.Storages.CheckVolumeSeen(r, held)
	}
	if err := r.All("/storage/"+at, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	if !into.Holds("images") {
		return nil, api.Invalid("storage", "storage '%s' does not support vm images", at)
	}
	plan := &allocation{drive: one, made: storage.NewDisk(at, m.ID)}
	switch {
	case name == "cloudinit":
		plan.made.Bytes = cloudInitBytes
	case one.Key == "efidisk0":
		plan.made.Bytes = efiBytes
	case one.Key == "tpmstate0":
		plan.made.Bytes = tpmBytes
	default:
		size, _ := strconv.ParseFloat(match[2], 64) // the pattern allows digits only
		plan.made.Bytes = int64(size * (1 << 30))
	}
	if source := one.Properties["import-from"]; source != "" {
		return plan, d.planImport(r, m, plan, source)
	}
	return plan, nil
}

// planImport sets the initial content of the disk of a plan.
func (d *disks) planImport(r *api.Call, m *vm.VM, plan *allocation, source string) error {
	var err error
	if plan.from, err = d.Storages.Find(m.Host, source); err != nil {
		return err
	}
	if err := d.Storages.CheckVolumeSeen(r, plan.from); err != nil {
		return err
	}
	if plan.from.Content != "import" && plan.from.Content != "images" {
		return api.Invalid(plan.drive.Key, "invalid configuration: cannot import from '%s' - content type '%s' cannot be imported", source, plan.from.Content)
	}
	if plan.made.Bytes != 0 {
		return api.Invalid(plan.drive.Key, "import-from requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	return nil
}

// allocate creates the volume of a drive and returns the drive in the configuration's notation.
func (d *disks) allocate(m *vm.VM, plan *allocation) string {
	made, one := plan.made, vm.Drive{Key: plan.drive.Key, Properties: maps.Clone(plan.drive.Properties)}
	if plan.from != nil {
		made.Bytes, made.Image = importedBytes, plan.from.Image
	}
	d.Storages.Allocate(made, m.Host, one.IsCloudInit())
	delete(one.Properties, "import-from")
	delete(one.Properties, "format")
	one.Properties["file"], one.Properties["size"] = made.ID, storage.PrintSize(made.Bytes)
	if one.IsCloudInit() {
		one.Properties["media"] = "cdrom"
	}
	return one.Print()
}
