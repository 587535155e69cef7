package hetzner

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/faulthttp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

// front receives the requests to the API.
type front struct {
	project *project.Project
	tokens  []string
	rate    *api.RateLimit
	router  *api.Router
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service := faulthttp.Service{Faults: f.project.Faults, Subject: project.Subject, Life: f.project.Life(), Fail: fail}
	service.Serve(w, r, f.serve)
}

// serve answers a request without a fault.
func (f *front) serve(w http.ResponseWriter, r *http.Request) {
	reply, err := f.dispatch(w, r)
	if err != nil {
		reply = api.ReplyOf(err)
	}
	if r.Method != http.MethodGet {
		f.project.Timeline.Record(project.Subject, "call", r.Method+" "+r.URL.Path, "status", strconv.Itoa(reply.Status))
	}
	reply.Write(w)
}

// dispatch checks rate limit and token, and calls the handler while holding the lock.
func (f *front) dispatch(w http.ResponseWriter, r *http.Request) (api.Reply, error) {
	f.project.Lock()
	defer f.project.Unlock()
	if f.project.Closed() {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Correlation-Id", fmt.Sprintf("%016x", f.project.Identities.Number("request", "")))
	passes := f.rate.Take(project.Now())
	f.rate.Report(w.Header())
	if !passes {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeRateLimitExceeded, "limit of %d requests per hour reached", f.rate.Hourly)
	}
	token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !given || !f.isValid(token) {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeUnauthorized, "unable to authenticate")
	}
	handler, path, err := f.router.Find(r.Method, strings.TrimPrefix(r.URL.Path, "/v1"))
	if err != nil {
		return api.Reply{}, err
	}
	return handler(&api.Call{Request: r, Path: path})
}

func (f *front) isValid(token string) bool {
	if len(f.tokens) == 0 {
		return len(token) == 64
	}
	return slices.Contains(f.tokens, token)
}

// usualCodes are the codes that the API usually returns with a status. Other statuses are answered by a proxy in front of the API, in its own words.
var usualCodes = map[int]hcloud.ErrorCode{
	http.StatusBadRequest:          hcloud.ErrorCodeJSONError,
	http.StatusUnauthorized:        hcloud.ErrorCodeUnauthorized,
	http.StatusForbidden:           hcloud.ErrorCodeForbidden,
	http.StatusNotFound:            hcloud.ErrorCodeNotFound,
	http.StatusConflict:            hcloud.ErrorCodeConflict,
	http.StatusPreconditionFailed:  hcloud.ErrorCodeResourceUnavailable,
	http.StatusUnprocessableEntity: hcloud.ErrorCodeServiceError,
	http.StatusLocked:              hcloud.ErrorCodeLocked,
	http.StatusTooManyRequests:     hcloud.ErrorCodeRateLimitExceeded,
	http.StatusInternalServerError: hcloud.ErrorCodeServerError,
	http.StatusServiceUnavailable:  api.CodeUnavailable,
}

// fail answers with the error of a fault, which names an HTTP status or a code of
// the API.
func fail(w http.ResponseWriter, outcome *fault.Outcome) {
	failed := &api.Error{
		Code:    hcloud.ErrorCode(cmp.Or(outcome.Code, string(hcloud.ErrorCodeServerError))),
		Message: cmp.Or(outcome.Message, "an error occurred"),
	}
	status, err := strconv.Atoi(outcome.Code)
	if err != nil {
		api.ReplyOf(failed).Write(w)
		return
	}
	code, known := usualCodes[status]
	if !known {
		http.Error(w, http.StatusText(status), status)
		return
	}
	failed.Code = code
	api.Reply{Status: status, Body: failed.Body()}.Write(w)
}
