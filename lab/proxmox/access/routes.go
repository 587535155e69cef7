package access

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
)

// Routes returns the routes of access control.
func (a *Access) Routes() api.Routes {
	return api.Routes{
		"GET /access/roles":                           a.listRoles,
		"POST /access/roles":                          a.createRole,
		"GET /access/roles/{role}":                    a.getRole,
		"PUT /access/roles/{role}":                    a.changeRole,
		"DELETE /access/roles/{role}":                 a.deleteRole,
		"GET /access/users":                           a.listUsers,
		"POST /access/users":                          a.createUser,
		"GET /access/users/{user}":                    a.getUser,
		"PUT /access/users/{user}":                    a.changeUser,
		"DELETE /access/users/{user}":                 a.deleteUser,
		"GET /access/acl":                             a.listACL,
		"PUT /access/acl":                             a.changeACL,
		"GET /access/permissions":                     a.getPermissions,
		"GET /access/groups":                          func(*api.Call) (any, error) { return []any{}, nil },
		"GET /access/domains":                         a.listRealms,
		"GET /access/users/{user}/token":              a.listTokens,
		"GET /access/users/{user}/token/{tokenid}":    a.getToken,
		"POST /access/users/{user}/token/{tokenid}":   a.createToken,
		"PUT /access/users/{user}/token/{tokenid}":    a.changeToken,
		"DELETE /access/users/{user}/token/{tokenid}": a.deleteToken,
	}
}

func (a *Access) listRealms(*api.Call) (any, error) {
	return []map[string]any{
		{"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
		{"realm": "pve", "type": "pve", "comment": "Proxmox VE authentication server"},
	}, nil
}

// mayChangeRoles returns an error if the caller may not change roles.
func (a *Access) mayChangeRoles(r *api.Call) error { return r.All("/access", "Sys.Modify") }

// readPrivileges returns the privileges of a list, all of which must be known.
func readPrivileges(text string) ([]string, error) {
	asked := api.List(text)
	slices.Sort(asked)
	for _, one := range asked {
		if !slices.Contains(privileges, one) {
			return nil, api.Invalid("privs", "invalid format - invalid privilege '%s'", one)
		}
	}
	return slices.Compact(asked), nil
}

func (a *Access) listRoles(*api.Call) (any, error) {
	views := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(a.roles)) {
		one := a.roles[name]
		special := 0
		if one.special {
			special = 1
		}
		views = append(views, map[string]any{"roleid": name, "privs": strings.Join(one.privileges, ","), "special": special})
	}
	return views, nil
}

func (a *Access) role(r *api.Call) (string, *role, error) {
	name := r.PathValue("role")
	if found := a.roles[name]; found != nil {
		return name, found, nil
	}
	return name, nil, api.Failure("role '%s' does not exist", name)
}

func (a *Access) getRole(r *api.Call) (any, error) {
	_, found, err := a.role(r)
	if err != nil {
		return nil, err
	}
	view := map[string]any{}
	for _, one := range found.privileges {
		view[one] = 1
	}
	return view, nil
}

func (a *Access) createRole(r *api.Call) (any, error) {
	if err := a.mayChangeRoles(r); err != nil {
		return nil, err
	}
	name, err := r.Params.Required("roleid")
	if err != nil {
		return nil, err
	}
	if a.roles[name] != nil {
		return nil, api.Failure("create role failed: role '%s' already exists", name)
	}
	asked, err := readPrivileges(r.Params["privs"])
	if err != nil {
		return nil, err
	}
	a.roles[name] = &role{privileges: asked}
	return nil, nil
}

func (a *Access) changeRole(r *api.Call) (any, error) {
	name, found, err := a.ownRole(r)
	if err != nil {
		return nil, err
	}
	asked, err := readPrivileges(r.Params["privs"])
	if err != nil {
		return nil, err
	}
	if r.Params.Flag("append") {
		asked = slices.Concat(found.privileges, asked)
		slices.Sort(asked)
	}
	a.roles[name].privileges = slices.Compact(asked)
	return nil, nil
}

// ownRole is a role that is not built in.
func (a *Access) ownRole(r *api.Call) (string, *role, error) {
	if err := a.mayChangeRoles(r); err != nil {
		return "", nil, err
	}
	name, found, err := a.role(r)
	if err == nil && found.special {
		err = api.Failure("auto-generated role '%s' cannot be modified", name)
	}
	return name, found, err
}

func (a *Access) deleteRole(r *api.Call) (any, error) {
	name, _, err := a.ownRole(r)
	if err != nil {
		return nil, err
	}
	delete(a.roles, name)
	a.acl = slices.DeleteFunc(a.acl, func(one grant) bool { return one.role == name })
	return nil, nil
}

// listACL shows auditors everything, others what they may change.
func (a *Access) listACL(r *api.Call) (any, error) {
	views := []map[string]any{}
	for _, one := range a.acl {
		if r.All("/access", "Sys.Audit") != nil && r.All(one.path, "Permissions.Modify") != nil {
			continue
		}
		kind, propagate := "user", 0
		if one.isToken {
			kind = "token"
		}
		if one.propagate {
			propagate = 1
		}
		views = append(views, map[string]any{"path": one.path, "ugid": one.id, "roleid": one.role, "type": kind, "propagate": propagate})
	}
	return views, nil
}

// changeACL grants roles on a path to users and tokens, or revokes them.
func (a *Access) changeACL(r *api.Call) (any, error) {
	path, err := r.Params.Required("path")
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(path, "/") {
		return nil, api.Invalid("path", "invalid ACL path '%s'", path)
	}
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	if err := r.All(path, "Permissions.Modify"); err != nil {
		return nil, err
	}
	if r.Params["groups"] != "" {
		return nil, api.Failure("group '%s' does not exist", api.List(r.Params["groups"])[0])
	}
	var changed []grant
	for _, name := range api.List(r.Params["roles"]) {
		if a.roles[name] == nil {
			return nil, api.Failure("role '%s' does not exist", name)
		}
		base := grant{path: path, role: name, propagate: r.Params["propagate"] == "" || r.Params.Flag("propagate")}
		for _, id := range api.List(r.Params["users"]) {
			if a.users[id] == nil {
				return nil, api.Failure("user '%s' does not exist", id)
			}
			base.id, base.isToken = id, false
			changed = append(changed, base)
		}
		for _, id := range api.List(r.Params["tokens"]) {
			who, its, _ := strings.Cut(id, "!")
			if owner := a.users[who]; owner == nil || owner.tokens[its] == nil {
				return nil, api.Failure("no such token '%s' for user '%s'", its, who)
			}
			base.id, base.isToken = id, true
			changed = append(changed, base)
		}
	}
	for _, one := range changed {
		a.acl = slices.DeleteFunc(a.acl, func(other grant) bool {
			return other.path == one.path && other.id == one.id && other.role == one.role && other.isToken == one.isToken
		})
		if !r.Params.Flag("delete") {
			a.acl = append(a.acl, one)
		}
	}
	return nil, nil
}

// getPermissions shows what the caller may do: on all paths of the access control list, or on the requested one.
func (a *Access) getPermissions(r *api.Call) (any, error) {
	paths := []string{"/", "/access", "/nodes", "/pool", "/storage", "/vms", "/sdn"}
	asked := r.Params["path"]
	if asked != "" {
		paths = []string{asked}
	} else {
		for _, one := range a.acl {
			paths = append(paths, one.path)
		}
	}
	views := map[string]any{}
	for _, path := range paths {
		found := map[string]any{}
		for _, one := range privileges {
			if r.Caller.May(path, one) {
				found[one] = 1
			}
		}
		if len(found) > 0 || path == asked {
			views[path] = found
		}
	}
	return views, nil
}

// expiry reads a time, or 0 for never.
func expiry(given api.Params) (int64, error) {
	text, has := given["expire"]
	if !has {
		return 0, nil
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, api.Invalid("expire", "type check ('integer') failed - got '%s'", text)
	}
	return value, nil
}
