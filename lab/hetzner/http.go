package hetzner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// call is a request that came through.
type call struct {
	*http.Request
	// path are the path's variables.
	path map[string]string
}

// reply is an answer.
type reply struct {
	status int
	body   any
	// links is the Link header of a page.
	links string
}

// handler answers a call. The cloud is locked.
type handler func(*call) (reply, error)

func answer(body any) (reply, error)  { return reply{status: http.StatusOK, body: body}, nil }
func created(body any) (reply, error) { return reply{status: http.StatusCreated, body: body}, nil }
func nothing() (reply, error)         { return reply{status: http.StatusNoContent}, nil }

// serve answers a request that no fault has struck.
func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) {
	result, err := c.dispatch(w, r)
	if err != nil {
		var failed *apiError
		if !errors.As(err, &failed) {
			failed = &apiError{code: hcloud.ErrorCodeServerError, message: err.Error()}
		}
		result = reply{status: failed.status(), body: failed.body()}
	}
	if r.Method != http.MethodGet {
		c.Timeline.Record(subject, "call", r.Method+" "+r.URL.Path, "status", strconv.Itoa(result.status))
	}
	if result.links != "" {
		w.Header().Set("Link", result.links)
	}
	respond(w, result.status, result.body)
}

// dispatch is the way of a request: rate limit, token, route.
func (c *Cloud) dispatch(w http.ResponseWriter, r *http.Request) (reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Correlation-Id", fmt.Sprintf("%016x", c.identities.Number("request", "")))
	passes := c.rate.take(now())
	c.rate.tell(w.Header())
	if !passes {
		return reply{}, failure(hcloud.ErrorCodeRateLimitExceeded, "limit of %d requests per hour reached", c.rate.hourly)
	}
	token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !given || !c.knows(token) {
		return reply{}, failure(hcloud.ErrorCodeUnauthorized, "unable to authenticate")
	}
	found, path, err := c.router.find(r.Method, strings.TrimPrefix(r.URL.Path, "/v1"))
	if err != nil {
		return reply{}, err
	}
	return found(&call{Request: r, path: path})
}

func (c *Cloud) knows(token string) bool {
	if len(c.Tokens) == 0 {
		return len(token) == 64
	}
	return slices.Contains(c.Tokens, token)
}

func respond(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked may be gone
}

// id is that of the path.
func (r *call) id() (int64, error) {
	return parseID(r.path["id"])
}

func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, invalid("id", "must be a number")
	}
	return id, nil
}

// decode reads the request's body, which may be empty.
func (r *call) decode(into any) error {
	err := json.NewDecoder(r.Body).Decode(into)
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return failure(hcloud.ErrorCodeJSONError, "invalid JSON input: %s", err)
}

// find is the resource that the call's path names.
func find[T resource](r *call, in *registry[T]) (T, error) {
	id, err := r.id()
	if err != nil {
		var none T
		return none, err
	}
	return in.get(id)
}

// ask is the resource that the call's path names and what is asked of it.
func ask[Q any, T resource](r *call, in *registry[T]) (T, Q, error) {
	var asked Q
	found, err := find(r, in)
	if err == nil {
		err = r.decode(&asked)
	}
	return found, asked, err
}

// list answers with the page that is asked for of those that the name and the
// label selector leave.
func list[T resource, V any](r *call, key string, items []T, view func(T) V) (reply, error) {
	query := r.URL.Query()
	wanted, err := parseSelector(query.Get("label_selector"))
	if err != nil {
		return reply{}, invalid("label_selector", "%s", err)
	}
	name, named := query.Get("name"), query.Has("name")
	items = slices.DeleteFunc(slices.Clone(items), func(item T) bool {
		return named && item.base().name != name || !wanted.matches(item.base().labels)
	})
	return listSorted(r, key, items, view, recordOrders[T]())
}

// listSorted answers with the page that is asked for.
func listSorted[T, V any](r *call, key string, items []T, view func(T) V, fields map[string]order[T]) (reply, error) {
	query := r.URL.Query()
	items, err := sorted(items, query["sort"], fields)
	if err != nil {
		return reply{}, err
	}
	at, err := parsePage(query)
	if err != nil {
		return reply{}, err
	}
	items, where := cut(items, at)
	views := make([]V, 0, len(items))
	for _, item := range items {
		views = append(views, view(item))
	}
	base := *r.URL
	base.Scheme, base.Host = "http", r.Host
	return reply{status: http.StatusOK, body: map[string]any{key: views, "meta": meta{where}}, links: where.links(base)}, nil
}

// allowed leaves the items whose value is among those asked for, or all.
func allowed[T any](items []T, asked []string, value func(T) string) []T {
	if len(asked) == 0 {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !slices.Contains(asked, value(item)) })
}
