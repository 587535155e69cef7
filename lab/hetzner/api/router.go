package api

import (
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Routes are handlers by pattern, such as "GET /servers/{id}".
type Routes map[string]Handler

// Router finds the handler of a request. That of the standard library refuses
// /servers/{id}/actions together with /servers/actions/{id}.
type Router struct {
	handlers map[string]Handler
	literals map[string]*Router
	// variable matches any segment; name is the name of the variable.
	variable *Router
	name     string
}

// NewRouter returns a router of all these routes.
func NewRouter(all ...Routes) *Router {
	root := newNode()
	for _, routes := range all {
		for pattern, handler := range routes {
			method, path, _ := strings.Cut(pattern, " ")
			at := root
			for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
				at = at.child(segment)
			}
			at.handlers[method] = handler
		}
	}
	return root
}

func newNode() *Router {
	return &Router{handlers: map[string]Handler{}, literals: map[string]*Router{}}
}

func (r *Router) child(segment string) *Router {
	if name, variable := strings.CutPrefix(segment, "{"); variable {
		if r.variable == nil {
			r.variable = newNode()
			r.variable.name = strings.TrimSuffix(name, "}")
		}
		return r.variable
	}
	if r.literals[segment] == nil {
		r.literals[segment] = newNode()
	}
	return r.literals[segment]
}

// Find returns the handler of a request and the variables of its path.
func (r *Router) Find(method, path string) (Handler, map[string]string, error) {
	variables := map[string]string{}
	at := r.walk(strings.Split(strings.Trim(path, "/"), "/"), variables)
	if at == nil {
		return nil, nil, Failure(hcloud.ErrorCodeNotFound, "the requested resource %s was not found", path)
	}
	handler, known := at.handlers[method]
	if !known {
		return nil, nil, Failure(CodeMethodNotAllowed, "method %s is not allowed", method)
	}
	return handler, variables, nil
}

// walk follows the segments; a literal has precedence over a variable.
func (r *Router) walk(segments []string, variables map[string]string) *Router {
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
