package hetzner

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/faulthttp"
)

// ServeHTTP answers a request, after the faults that are armed for it.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service := faulthttp.Service{Faults: c.Faults, Subject: subject, Life: c.life, Fail: respondFault}
	service.Serve(w, r, c.serve)
}

// usualCodes are what the API most often means by a status. What stands in
// front of the API answers the others, in its own words.
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
	http.StatusServiceUnavailable:  errorCodeUnavailable,
}

// respondFault answers with the error that a rule asks for, which names an HTTP
// status or a code of the API.
func respondFault(w http.ResponseWriter, outcome *fault.Outcome) {
	failed := &apiError{
		code:    hcloud.ErrorCode(cmp.Or(outcome.Code, string(hcloud.ErrorCodeServerError))),
		message: cmp.Or(outcome.Message, "an error occurred"),
	}
	status, err := strconv.Atoi(outcome.Code)
	if err != nil {
		respond(w, failed.status(), failed.body())
		return
	}
	code, known := usualCodes[status]
	if !known {
		http.Error(w, http.StatusText(status), status)
		return
	}
	failed.code = code
	respond(w, status, failed.body())
}
