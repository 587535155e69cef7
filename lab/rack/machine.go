// Package rack has the existing machines: no platform created them, and only the user can replace them.
package rack

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/google/uuid"
)

// Machine is a machine as the user describes it.
type Machine struct {
	Name string `json:"name"`
	// Address is its address from the start, with prefix length: 10.0.1.31/24.
	Address netip.Prefix `json:"address"`
	Gateway netip.Addr   `json:"gateway"`
	// DHCP means that the router assigns this address; otherwise the address is in META, written there by the user or from the medium.
	DHCP bool `json:"dhcp,omitempty"`
	// MAC, UUID and Serial are derived from the name if they are not given.
	MAC    string `json:"mac,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	Serial string `json:"serial,omitempty"`
	// Talos is on the medium that it boots from, which installs it when a config is applied; or, with Installed, on its disk.
	Talos     string `json:"talos"`
	Schematic string `json:"schematic,omitempty"`
	Installed bool   `json:"installed,omitempty"`
	// Customization is the content of the schematic, as YAML; without it the Image Factory must already know the schematic.
	Customization string `json:"customization,omitempty"`
	Arch          string `json:"arch,omitempty"`
	CPUs          int    `json:"cpus,omitempty"`
	MemoryMiB     int    `json:"memoryMiB,omitempty"`
	// Disks default to one of 256 GB; with Installed, Talos is on the first.
	Disks []Disk `json:"disks,omitempty"`
}

// Disk is a disk that the machine has from the start.
type Disk struct {
	Device     string  `json:"device"`
	GB         float64 `json:"gb"`
	Model      string  `json:"model,omitempty"`
	Serial     string  `json:"serial,omitempty"`
	WWID       string  `json:"wwid,omitempty"`
	BusPath    string  `json:"busPath,omitempty"`
	Transport  string  `json:"transport,omitempty"`
	Rotational bool    `json:"rotational,omitempty"`
}

// Identity distinguishes a machine from all others.
type Identity struct {
	MAC  string `json:"mac,omitempty"`
	UUID string `json:"uuid,omitempty"`
}

// withDefaults returns the machine with defaults for all missing fields.
func (m Machine) withDefaults(defaultSchematic string) Machine {
	if m.Schematic == "" {
		m.Schematic = defaultSchematic
	}
	if m.Arch == "" {
		m.Arch = "amd64"
	}
	if m.CPUs == 0 {
		m.CPUs = 4
	}
	if m.MemoryMiB == 0 {
		m.MemoryMiB = 16384
	}
	if len(m.Disks) == 0 {
		m.Disks = []Disk{{Device: "/dev/sda", GB: 256, Model: "SSD 256G", Transport: "sata"}}
	}
	if m.Serial == "" {
		m.Serial = "SN-" + m.Name
	}
	own := identityOf(m.Name)
	if m.MAC == "" {
		m.MAC = own.MAC
	}
	if m.UUID == "" {
		m.UUID = own.UUID
	}
	return m
}

// identityOf derives an identity from a text. The MAC is locally administered.
func identityOf(text string) Identity {
	sum := sha256.Sum256([]byte(text))
	mac := net.HardwareAddr(append([]byte{0x02}, sum[:5]...))
	id, _ := uuid.FromBytes(sum[:16]) // sixteen bytes are never refused
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return Identity{MAC: mac.String(), UUID: id.String()}
}

// Check returns all faults of machines, each with the machine's index.
func Check(machines []Machine) []error {
	var faults []error
	names, addresses := map[string]bool{}, map[netip.Addr]bool{}
	for i, machine := range machines {
		for _, err := range machine.check() {
			faults = append(faults, fmt.Errorf("machines[%d].%w", i, err))
		}
		if machine.Name != "" && names[machine.Name] {
			faults = append(faults, fmt.Errorf("machines[%d].name: there is another %s", i, machine.Name))
		}
		if machine.Address.IsValid() && addresses[machine.Address.Addr()] {
			faults = append(faults, fmt.Errorf("machines[%d].address: another has %s", i, machine.Address.Addr()))
		}
		names[machine.Name], addresses[machine.Address.Addr()] = true, true
	}
	return faults
}

func (m Machine) check() []error {
	var faults []error
	if m.Name == "" {
		faults = append(faults, errors.New("name: is missing"))
	}
	if m.Talos == "" {
		faults = append(faults, errors.New("talos: is missing"))
	}
	switch {
	case !m.Address.IsValid() || !m.Address.Addr().Is4():
		faults = append(faults, errors.New("address: must be an IPv4 address with its prefix, such as 10.0.1.31/24"))
	case !m.Address.Contains(m.Gateway):
		faults = append(faults, fmt.Errorf("gateway: must be an address in %s", m.Address.Masked()))
	}
	faults = append(faults, Identity{m.MAC, m.UUID}.check()...)
	if slices.ContainsFunc(m.Disks, func(disk Disk) bool { return disk.Device == "" || disk.GB <= 0 }) {
		faults = append(faults, errors.New("disks: each needs a device and its size in GB"))
	}
	return faults
}

func (i Identity) check() []error {
	var faults []error
	if i.MAC != "" {
		if _, err := net.ParseMAC(i.MAC); err != nil {
			faults = append(faults, fmt.Errorf("mac: %q is not a MAC address", i.MAC))
		}
	}
	if i.UUID != "" {
		// In the format of the machine's firmware, which Talos shows.
		if parsed, err := uuid.Parse(i.UUID); err != nil || parsed.String() != i.UUID {
			faults = append(faults, fmt.Errorf("uuid: %q is not a UUID in lower case with dashes", i.UUID))
		}
	}
	return faults
}
