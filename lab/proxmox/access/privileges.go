package access

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

// builtInRoles returns those that every cluster has.
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

// above returns a path and the paths above it, up to the root.
func above(path string) []string {
	var paths []string
	for path != "" && path != "/" {
		paths = append(paths, path)
		path = path[:strings.LastIndex(path, "/")]
	}
	return append(paths, "/")
}

// granted returns the privileges of one user or token from the access control list: those on the nearest path with an entry for it.
func (a *Access) granted(path, id string, isToken bool) map[string]bool {
	found := map[string]bool{}
	for i, at := range above(path) {
		listed := false
		for _, entry := range a.acl {
			if entry.path != at || entry.id != id || entry.isToken != isToken || i > 0 && !entry.propagate {
				continue
			}
			listed = true
			for _, one := range a.roles[entry.role].privileges {
				found[one] = true
			}
		}
		if listed {
			return found
		}
	}
	return found
}

// has reports whether a caller has a privilege on a path. A token with separate privileges never has more than its user.
func (a *Access) has(who *caller, path, privilege string) bool {
	if who.user != root && !a.granted(path, who.user, false)[privilege] {
		return false
	}
	if who.token == nil || !who.token.separate {
		return true
	}
	return a.granted(path, who.Name(), true)[privilege]
}
