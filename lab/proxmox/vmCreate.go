package proxmox

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// notConfig are parameters of requests that are no keys of a config.
var notConfig = []string{
	"vmid", "node", "pool", "start", "storage", "force", "unique", "bwlimit", "digest", "delete", "revert", "skiplock", "background_delay",
}

// configOf are the keys of a config that a request gives.
func configOf(given params) map[string]string {
	config := map[string]string{}
	for key, value := range given {
		if !slices.Contains(notConfig, key) {
			config[key] = value
		}
	}
	return config
}

// order is a request for a machine with all that it names.
type order struct {
	vm     *vm
	config map[string]string
	plans  []*allocation
	start  bool
}

func (c *Cluster) createVM(r *call) (any, error) {
	asked, err := c.readOrder(r)
	if err != nil {
		return nil, err
	}
	m := asked.vm
	if other := c.vms[m.id]; other != nil {
		return nil, failure("unable to create VM %d - VM %[1]d already exists on node '%s'", m.id, other.host)
	}
	m.lab = c.labName(asked.config["name"], m.id)
	m.lock = "create"
	c.vms[m.id] = m
	return c.start(r, job{
		kind: "qmcreate", id: strconv.Itoa(m.id), whose: m.lab, takes: pace.ServerCreate,
		done: func(its *task) error { return c.build(asked, its) },
		after: func(failed error) {
			m.lock = ""
			if failed != nil {
				c.dropVolumes(m)
				delete(c.vms, m.id)
				return
			}
			c.stateOf(m)
		},
	})
}

// readOrder checks a request and finds all that it names. Nothing is changed.
func (c *Cluster) readOrder(r *call) (*order, error) {
	text, err := r.params.required("vmid")
	if err != nil {
		return nil, err
	}
	id, err := strconv.Atoi(text)
	if err != nil || id < 100 {
		return nil, invalid("vmid", "value must have a minimum value of 100")
	}
	m := &vm{id: id, host: r.PathValue("node"), pool: r.params["pool"], config: map[string]string{}, pending: map[string]string{}}
	asked := &order{vm: m, config: configOf(r.params), start: r.params.flag("start")}
	if m.pool != "" && c.pools[m.pool] == nil {
		return nil, failure("pool '%s' does not exist", m.pool)
	}
	if r.params["archive"] != "" {
		return nil, notImplemented(r.Request)
	}
	if err := r.onVM(c, id, m.pool, "VM.Allocate"); err != nil {
		return nil, err
	}
	if err := checkValues(asked.config); err != nil {
		return nil, err
	}
	if err := c.mayChange(r, id, m.pool, slices.Sorted(maps.Keys(asked.config)), asked.config); err != nil {
		return nil, err
	}
	if err := c.mayWire(r, asked.config); err != nil {
		return nil, err
	}
	for _, one := range drivesOf(asked.config) {
		plan, err := c.planDrive(r, m, one)
		if err != nil {
			return nil, err
		}
		if plan != nil {
			asked.plans = append(asked.plans, plan)
		}
	}
	return asked, checkBoot(asked.config)
}

// checkBoot says whether all that a boot order names is there.
func checkBoot(config map[string]string) error {
	for _, key := range list(parseProperties(config["boot"], "legacy")["order"]) {
		if _, has := config[key]; !has {
			return failure("invalid bootorder: device '%s' does not exist'", key)
		}
	}
	return nil
}

// build makes the disks of a new machine and gives it its config.
func (c *Cluster) build(asked *order, its *task) error {
	m := asked.vm
	for _, plan := range asked.plans {
		if plan.from != nil && c.volumes[plan.from.place] == nil {
			return failure("unable to create VM %d - volume '%s' does not exist", m.id, plan.from.id)
		}
	}
	for key, value := range asked.config {
		if driveKey.MatchString(key) {
			value = parseDrive(key, value).print()
		}
		m.config[key] = c.settled(m, key, value)
	}
	for _, plan := range asked.plans {
		m.config[plan.drive.key] = c.allocate(m, plan)
		its.say("%s: successfully created disk '%s'", plan.drive.key, m.config[plan.drive.key])
	}
	// Who says anything of it says all of it.
	if _, has := m.config["smbios1"]; !has {
		m.config["smbios1"] = "uuid=" + c.identities.UUID(m.lab)
	}
	if given, has := m.config["vmgenid"]; !has || given == "1" {
		m.config["vmgenid"] = uuid.NewSHA1(uuid.NameSpaceOID, []byte("generation of "+m.config["smbios1"])).String()
	}
	if _, has := m.config["boot"]; !has {
		m.config["boot"] = defaultBoot(m)
	}
	m.config["meta"] = fmt.Sprintf("creation-qemu=10.1.2,ctime=%d", time.Now().Unix())
	if asked.start {
		return c.powerUp(m)
	}
	return nil
}

// defaultBoot is the order of a machine for which none was asked.
func defaultBoot(m *vm) string {
	order := "order="
	for _, one := range m.drives() {
		if !one.isMedium() && one.key != "efidisk0" && one.key != "tpmstate0" {
			order += one.key
			break
		}
	}
	return order
}

// labName is the machine's name, or one like it that no machine has.
func (c *Cluster) labName(name string, id int) string {
	if name == "" {
		name = fmt.Sprintf("vm-%d", id)
	}
	used := map[string]bool{}
	for _, other := range c.vms {
		used[other.lab] = true
	}
	lab := name
	for number := 2; used[lab]; number++ {
		lab = fmt.Sprintf("%s-%d", name, number)
	}
	return lab
}

// newMAC is one as Proxmox makes up.
func (c *Cluster) newMAC(m *vm, key string) string {
	number := c.identities.Number("mac", m.lab+"/"+key)
	return fmt.Sprintf("BC:24:11:%02X:%02X:%02X", byte(number>>16), byte(number>>8), byte(number))
}
