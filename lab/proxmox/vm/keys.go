package vm

import (
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/access"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
)

// family is a set of keys of the configuration that need the same privilege.
type family struct {
	keys      *regexp.Regexp
	privilege []string
	// atOnce means that a change needs no restart.
	atOnce bool
}

// families are all keys that a configuration can have here, except for drives.
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

// onlyRoot are keys that give access to the host.
var onlyRoot = regexp.MustCompile(`^(args|lock|hookscript|hostpci\d+|parallel\d+|ivshmem|virtiofs\d+)$`)

func familyOf(key string) *family {
	at := slices.IndexFunc(families, func(one family) bool { return one.keys.MatchString(key) })
	if at < 0 {
		return nil
	}
	return &families[at]
}

// CheckChange returns an error if the caller may not set or delete these keys of a virtual machine.
func CheckChange(r *api.Call, id int, pool string, keys []string, given map[string]string) error {
	for _, key := range keys {
		known := familyOf(key)
		var err error
		switch {
		case IsDrive(key):
			wanted := "VM.Config.Disk"
			if text, set := given[key]; set && ParseDrive(key, text).IsMedium() {
				wanted = "VM.Config.CDROM"
			}
			err = r.OnVM(id, pool, wanted)
		case onlyRoot.MatchString(key):
			if !access.IsRoot(r.Caller) {
				err = api.Failure("only root can set '%s' config", key)
			}
		case known == nil:
			err = api.Invalid(key, "property is not defined in schema and the schema does not allow additional properties")
		case len(known.privilege) > 1:
			for _, one := range known.privilege {
				if err = r.OnVM(id, pool, one); err == nil {
					break
				}
			}
		default:
			err = r.OnVM(id, pool, known.privilege...)
		}
		if err == nil && key == "startup" {
			// It changes how the host starts.
			err = r.All("/", "Sys.Modify")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckValues returns an error if a value cannot be set.
func CheckValues(given map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		switch {
		case numbers.MatchString(key) && key != "cpulimit" && key != "migrate_downtime":
			if _, err := (api.Params{key: value}).Number(key, 0); err != nil {
				return err
			}
		case key == "name" && !hostname.MatchString(value):
			return api.Invalid(key, "invalid format - value does not look like a valid DNS name")
		case key == "bios" && value != "ovmf" && value != "seabios":
			return api.Invalid(key, "value '%s' does not have a value in the enumeration 'seabios, ovmf'", value)
		case strings.HasPrefix(key, "net"):
			if mac := ParseCard(value)["macaddr"]; mac != "" {
				if _, err := net.ParseMAC(mac); err != nil {
					return api.Invalid(key, "invalid format - format error\nnet.macaddr: value does not look like a valid unicast MAC address")
				}
			}
		}
	}
	return nil
}

var hostname = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?$`)

// CheckBridges returns an error if the caller may not use the bridge of a network
// card.
func CheckBridges(r *api.Call, given map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !strings.HasPrefix(key, "net") {
			continue
		}
		card := ParseCard(given[key])
		at := card["bridge"]
		if at == "" {
			continue
		}
		path := "/sdn/zones/localnetwork/" + at
		if tag := card["tag"]; tag != "" {
			path += "/" + tag
		}
		if err := r.All(path, "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}

// IsAtOnce reports whether a change of a key needs no restart.
func IsAtOnce(key string) bool {
	known := familyOf(key)
	return known != nil && known.atOnce
}

// numbers are the keys of a configuration that are shown as numbers.
var numbers = regexp.MustCompile(`^(acpi|autostart|balloon|ciupgrade|cores|cpulimit|cpuunits|freeze|keephugepages|kvm|localtime|migrate_downtime|migrate_speed|numa|onboot|protection|reboot|shares|sockets|tablet|tdf|template|vcpus)$`)

// Typed returns a value of the configuration as the API shows it.
func Typed(key, value string) any {
	if number, err := strconv.Atoi(value); err == nil && numbers.MatchString(key) {
		return number
	}
	return value
}

// CheckBoot returns an error if the boot order names a drive that does not exist.
func CheckBoot(config map[string]string) error {
	for _, key := range api.List(api.ParseProperties(config["boot"], "legacy")["order"]) {
		if _, has := config[key]; !has {
			return api.Failure("invalid bootorder: device '%s' does not exist'", key)
		}
	}
	return nil
}
