package proxmox

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

func (c *Cluster) accessRoutes() map[string]handler {
	return map[string]handler{
		"GET /access/roles":                           c.listRoles,
		"POST /access/roles":                          c.createRole,
		"GET /access/roles/{role}":                    c.getRole,
		"PUT /access/roles/{role}":                    c.changeRole,
		"DELETE /access/roles/{role}":                 c.deleteRole,
		"GET /access/users":                           c.listUsers,
		"POST /access/users":                          c.createUser,
		"GET /access/users/{user}":                    c.getUser,
		"PUT /access/users/{user}":                    c.changeUser,
		"DELETE /access/users/{user}":                 c.deleteUser,
		"GET /access/acl":                             c.listACL,
		"PUT /access/acl":                             c.changeACL,
		"GET /access/permissions":                     c.getPermissions,
		"GET /access/groups":                          func(*call) (any, error) { return []any{}, nil },
		"GET /access/domains":                         c.listRealms,
		"GET /access/users/{user}/token":              c.listTokens,
		"GET /access/users/{user}/token/{tokenid}":    c.getToken,
		"POST /access/users/{user}/token/{tokenid}":   c.createToken,
		"PUT /access/users/{user}/token/{tokenid}":    c.changeToken,
		"DELETE /access/users/{user}/token/{tokenid}": c.deleteToken,
	}
}

func (c *Cluster) listRealms(*call) (any, error) {
	return []map[string]any{
		{"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
		{"realm": "pve", "type": "pve", "comment": "Proxmox VE authentication server"},
	}, nil
}

// mayChangeRoles is for who may change who may do what.
func (c *Cluster) mayChangeRoles(r *call) error { return r.all(c, "/access", "Sys.Modify") }

// readPrivileges are those of a list; all of them are known.
func readPrivileges(text string) ([]string, error) {
	asked := list(text)
	slices.Sort(asked)
	for _, one := range asked {
		if !slices.Contains(privileges, one) {
			return nil, invalid("privs", "invalid format - invalid privilege '%s'", one)
		}
	}
	return slices.Compact(asked), nil
}

func (c *Cluster) listRoles(*call) (any, error) {
	views := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(c.access.roles)) {
		one := c.access.roles[name]
		special := 0
		if one.special {
			special = 1
		}
		views = append(views, map[string]any{"roleid": name, "privs": strings.Join(one.privileges, ","), "special": special})
	}
	return views, nil
}

func (c *Cluster) role(r *call) (string, *role, error) {
	name := r.PathValue("role")
	if found := c.access.roles[name]; found != nil {
		return name, found, nil
	}
	return name, nil, failure("role '%s' does not exist", name)
}

func (c *Cluster) getRole(r *call) (any, error) {
	_, found, err := c.role(r)
	if err != nil {
		return nil, err
	}
	view := map[string]any{}
	for _, one := range found.privileges {
		view[one] = 1
	}
	return view, nil
}

func (c *Cluster) createRole(r *call) (any, error) {
	if err := c.mayChangeRoles(r); err != nil {
		return nil, err
	}
	name, err := r.params.required("roleid")
	if err != nil {
		return nil, err
	}
	if c.access.roles[name] != nil {
		return nil, failure("create role failed: role '%s' already exists", name)
	}
	asked, err := readPrivileges(r.params["privs"])
	if err != nil {
		return nil, err
	}
	c.access.roles[name] = &role{privileges: asked}
	return nil, nil
}

func (c *Cluster) changeRole(r *call) (any, error) {
	name, found, err := c.ownRole(r)
	if err != nil {
		return nil, err
	}
	asked, err := readPrivileges(r.params["privs"])
	if err != nil {
		return nil, err
	}
	if r.params.flag("append") {
		asked = slices.Concat(found.privileges, asked)
		slices.Sort(asked)
	}
	c.access.roles[name].privileges = slices.Compact(asked)
	return nil, nil
}

// ownRole is a role that does not come with Proxmox.
func (c *Cluster) ownRole(r *call) (string, *role, error) {
	if err := c.mayChangeRoles(r); err != nil {
		return "", nil, err
	}
	name, found, err := c.role(r)
	if err == nil && found.special {
		err = failure("auto-generated role '%s' cannot be modified", name)
	}
	return name, found, err
}

func (c *Cluster) deleteRole(r *call) (any, error) {
	name, _, err := c.ownRole(r)
	if err != nil {
		return nil, err
	}
	delete(c.access.roles, name)
	c.access.acl = slices.DeleteFunc(c.access.acl, func(one grant) bool { return one.role == name })
	return nil, nil
}

// listACL shows who may see all of it everything, others what they may change.
func (c *Cluster) listACL(r *call) (any, error) {
	views := []map[string]any{}
	for _, one := range c.access.acl {
		if r.all(c, "/access", "Sys.Audit") != nil && r.all(c, one.path, "Permissions.Modify") != nil {
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

// changeACL gives roles on a path to users and tokens, or takes them away.
func (c *Cluster) changeACL(r *call) (any, error) {
	path, err := r.params.required("path")
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(path, "/") {
		return nil, invalid("path", "invalid ACL path '%s'", path)
	}
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	if err := r.all(c, path, "Permissions.Modify"); err != nil {
		return nil, err
	}
	if r.params["groups"] != "" {
		return nil, failure("group '%s' does not exist", list(r.params["groups"])[0])
	}
	var changed []grant
	for _, name := range list(r.params["roles"]) {
		if c.access.roles[name] == nil {
			return nil, failure("role '%s' does not exist", name)
		}
		base := grant{path: path, role: name, propagate: r.params["propagate"] == "" || r.params.flag("propagate")}
		for _, id := range list(r.params["users"]) {
			if c.access.users[id] == nil {
				return nil, failure("user '%s' does not exist", id)
			}
			base.id, base.isToken = id, false
			changed = append(changed, base)
		}
		for _, id := range list(r.params["tokens"]) {
			who, its, _ := strings.Cut(id, "!")
			if owner := c.access.users[who]; owner == nil || owner.tokens[its] == nil {
				return nil, failure("no such token '%s' for user '%s'", its, who)
			}
			base.id, base.isToken = id, true
			changed = append(changed, base)
		}
	}
	for _, one := range changed {
		c.access.acl = slices.DeleteFunc(c.access.acl, func(other grant) bool {
			return other.path == one.path && other.id == one.id && other.role == one.role && other.isToken == one.isToken
		})
		if !r.params.flag("delete") {
			c.access.acl = append(c.access.acl, one)
		}
	}
	return nil, nil
}

// getPermissions shows what who calls may do on the paths that anything is said
// of, or on the one that is asked for.
func (c *Cluster) getPermissions(r *call) (any, error) {
	paths := []string{"/", "/access", "/nodes", "/pool", "/storage", "/vms", "/sdn"}
	if asked := r.params["path"]; asked != "" {
		paths = []string{asked}
	} else {
		for _, one := range c.access.acl {
			paths = append(paths, one.path)
		}
	}
	views := map[string]any{}
	for _, path := range paths {
		found := map[string]any{}
		for _, one := range privileges {
			if c.access.has(r.who, path, one) {
				found[one] = 1
			}
		}
		if len(found) > 0 {
			views[path] = found
		}
	}
	return views, nil
}

// expiry reads a time, or 0 for never.
func expiry(given params) (int64, error) {
	text, has := given["expire"]
	if !has {
		return 0, nil
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, invalid("expire", "type check ('integer') failed - got '%s'", text)
	}
	return value, nil
}
