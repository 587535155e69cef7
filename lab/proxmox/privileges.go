package proxmox

import (
	"slices"
	"strings"
)

// privileges are all that Proxmox VE 9 knows.
var privileges = []string{
	"Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.AllocateTemplate", "Datastore.Audit",
	"Group.Allocate", "Mapping.Audit", "Mapping.Modify", "Mapping.Use", "Permissions.Modify",
	"Pool.Allocate", "Pool.Audit", "Realm.Allocate", "Realm.AllocateUser", "SDN.Allocate", "SDN.Audit", "SDN.Use",
	"Sys.AccessNetwork", "Sys.Audit", "Sys.Console", "Sys.Incoming", "Sys.Modify", "Sys.PowerMgmt", "Sys.Syslog", "User.Modify",
	"VM.Allocate", "VM.Audit", "VM.Backup", "VM.Clone", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Cloudinit",
	"VM.Config.Disk", "VM.Config.HWType", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.Console",
	"VM.GuestAgent.Audit", "VM.GuestAgent.FileRead", "VM.GuestAgent.FileSystemMgmt", "VM.GuestAgent.FileWrite", "VM.GuestAgent.Unrestricted",
	"VM.Migrate", "VM.PowerMgmt", "VM.Replicate", "VM.Snapshot", "VM.Snapshot.Rollback",
}

// administrator is the role that may do everything.
const administrator = "Administrator"

// builtInRoles are those that every cluster has.
func builtInRoles() map[string]*role {
	with := func(keep func(string) bool) *role {
		return &role{special: true, privileges: slices.DeleteFunc(slices.Clone(privileges), func(one string) bool { return !keep(one) })}
	}
	only := func(names ...string) *role {
		return with(func(one string) bool { return slices.Contains(names, one) })
	}
	vmUser := []string{"VM.Audit", "VM.Backup", "VM.Config.CDROM", "VM.Config.Cloudinit", "VM.Console", "VM.PowerMgmt", "VM.GuestAgent.Audit"}
	return map[string]*role{
		administrator: with(func(string) bool { return true }),
		"NoAccess":    only(),
		"PVEAdmin": with(func(one string) bool {
			return !slices.Contains([]string{"Permissions.Modify", "Realm.Allocate", "Sys.Modify", "Sys.PowerMgmt", "Sys.AccessNetwork", "Sys.Incoming"}, one)
		}),
		"PVEAuditor":        with(func(one string) bool { return strings.HasSuffix(one, ".Audit") }),
		"PVEDatastoreAdmin": with(func(one string) bool { return strings.HasPrefix(one, "Datastore.") }),
		"PVEDatastoreUser":  only("Datastore.AllocateSpace", "Datastore.Audit"),
		"PVEPoolAdmin":      only("Pool.Allocate", "Pool.Audit"),
		"PVEPoolUser":       only("Pool.Audit"),
		"PVESDNAdmin":       with(func(one string) bool { return strings.HasPrefix(one, "SDN.") }),
		"PVESDNUser":        only("SDN.Audit", "SDN.Use"),
		"PVESysAdmin":       only("Sys.Audit", "Sys.Console", "Sys.Syslog"),
		"PVETemplateUser":   only("VM.Audit", "VM.Clone"),
		"PVEUserAdmin":      only("Group.Allocate", "Realm.AllocateUser", "User.Modify"),
		"PVEVMAdmin":        with(func(one string) bool { return strings.HasPrefix(one, "VM.") }),
		"PVEVMUser":         only(vmUser...),
	}
}

// above are the paths from a path up to the root, the path first.
func above(path string) []string {
	var paths []string
	for path != "" && path != "/" {
		paths = append(paths, path)
		path = path[:strings.LastIndex(path, "/")]
	}
	return append(paths, "/")
}

// granted are the privileges of one user or token by the list of access: on the
// nearest path that says anything of them, if it holds below.
func (a *access) granted(path, id string, isToken bool) map[string]bool {
	found := map[string]bool{}
	for i, at := range above(path) {
		said := false
		for _, entry := range a.acl {
			if entry.path != at || entry.id != id || entry.isToken != isToken || i > 0 && !entry.propagate {
				continue
			}
			said = true
			for _, one := range a.roles[entry.role].privileges {
				found[one] = true
			}
		}
		if said {
			return found
		}
	}
	return found
}

// has says whether who calls has the privilege there. A token with privileges of
// its own has none that its user has not.
func (a *access) has(who *identityOf, path, privilege string) bool {
	if who.user != root && !a.granted(path, who.user, false)[privilege] {
		return false
	}
	if who.token == nil || !who.token.separate {
		return true
	}
	return a.granted(path, who.name(), true)[privilege]
}

// all and some want every one of the privileges, or one of them, on a path.
func (r *call) all(c *Cluster, path string, wanted ...string) error {
	for _, one := range wanted {
		if !c.access.has(r.who, path, one) {
			return forbidden(path, wanted)
		}
	}
	return nil
}

func (r *call) some(c *Cluster, path string, wanted ...string) error {
	for _, one := range wanted {
		if c.access.has(r.who, path, one) {
			return nil
		}
	}
	return forbidden(path, wanted)
}

// onVM wants every one of the privileges on a virtual machine, which those on
// its pool give as well.
func (r *call) onVM(c *Cluster, id int, inPool string, wanted ...string) error {
	path := vmPath(id)
	for _, one := range wanted {
		if !c.access.has(r.who, path, one) && (inPool == "" || !c.access.has(r.who, "/pool/"+inPool, one)) {
			return forbidden(path, wanted)
		}
	}
	return nil
}
