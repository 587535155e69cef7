package proxmox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// prefix is of every path of the API.
const prefix = "/api2/json"

// call is a request that came through.
type call struct {
	*http.Request
	who    *identityOf
	params params
}

// handler answers a call. The cluster is locked.
type handler func(*call) (any, error)

// serve answers a request that no fault has struck.
func (c *Cluster) serve(w http.ResponseWriter, r *http.Request) {
	asked, err := readParams(r)
	if err != nil {
		respond(w, http.StatusBadRequest, err.Error(), map[string]any{"data": nil})
		return
	}
	// Some clients end a path with a slash.
	r.URL.Path, r.URL.RawPath = strings.TrimSuffix(r.URL.Path, "/"), strings.TrimSuffix(r.URL.RawPath, "/")
	// The handler is found by the standard library, which hands it the request alone.
	answered := &answer{}
	c.mux.ServeHTTP(answered, r.WithContext(withParams(r.Context(), asked)))
	status, message, body := answered.result(r)
	if r.Method != http.MethodGet {
		c.Timeline.Record(Subject, "call", r.Method+" "+r.URL.Path, "status", strconv.Itoa(status))
	}
	respond(w, status, message, body)
}

// answer takes what a handler gives in place of a response.
type answer struct {
	http.ResponseWriter
	data any
	err  error
	done bool
}

func (a *answer) result(r *http.Request) (int, string, any) {
	if !a.done {
		a.err = notImplemented(r)
	}
	if a.err != nil {
		told := asAPIError(a.err)
		return told.status, told.message, told.body()
	}
	return http.StatusOK, "OK", map[string]any{"data": a.data}
}

// Header, Write and WriteHeader are for what the standard library says by
// itself of a path that nobody handles.
func (a *answer) Header() http.Header         { return http.Header{} }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }
func (a *answer) WriteHeader(int)             {}

// stops are the changes that hosts make also when they are the smaller half.
var stops = regexp.MustCompile(`/status/(stop|shutdown)$`)

// handle is a handler as the standard library takes it: who calls is known
// before anything is done.
func (c *Cluster) handle(its handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := w.(*answer)
		a.done = true
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closed {
			panic(http.ErrAbortHandler)
		}
		who, err := c.authenticate(r)
		if err == nil {
			err = c.reachable(r.PathValue("node"))
		}
		if err == nil && r.Method != http.MethodGet && !c.quorate() && !stops.MatchString(r.URL.Path) {
			err = failure("cluster not ready - no quorum?")
		}
		if err != nil {
			a.err = err
			return
		}
		a.data, a.err = its(&call{Request: r, who: who, params: paramsOf(r.Context())})
	}
}

// routes are all that the API knows.
func (c *Cluster) routes() *http.ServeMux {
	mux := http.NewServeMux()
	all := map[string]handler{}
	for _, family := range []map[string]handler{
		c.clusterRoutes(), c.nodeRoutes(), c.taskRoutes(), c.storageRoutes(), c.vmRoutes(), c.powerRoutes(), c.agentRoutes(),
		c.migrationRoutes(), c.poolRoutes(), c.accessRoutes(),
	} {
		maps.Copy(all, family)
	}
	for pattern, its := range all {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(method+" "+prefix+path, c.handle(its))
	}
	// What the API does not know is told to those only whom it knows.
	mux.Handle("/", c.handle(func(r *call) (any, error) { return nil, notImplemented(r.Request) }))
	return mux
}

// respond answers with a status line of its own words, which only an answer that
// is written by hand can have: clients show it to people.
func respond(w http.ResponseWriter, status int, message string, body any) {
	if status == http.StatusOK {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		_ = json.NewEncoder(w).Encode(body) // whoever asked may be gone
		return
	}
	text, err := json.Marshal(body)
	hijacker, can := w.(http.Hijacker)
	if err != nil || !can {
		http.Error(w, message, status)
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		http.Error(w, message, status)
		return
	}
	defer conn.Close()
	line, _, _ := strings.Cut(message, "\n")
	var whole bytes.Buffer
	fmt.Fprintf(&whole, "HTTP/1.1 %d %s\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", status, line, len(text))
	whole.Write(text)
	_, _ = conn.Write(whole.Bytes()) // as above
}
