package proxmox

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// told is what may be said of a user.
var told = []string{"comment", "email", "firstname", "lastname", "keys"}

var userID = regexp.MustCompile(`^[^\s:/]+@(pam|pve)$`)

// mayChangeUsers is for who may make users, of which each realm has its own.
func (c *Cluster) mayChangeUsers(r *call, id string) error {
	_, realm, _ := strings.Cut(id, "@")
	if err := r.all(c, "/access/realm/"+realm, "Realm.AllocateUser"); err != nil {
		return err
	}
	return r.all(c, "/access/groups", "User.Modify")
}

func (c *Cluster) user(r *call) (*user, error) {
	id := r.PathValue("user")
	if found := c.access.users[id]; found != nil {
		return found, nil
	}
	return nil, failure("no such user ('%s')", id)
}

func (u *user) view() map[string]any {
	view := map[string]any{"enable": 0, "expire": u.expires, "groups": []string{}}
	if u.enabled {
		view["enable"] = 1
	}
	for key, value := range u.told {
		view[key] = value
	}
	return view
}

func (c *Cluster) listUsers(r *call) (any, error) {
	views := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(c.access.users)) {
		if id != r.who.user && r.some(c, "/access/groups", "User.Modify", "Sys.Audit") != nil {
			continue
		}
		view := c.access.users[id].view()
		// Lists show groups in one text.
		view["userid"], view["groups"], view["realm-type"] = id, "", id[strings.LastIndex(id, "@")+1:]
		views = append(views, view)
	}
	return views, nil
}

func (c *Cluster) getUser(r *call) (any, error) {
	found, err := c.user(r)
	if err != nil {
		return nil, err
	}
	if found.id != r.who.user {
		if err := r.some(c, "/access/groups", "User.Modify", "Sys.Audit"); err != nil {
			return nil, err
		}
	}
	view := found.view()
	tokens := map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(found.tokens)) {
		tokens[id] = found.tokens[id].view()
	}
	view["tokens"] = tokens
	return view, nil
}

func (c *Cluster) createUser(r *call) (any, error) {
	id, err := r.params.required("userid")
	if err != nil {
		return nil, err
	}
	if !userID.MatchString(id) {
		return nil, invalid("userid", "invalid format - value '%s' does not look like a valid user name", id)
	}
	if err := c.mayChangeUsers(r, id); err != nil {
		return nil, err
	}
	if c.access.users[id] != nil {
		return nil, failure("create user failed: user '%s' already exists", id)
	}
	made := &user{id: id, enabled: true, told: map[string]string{}, tokens: map[string]*token{}}
	if err := made.change(r.params); err != nil {
		return nil, err
	}
	c.access.users[id] = made
	return nil, nil
}

// change takes over what is said of a user.
func (u *user) change(given params) error {
	expires, err := expiry(given)
	if err != nil {
		return err
	}
	if _, has := given["expire"]; has {
		u.expires = expires
	}
	if _, has := given["enable"]; has {
		u.enabled = given.flag("enable")
	}
	if groups := list(given["groups"]); len(groups) > 0 {
		return failure("group '%s' does not exist", groups[0])
	}
	for _, key := range told {
		if value, has := given[key]; has {
			u.told[key] = value
		}
	}
	return nil
}

func (c *Cluster) changeUser(r *call) (any, error) {
	found, err := c.user(r)
	if err != nil {
		return nil, err
	}
	if err := r.all(c, "/access/groups", "User.Modify"); err != nil {
		return nil, err
	}
	return nil, found.change(r.params)
}

// deleteUser removes one with its tokens and all that was granted to them.
func (c *Cluster) deleteUser(r *call) (any, error) {
	found, err := c.user(r)
	if err != nil {
		return nil, err
	}
	if err := c.mayChangeUsers(r, found.id); err != nil {
		return nil, err
	}
	delete(c.access.users, found.id)
	c.access.acl = slices.DeleteFunc(c.access.acl, func(one grant) bool {
		return one.id == found.id || strings.HasPrefix(one.id, found.id+"!")
	})
	return nil, nil
}

// mayChangeTokens is for the user themselves and who may change them.
func (c *Cluster) mayChangeTokens(r *call, of *user) error {
	if of.id == r.who.user {
		return nil
	}
	return r.all(c, "/access/groups", "User.Modify")
}

// tokenOf is the one that a path names, of a user whose tokens who calls may change.
func (c *Cluster) tokenOf(r *call) (*user, *token, error) {
	owner, err := c.user(r)
	if err != nil {
		return nil, nil, err
	}
	if err := c.mayChangeTokens(r, owner); err != nil {
		return nil, nil, err
	}
	found := owner.tokens[r.PathValue("tokenid")]
	if found == nil {
		return owner, nil, failure("no such token '%s' for user '%s'", r.PathValue("tokenid"), owner.id)
	}
	return owner, found, nil
}

func (t *token) view() map[string]any {
	view := map[string]any{"expire": t.expires, "privsep": 0}
	if t.separate {
		view["privsep"] = 1
	}
	if t.comment != "" {
		view["comment"] = t.comment
	}
	return view
}

func (c *Cluster) listTokens(r *call) (any, error) {
	owner, err := c.user(r)
	if err != nil {
		return nil, err
	}
	if err := c.mayChangeTokens(r, owner); err != nil {
		return nil, err
	}
	views := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(owner.tokens)) {
		view := owner.tokens[id].view()
		view["tokenid"] = id
		views = append(views, view)
	}
	return views, nil
}

func (c *Cluster) getToken(r *call) (any, error) {
	_, found, err := c.tokenOf(r)
	if err != nil {
		return nil, err
	}
	return found.view(), nil
}

// createToken makes one and tells its secret, once.
func (c *Cluster) createToken(r *call) (any, error) {
	owner, err := c.user(r)
	if err != nil {
		return nil, err
	}
	if err := c.mayChangeTokens(r, owner); err != nil {
		return nil, err
	}
	id := r.PathValue("tokenid")
	if owner.tokens[id] != nil {
		return nil, invalid("tokenid", "Token already exists.")
	}
	made := c.newToken(owner.id, id)
	made.separate = true
	if err := made.change(r.params); err != nil {
		return nil, err
	}
	owner.tokens[id] = made
	return map[string]any{"full-tokenid": owner.id + "!" + id, "value": made.secret, "info": made.view()}, nil
}

// change takes over what is said of a token.
func (t *token) change(given params) error {
	expires, err := expiry(given)
	if err != nil {
		return err
	}
	if _, has := given["expire"]; has {
		t.expires = expires
	}
	if _, has := given["privsep"]; has {
		t.separate = given.flag("privsep")
	}
	if comment, has := given["comment"]; has {
		t.comment = comment
	}
	return nil
}

func (c *Cluster) changeToken(r *call) (any, error) {
	_, found, err := c.tokenOf(r)
	if err != nil {
		return nil, err
	}
	if err := found.change(r.params); err != nil {
		return nil, err
	}
	return found.view(), nil
}

func (c *Cluster) deleteToken(r *call) (any, error) {
	owner, found, err := c.tokenOf(r)
	if err != nil {
		return nil, err
	}
	delete(owner.tokens, found.id)
	name := owner.id + "!" + found.id
	c.access.acl = slices.DeleteFunc(c.access.acl, func(one grant) bool { return one.id == name })
	return nil, nil
}
