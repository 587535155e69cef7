package proxmox

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (c *Cluster) putConfig(r *call) (any, error) { return nil, c.changeConfig(r) }

// postConfig does the same in a task.
func (c *Cluster) postConfig(r *call) (any, error) {
	if err := c.changeConfig(r); err != nil {
		return nil, err
	}
	return c.start(r, job{kind: "qmconfig", id: r.PathValue("vmid")})
}

// changeConfig sets and deletes keys. What a running machine cannot take waits
// until it is started anew.
func (c *Cluster) changeConfig(r *call) error {
	m, err := c.vm(r)
	if err != nil {
		return err
	}
	given, removed := configOf(r.params), list(r.params["delete"])
	keys := slices.Concat(slices.Sorted(maps.Keys(given)), removed)
	if len(keys) == 0 && r.params["revert"] == "" {
		return failure("no options specified")
	}
	if err := checkValues(given); err != nil {
		return err
	}
	if err := c.mayChange(r, m.id, m.pool, keys, given); err != nil {
		return err
	}
	if err := c.mayWire(r, given); err != nil {
		return err
	}
	if asked := r.params["digest"]; asked != "" && asked != m.digest() {
		return failure("detected modified configuration - file changed by other user? Try again.")
	}
	if err := m.unlocked(); err != nil {
		return err
	}
	for _, key := range removed {
		if _, both := given[key]; both {
			return invalid("delete", "you can't use '-%s' and '-delete %[1]s' at the same time", key)
		}
	}
	after := m.next()
	maps.Copy(after, given)
	if _, asked := given["boot"]; asked {
		if err := checkBoot(after); err != nil {
			return err
		}
	}
	plans := map[string]*allocation{}
	for _, one := range drivesOf(given) {
		if plans[one.key], err = c.planDrive(r, m, one); err != nil {
			return err
		}
	}
	for _, key := range list(r.params["revert"]) {
		delete(m.pending, key)
	}
	for _, key := range removed {
		c.unset(m, key)
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		c.set(m, key, given[key], plans[key])
	}
	c.rewire(m)
	return nil
}

// set gives a key a value, now or when the machine is next started.
func (c *Cluster) set(m *vm, key, value string, plan *allocation) {
	atOnce := !m.powered()
	switch {
	case plan != nil:
		value = c.allocate(m, plan)
		atOnce = true
		if held := c.volumes[c.at(m.host, parseDrive(key, value).properties["file"])]; held != nil && held.content == "images" {
			defer c.plug(m, key)
		}
	case driveKey.MatchString(key):
		one := parseDrive(key, value)
		// The size of a disk is what it is, whatever is said of it.
		if held := c.volumes[c.at(m.host, one.properties["file"])]; held != nil && !one.isMedium() {
			one.properties["size"] = printSize(held.bytes)
		}
		value, atOnce = one.print(), true
	default:
		value = c.settled(m, key, value)
		if known := familyOf(key); known != nil && known.atOnce {
			atOnce = true
		}
	}
	delete(m.pending, key)
	if atOnce {
		m.config[key] = value
	} else if m.config[key] != value {
		m.pending[key] = value
	}
}

// unset takes a key away. The volume of a drive stays and is unused then.
func (c *Cluster) unset(m *vm, key string) {
	value, has := m.config[key]
	if !has {
		delete(m.pending, key)
		return
	}
	if driveKey.MatchString(key) {
		one := parseDrive(key, value)
		c.unplug(m, key)
		delete(m.config, key)
		if held := c.volumes[c.at(m.host, one.properties["file"])]; held != nil && held.vm == m.id {
			if one.isCloudInit() {
				delete(c.volumes, held.place)
			} else {
				m.config[m.freeUnused()] = held.id
			}
		}
		return
	}
	if id, is := strings.CutPrefix(key, "unused"); is && id != "" {
		delete(c.volumes, c.at(m.host, value))
	}
	if known := familyOf(key); m.powered() && (known == nil || !known.atOnce) {
		m.pending[key] = ""
		return
	}
	delete(m.config, key)
	delete(m.pending, key)
}

func (m *vm) freeUnused() string {
	for number := 0; ; number++ {
		key := "unused" + strconv.Itoa(number)
		if _, taken := m.config[key]; !taken {
			return key
		}
	}
}

// cloudInitKeys are what the drive for cloud-init is made from.
var cloudInitKeys = regexp.MustCompile(`^(ci[a-z]+|nameserver|searchdomain|sshkeys|ipconfig\d+)$`)

// rebuildCloudInit writes the drive for cloud-init anew, with what was pending.
// The operating system reads it when it boots.
func (c *Cluster) rebuildCloudInit(r *call) (any, error) {
	m, err := c.vmWith(r, "VM.Config.Cloudinit")
	if err != nil {
		return nil, err
	}
	if err := m.unlocked(); err != nil {
		return nil, err
	}
	next := m.next()
	for key := range m.pending {
		if !cloudInitKeys.MatchString(key) {
			continue
		}
		delete(m.pending, key)
		if value, has := next[key]; has {
			m.config[key] = value
		} else {
			delete(m.config, key)
		}
	}
	c.rewire(m)
	return nil, nil
}

// resize makes a disk larger.
func (c *Cluster) resize(r *call) (any, error) {
	m, err := c.vmWith(r, "VM.Config.Disk")
	if err != nil {
		return nil, err
	}
	key, err := r.params.required("disk")
	if err != nil {
		return nil, err
	}
	text, err := r.params.required("size")
	if err != nil {
		return nil, err
	}
	if err := m.unlocked(); err != nil {
		return nil, err
	}
	if _, has := m.config[key]; !has || !driveKey.MatchString(key) {
		return nil, failure("disk '%s' does not exist", key)
	}
	one := parseDrive(key, m.config[key])
	held := c.volumes[c.at(m.host, one.properties["file"])]
	if held == nil || one.isMedium() {
		return nil, failure("you can't resize a cdrom")
	}
	more, relative := strings.CutPrefix(text, "+")
	size, ok := parseSize(more)
	if !ok {
		return nil, invalid("size", "value does not match the regex pattern")
	}
	if relative {
		size += held.bytes
	}
	if size < held.bytes {
		return nil, failure("shrinking disks is not supported")
	}
	if err := r.all(c, "/storage/"+held.storage, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	return c.start(r, job{
		kind: "resize", id: strconv.Itoa(m.id), whose: m.lab,
		done: func(*task) error {
			held.bytes = size
			one.properties["size"] = printSize(size)
			m.config[key] = one.print()
			c.outfit(m)
			return nil
		},
	})
}
