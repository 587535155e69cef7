package proxmox

import (
	"cmp"
	"net/http"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/faulthttp"
)

// ServeHTTP answers a request, after the faults that are armed for it.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service := faulthttp.Service{Faults: c.Faults, Subject: Subject, Life: c.life, Fail: respondFault}
	service.Serve(w, r, c.serve)
}

// respondFault answers with the error that a rule asks for, by its HTTP status.
func respondFault(w http.ResponseWriter, outcome *fault.Outcome) {
	status := faulthttp.Status(outcome)
	failed := &apiError{status: status, message: cmp.Or(outcome.Message, http.StatusText(status), "error")}
	respond(w, status, failed.message, failed.body())
}
