package access

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
)

// details are what a user can have beside an id.
var details = []string{"comment", "email", "firstname", "lastname", "keys"}

var userID = regexp.MustCompile(`^[^\s:/]+@(pam|pve)$`)

// mayChangeUsers returns an error if the caller may not add users to the realm
// of an id.
func (a *Access) mayChangeUsers(r *api.Call, id string) error {
	_, realm, _ := strings.Cut(id, "@")
	if err := r.All("/access/realm/"+realm, "Realm.AllocateUser"); err != nil {
		return err
	}
	return r.All("/access/groups", "User.Modify")
}

func (a *Access) user(r *api.Call) (*user, error) {
	id := r.PathValue("user")
	if found := a.users[id]; found != nil {
		return found, nil
	}
	return nil, api.Failure("no such user ('%s')", id)
}

func (u *user) view() map[string]any {
	view := map[string]any{"enable": 0, "expire": u.expires, "groups": []string{}}
	if u.enabled {
		view["enable"] = 1
	}
	for key, value := range u.details {
		view[key] = value
	}
	return view
}

func (a *Access) listUsers(r *api.Call) (any, error) {
	views := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(a.users)) {
		if id != r.Caller.User() && r.Some("/access/groups", "User.Modify", "Sys.Audit") != nil {
			continue
		}
		view := a.users[id].view()
		// Lists show groups in one text.
		view["userid"], view["groups"], view["realm-type"] = id, "", id[strings.LastIndex(id, "@")+1:]
		views = append(views, view)
	}
	return views, nil
}

func (a *Access) getUser(r *api.Call) (any, error) {
	found, err := a.user(r)
	if err != nil {
		return nil, err
	}
	if found.id != r.Caller.User() {
		if err := r.Some("/access/groups", "User.Modify", "Sys.Audit"); err != nil {
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

func (a *Access) createUser(r *api.Call) (any, error) {
	id, err := r.Params.Required("userid")
	if err != nil {
		return nil, err
	}
	if !userID.MatchString(id) {
		return nil, api.Invalid("userid", "invalid format - value '%s' does not look like a valid user name", id)
	}
	if err := a.mayChangeUsers(r, id); err != nil {
		return nil, err
	}
	if a.users[id] != nil {
		return nil, api.Failure("create user failed: user '%s' already exists", id)
	}
	made := newUser(id)
	if err := made.change(r.Params); err != nil {
		return nil, err
	}
	a.users[id] = made
	return nil, nil
}

// change sets the details of a user from a request.
func (u *user) change(given api.Params) error {
	expires, err := expiry(given)
	if err != nil {
		return err
	}
	if _, has := given["expire"]; has {
		u.expires = expires
	}
	if _, has := given["enable"]; has {
		u.enabled = given.Flag("enable")
	}
	if groups := api.List(given["groups"]); len(groups) > 0 {
		return api.Failure("group '%s' does not exist", groups[0])
	}
	for _, key := range details {
		if value, has := given[key]; has {
			u.details[key] = value
		}
	}
	return nil
}

func (a *Access) changeUser(r *api.Call) (any, error) {
	found, err := a.user(r)
	if err != nil {
		return nil, err
	}
	if err := r.All("/access/groups", "User.Modify"); err != nil {
		return nil, err
	}
	return nil, found.change(r.Params)
}

// deleteUser removes a user with its tokens and all its grants.
func (a *Access) deleteUser(r *api.Call) (any, error) {
	found, err := a.user(r)
	if err != nil {
		return nil, err
	}
	if err := a.mayChangeUsers(r, found.id); err != nil {
		return nil, err
	}
	delete(a.users, found.id)
	a.acl = slices.DeleteFunc(a.acl, func(one grant) bool {
		return one.id == found.id || strings.HasPrefix(one.id, found.id+"!")
	})
	return nil, nil
}

// mayChangeTokens returns an error if the caller is neither the user nor may
// change them.
func (a *Access) mayChangeTokens(r *api.Call, of *user) error {
	if of.id == r.Caller.User() {
		return nil
	}
	return r.All("/access/groups", "User.Modify")
}

// tokenOf returns the token that a path names, and its user. The caller may change it.
func (a *Access) tokenOf(r *api.Call) (*user, *token, error) {
	owner, err := a.user(r)
	if err != nil {
		return nil, nil, err
	}
	if err := a.mayChangeTokens(r, owner); err != nil {
		return nil, nil, err
	}
	found := owner.tokens[r.PathValue("tokenid")]
	if found == nil {
		return owner, nil, api.Failure("no such token '%s' for user '%s'", r.PathValue("tokenid"), owner.id)
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

func (a *Access) listTokens(r *api.Call) (any, error) {
	owner, err := a.user(r)
	if err != nil {
		return nil, err
	}
	if err := a.mayChangeTokens(r, owner); err != nil {
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

func (a *Access) getToken(r *api.Call) (any, error) {
	_, found, err := a.tokenOf(r)
	if err != nil {
		return nil, err
	}
	return found.view(), nil
}

// createToken adds a token, and answers with its secret, which is shown only once.
func (a *Access) createToken(r *api.Call) (any, error) {
	owner, err := a.user(r)
	if err != nil {
		return nil, err
	}
	if err := a.mayChangeTokens(r, owner); err != nil {
		return nil, err
	}
	id := r.PathValue("tokenid")
	if owner.tokens[id] != nil {
		return nil, api.Invalid("tokenid", "Token already exists.")
	}
	made := a.newToken(owner.id, id)
	made.separate = true
	if err := made.change(r.Params); err != nil {
		return nil, err
	}
	owner.tokens[id] = made
	return map[string]any{"full-tokenid": owner.id + "!" + id, "value": made.secret, "info": made.view()}, nil
}

// change sets the details of a token from a request.
func (t *token) change(given api.Params) error {
	expires, err := expiry(given)
	if err != nil {
		return err
	}
	if _, has := given["expire"]; has {
		t.expires = expires
	}
	if _, has := given["privsep"]; has {
		t.separate = given.Flag("privsep")
	}
	if comment, has := given["comment"]; has {
		t.comment = comment
	}
	return nil
}

func (a *Access) changeToken(r *api.Call) (any, error) {
	_, found, err := a.tokenOf(r)
	if err != nil {
		return nil, err
	}
	if err := found.change(r.Params); err != nil {
		return nil, err
	}
	return found.view(), nil
}

func (a *Access) deleteToken(r *api.Call) (any, error) {
	owner, found, err := a.tokenOf(r)
	if err != nil {
		return nil, err
	}
	delete(owner.tokens, found.id)
	name := owner.id + "!" + found.id
	a.acl = slices.DeleteFunc(a.acl, func(one grant) bool { return one.id == name })
	return nil, nil
}
