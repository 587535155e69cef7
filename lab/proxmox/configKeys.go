package proxmox

import (
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
)

// family is a set of keys of a config that one privilege is for.
type family struct {
	keys      *regexp.Regexp
	privilege []string
	// atOnce says that a change needs no restart.
	atOnce bool
}

// families are all keys that a config can have here, but for drives.
var families = []family{
	{regexp.MustCompile(`^(cores|cpu|cpulimit|cpuunits|numa\d*|sockets|vcpus|affinity)$`), []string{"VM.Config.CPU"}, false},
	{regexp.MustCompile(`^(memory|balloon|shares|hugepages|keephugepages)$`), []string{"VM.Config.Memory"}, false},
	{regexp.MustCompile(`^(acpi|hotplug|kvm|machine|scsihw|smbios1|tablet|vga|watchdog|audio0|rng0|arch|serial[0-3]|usb\d+|amd-sev|vmgenid|spice_enhancements)$`), []string{"VM.Config.HWType"}, false},
	{regexp.MustCompile(`^(description|name|onboot|protection|tags)$`), []string{"VM.Config.Options"}, true},
	{regexp.MustCompile(`^(agent|autostart|bios|keyboard|localtime|migrate_downtime|migrate_speed|ostype|reboot|startdate|tdf|template)$`), []string{"VM.Config.Options"}, false},
	{regexp.MustCompile(`^startup$`), []string{"VM.Config.Options"}, true},
	{regexp.MustCompile(`^freeze$`), []string{"VM.PowerMgmt"}, false},
	{regexp.MustCompile(`^(boot|bootdisk|vmstatestorage)$`), []string{"VM.Config.Disk"}, false},
	{regexp.MustCompile(`^net([0-9]|[12][0-9]|3[01])$`), []string{"VM.Config.Network"}, true},
	{regexp.MustCompile(`^ipconfig\d+$`), []string{"VM.Config.Network"}, false},
	{regexp.MustCompile(`^(cicustom|cipassword|citype|ciuser|ciupgrade|nameserver|searchdomain|sshkeys)$`), []string{"VM.Config.Cloudinit", "VM.Config.Network"}, false},
	{regexp.MustCompile(`^unused\d+$`), []string{"VM.Config.Disk"}, true},
}

// onlyRoot are keys that reach through to the host.
var onlyRoot = regexp.MustCompile(`^(args|lock|hookscript|hostpci\d+|parallel\d+|ivshmem|virtiofs\d+)$`)

func familyOf(key string) *family {
	at := slices.IndexFunc(families, func(one family) bool { return one.keys.MatchString(key) })
	if at < 0 {
		return nil
	}
	return &families[at]
}

// mayChange says whether who calls may set or delete these keys of a machine.
func (c *Cluster) mayChange(r *call, id int, inPool string, keys []string, given map[string]string) error {
	for _, key := range keys {
		known := familyOf(key)
		var err error
		switch {
		case driveKey.MatchString(key):
			wanted := "VM.Config.Disk"
			if text, set := given[key]; set && parseDrive(key, text).isMedium() {
				wanted = "VM.Config.CDROM"
			}
			err = r.onVM(c, id, inPool, wanted)
		case onlyRoot.MatchString(key):
			if r.who.name() != root {
				err = failure("only root can set '%s' config", key)
			}
		case known == nil:
			err = invalid(key, "property is not defined in schema and the schema does not allow additional properties")
		case len(known.privilege) > 1:
			for _, one := range known.privilege {
				if err = r.onVM(c, id, inPool, one); err == nil {
					break
				}
			}
		default:
			err = r.onVM(c, id, inPool, known.privilege...)
		}
		if err == nil && key == "startup" {
			// It changes how the host starts.
			err = r.all(c, "/", "Sys.Modify")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkValues says what is wrong with values that would be set.
func checkValues(given map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		switch {
		case numbers.MatchString(key) && key != "cpulimit" && key != "migrate_downtime":
			if _, err := (params{key: value}).number(key, 0); err != nil {
				return err
			}
		case key == "name" && !hostname.MatchString(value):
			return invalid(key, "invalid format - value does not look like a valid DNS name")
		case key == "bios" && value != "ovmf" && value != "seabios":
			return invalid(key, "value '%s' does not have a value in the enumeration 'seabios, ovmf'", value)
		case strings.HasPrefix(key, "net"):
			if mac := netOf(value)["macaddr"]; mac != "" {
				if _, err := net.ParseMAC(mac); err != nil {
					return invalid(key, "invalid format - format error\nnet.macaddr: value does not look like a valid unicast MAC address")
				}
			}
		}
	}
	return nil
}

var hostname = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?$`)

// models are those of network cards.
var models = []string{"virtio", "e1000", "e1000e", "rtl8139", "vmxnet3"}

// netOf reads a network card; the MAC may be the model's value.
func netOf(text string) properties {
	found := parseProperties(text, "model")
	for _, model := range models {
		if mac, has := found[model]; has {
			found["model"], found["macaddr"] = model, mac
			delete(found, model)
		}
	}
	return found
}

// printNet writes it as the API does: "virtio=<MAC>,bridge=vmbr0".
func printNet(card properties) string {
	shown := maps.Clone(card)
	mac := strings.ToUpper(card["macaddr"])
	delete(shown, "macaddr")
	shown["model"] = card["model"] + "=" + mac
	return shown.print("model")
}

// mayWire says whether who calls may plug a card where it is to be.
func (c *Cluster) mayWire(r *call, given map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !strings.HasPrefix(key, "net") {
			continue
		}
		card := netOf(given[key])
		at := card["bridge"]
		if at == "" {
			continue
		}
		path := "/sdn/zones/localnetwork/" + at
		if tag := card["tag"]; tag != "" {
			path += "/" + tag
		}
		if err := r.all(c, path, "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}

// settled are values as the API keeps them: a card has its MAC.
func (c *Cluster) settled(m *vm, key, value string) string {
	if !strings.HasPrefix(key, "net") {
		return value
	}
	card := netOf(value)
	if card["macaddr"] == "" {
		if before, has := m.config[key]; has {
			card["macaddr"] = netOf(before)["macaddr"]
		} else {
			card["macaddr"] = c.newMAC(m, key)
		}
	}
	return printNet(card)
}
