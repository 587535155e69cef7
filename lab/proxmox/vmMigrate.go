package proxmox

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

func (c *Cluster) migrationRoutes() map[string]handler {
	return map[string]handler{"POST /nodes/{node}/qemu/{vmid}/migrate": c.migrateVM}
}

// migrateVM moves a machine to another host: one that runs goes on there.
func (c *Cluster) migrateVM(r *call) (any, error) {
	m, err := c.vmWith(r, "VM.Migrate")
	if err != nil {
		return nil, err
	}
	target, err := r.params.required("target")
	if err != nil {
		return nil, err
	}
	if target == m.host {
		return nil, invalid("target", "target is local node.")
	}
	if !slices.ContainsFunc(c.hosts, func(one *host) bool { return one.name == target }) {
		return nil, failure("no such cluster node '%s'", target)
	}
	if r.params["targetstorage"] != "" {
		return nil, notImplemented(r.Request)
	}
	if err := m.unlocked(); err != nil {
		return nil, err
	}
	if m.powered() && !r.params.flag("online") {
		return nil, failure("can't migrate running VM without --online")
	}
	m.lock = "migrate"
	return c.start(r, job{
		kind: "qmigrate", id: strconv.Itoa(m.id), whose: m.lab, takes: pace.Migrate,
		done:  func(its *task) error { return c.move(m, target, r.params.flag("with-local-disks"), its) },
		after: func(error) { m.lock = "" },
	})
}

// move takes a machine over to another host with the disks that it does not see.
func (c *Cluster) move(m *vm, target string, withDisks bool, its *task) error {
	its.say("starting migration of VM %d to node '%s' (%s)", m.id, target, c.Address)
	aborted := func(why string) error {
		its.say("ERROR: migration aborted (duration 00:00:01): %s", why)
		return failure("migration aborted")
	}
	if c.reachable(target) != nil {
		its.say("ssh: connect to host %s port 22: No route to host", target)
		return aborted("Can't connect to destination address using public key")
	}
	found, fixed := c.ownDisks(m), false
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if why := c.whyFixed(m, parseDrive(key, m.config[key]), found[key], withDisks); why != "" {
			its.say("can't migrate local disk '%s': %s", found[key].id, why)
			fixed = true
		}
	}
	if fixed {
		return aborted("Problem found while scanning volumes - can't migrate VM - check log")
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		one, held := parseDrive(key, m.config[key]), found[key]
		its.say("copying local disk image '%s'", held.id)
		delete(c.volumes, held.place)
		held.place = c.at(target, c.freeVolume(target, m.id, held.storage, one.isCloudInit()))
		c.volumes[held.place] = held
		one.properties["file"] = held.id
		m.config[key] = one.print()
	}
	m.host = target
	c.Timeline.Record(m.lab, "vm", "migrated", "host", target)
	its.say("migration finished successfully (duration 00:00:01)")
	return nil
}

var unusedKey = regexp.MustCompile(`^unused\d+$`)

// ownDisks are the volumes of a machine that its host alone sees, by key.
func (c *Cluster) ownDisks(m *vm) map[string]*volume {
	found := map[string]*volume{}
	for key, value := range m.config {
		if !driveKey.MatchString(key) && !unusedKey.MatchString(key) {
			continue
		}
		if held := c.volumes[c.at(m.host, parseDrive(key, value).properties["file"])]; held != nil && held.host != "" {
			found[key] = held
		}
	}
	return found
}

// whyFixed says why a volume cannot go along, or nothing.
func (c *Cluster) whyFixed(m *vm, one drive, held *volume, withDisks bool) string {
	switch {
	case one.isMedium() && !one.isCloudInit():
		return "local cdrom image"
	case held.vm != m.id:
		return "owned by other VM (owner = VM " + strconv.Itoa(held.vm) + ")"
	case m.powered() && !withDisks && !one.isMedium() && driveKey.MatchString(one.key):
		return "can't live migrate attached local disks without with-local-disks option"
	}
	return ""
}
