package proxmox

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/faulthttp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/access"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
)

// front receives the requests to the API.
type front struct {
	datacenter *datacenter.Datacenter
	access     *access.Access
	mux        *http.ServeMux
}

func newFront(in *datacenter.Datacenter, access *access.Access, all ...api.Routes) *front {
	f := &front{datacenter: in, access: access, mux: http.NewServeMux()}
	for _, routes := range all {
		for pattern, handler := range routes {
			method, path, _ := strings.Cut(pattern, " ")
			f.mux.Handle(method+" "+api.Prefix+path, f.handle(handler))
		}
	}
	// Only known callers are shown that the API does not know a path.
	f.mux.Handle("/", f.handle(func(r *api.Call) (any, error) { return nil, api.NotImplemented(r.Request) }))
	return f
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service := faulthttp.Service{Faults: f.datacenter.Faults, Subject: Subject, Life: f.datacenter.Life(), Fail: fail}
	service.Serve(w, r, f.serve)
}

// fail answers with the error of a fault, by its HTTP status.
func fail(w http.ResponseWriter, outcome *fault.Outcome) {
	status := faulthttp.Status(outcome)
	failed := &api.Error{Status: status, Message: cmp.Or(outcome.Message, http.StatusText(status), "error")}
	api.Respond(w, status, failed.Message, failed.Body())
}

// paramsKey is that of the parameters in the context of a request.
type paramsKey struct{}

// serve answers a request without a fault.
func (f *front) serve(w http.ResponseWriter, r *http.Request) {
	params, err := api.ReadParams(r)
	if err != nil {
		api.Respond(w, http.StatusBadRequest, err.Error(), map[string]any{"data": nil})
		return
	}
	// Some clients end a path with a slash.
	r.URL.Path, r.URL.RawPath = strings.TrimSuffix(r.URL.Path, "/"), strings.TrimSuffix(r.URL.RawPath, "/")
	// The standard library finds the handler, and passes it only the request.
	answered := &answer{}
	f.mux.ServeHTTP(answered, r.WithContext(context.WithValue(r.Context(), paramsKey{}, params)))
	status, message, body := answered.result(r)
	if r.Method != http.MethodGet {
		f.datacenter.Timeline.Record(Subject, "call", r.Method+" "+r.URL.Path, "status", strconv.Itoa(status))
	}
	api.Respond(w, status, message, body)
}

// answer receives the result of a handler, instead of a response.
type answer struct {
	http.ResponseWriter
	data any
	err  error
	done bool
}

func (a *answer) result(r *http.Request) (int, string, any) {
	if !a.done {
		a.err = api.NotImplemented(r)
	}
	if a.err != nil {
		failed := api.AsError(a.err)
		return failed.Status, failed.Message, failed.Body()
	}
	return http.StatusOK, "OK", map[string]any{"data": a.data}
}

// Header, Write and WriteHeader are for what the standard library answers by itself
// to a path without a handler.
func (a *answer) Header() http.Header         { return http.Header{} }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }
func (a *answer) WriteHeader(int)             {}

// stops are the changes that hosts also make without a quorum.
var stops = regexp.MustCompile(`/status/(stop|shutdown)$`)

// handle returns a handler for the standard library: it runs with the lock, for a known caller, on a host that answers.
func (f *front) handle(handler api.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := w.(*answer)
		a.done = true
		f.datacenter.Lock()
		defer f.datacenter.Unlock()
		if f.datacenter.Closed() {
			panic(http.ErrAbortHandler)
		}
		caller, err := f.access.Authenticate(r)
		if err == nil {
			err = f.datacenter.Reachable(r.PathValue("node"))
		}
		if err == nil && r.Method != http.MethodGet && !f.datacenter.Quorate() && !stops.MatchString(r.URL.Path) {
			err = api.Failure("cluster not ready - no quorum?")
		}
		if err != nil {
			a.err = err
			return
		}
		params, _ := r.Context().Value(paramsKey{}).(api.Params)
		a.data, a.err = handler(&api.Call{Request: r, Caller: caller, Params: params})
	}
}
