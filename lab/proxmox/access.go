package proxmox

import (
	"net/http"
	"strings"
	"time"
)

// root may do everything.
const root = "root@pam"

// access is who there is, and who may do what.
type access struct {
	roles map[string]*role
	users map[string]*user
	acl   []grant
}

type role struct {
	privileges []string
	special    bool
}

type user struct {
	id      string
	enabled bool
	// told is what else was said of them: comment, email, names.
	told    map[string]string
	expires int64
	tokens  map[string]*token
}

type token struct {
	id, secret, comment string
	// separate says that it has only the privileges that are granted to itself.
	separate bool
	expires  int64
}

// grant gives a role on a path to a user or a token.
type grant struct {
	path, id, role string
	isToken        bool
	propagate      bool
}

func newAccess() *access {
	return &access{
		roles: builtInRoles(),
		users: map[string]*user{root: {id: root, enabled: true, told: map[string]string{}, tokens: map[string]*token{}}},
	}
}

// identityOf is who calls.
type identityOf struct {
	user  string
	token *token
}

// name is "user@realm", or "user@realm!token".
func (i *identityOf) name() string {
	if i.token == nil {
		return i.user
	}
	return i.user + "!" + i.token.id
}

// AddToken makes a user with a token that may do everything, and returns the
// token as clients are given it.
func (c *Cluster) AddToken(name, id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.newToken(name, id)
	c.access.users[name] = &user{id: name, enabled: true, told: map[string]string{}, tokens: map[string]*token{id: made}}
	c.access.acl = append(c.access.acl, grant{path: "/", id: name, role: administrator, propagate: true})
	return name + "!" + id + "=" + made.secret
}

func (c *Cluster) newToken(user, id string) *token {
	return &token{id: id, secret: c.identities.UUID("token " + user + "!" + id)}
}

// authenticate finds out who calls, by the API token that the request carries.
func (c *Cluster) authenticate(r *http.Request) (*identityOf, error) {
	given, carried := strings.CutPrefix(r.Header.Get("Authorization"), "PVEAPIToken=")
	if !carried {
		return nil, unauthorized("No ticket")
	}
	id, secret, complete := strings.Cut(given, "=")
	name, tokenID, named := strings.Cut(id, "!")
	if !complete || !named {
		return nil, unauthorized("invalid PVE API token")
	}
	who := c.access.users[name]
	if who == nil {
		return nil, unauthorized("no such user ('%s')", name)
	}
	its := who.tokens[tokenID]
	now := time.Now().Unix()
	switch {
	case its == nil:
		return nil, unauthorized("no such token '%s' for user '%s'", tokenID, name)
	case !who.enabled:
		return nil, unauthorized("user '%s' is disabled", name)
	case who.expires > 0 && who.expires < now:
		return nil, unauthorized("user '%s' access expired", name)
	case its.expires > 0 && its.expires < now:
		return nil, unauthorized("token '%s' access expired", tokenID)
	case its.secret != secret:
		return nil, unauthorized("invalid token value!")
	}
	return &identityOf{user: name, token: its}, nil
}
