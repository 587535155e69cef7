// Package access defines who may do what in a cluster: users with their tokens, roles, and the list that grants roles on paths.
package access

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
)

// root may do everything.
const root = "root@pam"

// Access is the users of a cluster with their tokens, the roles, and the grants.
type Access struct {
	datacenter *datacenter.Datacenter
	roles      map[string]*role
	users      map[string]*user
	acl        []grant
}

type role struct {
	privileges []string
	special    bool
}

type user struct {
	id      string
	enabled bool
	// details are comment, email, names.
	details map[string]string
	expires int64
	tokens  map[string]*token
}

type token struct {
	id, secret, comment string
	// separate means that it has only the privileges that are granted to the token.
	separate bool
	expires  int64
}

// grant grants a role on a path to a user or a token.
type grant struct {
	path, id, role string
	isToken        bool
	propagate      bool
}

// New returns a cluster with the built-in roles and with root.
func New(in *datacenter.Datacenter) *Access {
	return &Access{datacenter: in, roles: builtInRoles(), users: map[string]*user{root: newUser(root)}}
}

func newUser(id string) *user {
	return &user{id: id, enabled: true, details: map[string]string{}, tokens: map[string]*token{}}
}

// caller is the user of a call.
type caller struct {
	access *Access
	user   string
	token  *token // or nil
}

// Name implements api.Caller.
func (c *caller) Name() string {
	if c.token == nil {
		return c.user
	}
	return c.user + "!" + c.token.id
}

// User implements api.Caller.
func (c *caller) User() string { return c.user }

// May implements api.Caller.
func (c *caller) May(path, privilege string) bool { return c.access.has(c, path, privilege) }

// AddToken adds a user with a token that may do everything, and returns the token as clients send it. It is called without the lock.
func (a *Access) AddToken(name, id string) string {
	a.datacenter.Lock()
	defer a.datacenter.Unlock()
	made := a.newToken(name, id)
	added := newUser(name)
	added.tokens[id] = made
	a.users[name] = added
	a.acl = append(a.acl, grant{path: "/", id: name, role: administrator, propagate: true})
	return name + "!" + id + "=" + made.secret
}

func (a *Access) newToken(user, id string) *token {
	return &token{id: id, secret: a.datacenter.Identities.UUID("token " + user + "!" + id)}
}

// Authenticate returns the caller by the API token of a request.
func (a *Access) Authenticate(r *http.Request) (api.Caller, error) {
	given, carried := strings.CutPrefix(r.Header.Get("Authorization"), "PVEAPIToken=")
	if !carried {
		return nil, api.Unauthorized("No ticket")
	}
	id, secret, complete := strings.Cut(given, "=")
	name, tokenID, named := strings.Cut(id, "!")
	if !complete || !named {
		return nil, api.Unauthorized("invalid PVE API token")
	}
	who := a.users[name]
	if who == nil {
		return nil, api.Unauthorized("no such user ('%s')", name)
	}
	its := who.tokens[tokenID]
	now := time.Now().Unix()
	switch {
	case its == nil:
		return nil, api.Unauthorized("no such token '%s' for user '%s'", tokenID, name)
	case !who.enabled:
		return nil, api.Unauthorized("user '%s' is disabled", name)
	case who.expires > 0 && who.expires < now:
		return nil, api.Unauthorized("user '%s' access expired", name)
	case its.expires > 0 && its.expires < now:
		return nil, api.Unauthorized("token '%s' access expired", tokenID)
	case its.secret != secret:
		return nil, api.Unauthorized("invalid token value!")
	}
	return &caller{access: a, user: name, token: its}, nil
}

// IsRoot reports whether a caller is root without a token.
func IsRoot(who api.Caller) bool { return who.Name() == root }

// Forget removes all grants on a path.
func (a *Access) Forget(path string) {
	a.acl = slices.DeleteFunc(a.acl, func(one grant) bool { return one.path == path })
}
