package hetzner

import (
	"maps"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// router finds the handler of a path. The standard library's does not take
// /servers/{id}/actions together with /servers/actions/{id}.
type router struct {
	handlers map[string]handler
	literals map[string]*router
	// variable takes any segment, and name is what it is called.
	variable *router
	name     string
}

func newRouter() *router {
	return &router{handlers: map[string]handler{}, literals: map[string]*router{}}
}

// add takes a pattern such as "GET /servers/{id}".
func (r *router) add(pattern string, its handler) {
	method, path, _ := strings.Cut(pattern, " ")
	at := r
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		at = at.child(segment)
	}
	at.handlers[method] = its
}

func (r *router) child(segment string) *router {
	if name, variable := strings.CutPrefix(segment, "{"); variable {
		if r.variable == nil {
			r.variable = newRouter()
			r.variable.name = strings.TrimSuffix(name, "}")
		}
		return r.variable
	}
	if r.literals[segment] == nil {
		r.literals[segment] = newRouter()
	}
	return r.literals[segment]
}

// find gives the handler and the path's variables.
func (r *router) find(method, path string) (handler, map[string]string, error) {
	variables := map[string]string{}
	at := r.walk(strings.Split(strings.Trim(path, "/"), "/"), variables)
	if at == nil {
		return nil, nil, failure(hcloud.ErrorCodeNotFound, "the requested resource %s was not found", path)
	}
	its, known := at.handlers[method]
	if !known {
		return nil, nil, failure(errorCodeMethodNotAllowed, "method %s is not allowed", method)
	}
	return its, variables, nil
}

// walk follows the segments; a word wins over a variable.
func (r *router) walk(segments []string, variables map[string]string) *router {
	if len(segments) == 0 {
		if len(r.handlers) == 0 {
			return nil
		}
		return r
	}
	if next := r.literals[segments[0]]; next != nil {
		if found := next.walk(segments[1:], variables); found != nil {
			return found
		}
	}
	if r.variable == nil {
		return nil
	}
	found := r.variable.walk(segments[1:], variables)
	if found != nil {
		variables[r.variable.name] = segments[0]
	}
	return found
}

// routes are all that the API knows.
func (c *Cloud) routes() *router {
	all := map[string]handler{}
	for _, family := range []map[string]handler{
		c.actionRoutes(), c.catalogRoutes(), c.imageRoutes(), c.sshKeyRoutes(), c.networkRoutes(), c.placementGroupRoutes(),
		c.firewallRoutes(), c.primaryIPRoutes(), c.floatingIPRoutes(), c.volumeRoutes(),
		c.serverRoutes(), c.serverActionRoutes(), c.loadBalancerRoutes(), c.loadBalancerActionRoutes(),
	} {
		maps.Copy(all, family)
	}
	made := newRouter()
	for pattern, its := range all {
		made.add(pattern, its)
	}
	return made
}
