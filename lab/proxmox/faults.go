package proxmox

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// ServeHTTP answers a request, after the faults that are armed for it.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	outcome, err := c.Faults.Meet(r.Context(), fault.Point{On: fault.Cloud, Name: r.Method + " " + r.URL.Path, Subject: Subject})
	if err != nil {
		panic(http.ErrAbortHandler) // nobody waits for an answer any more
	}
	if outcome == nil {
		c.serve(w, r)
		return
	}
	switch outcome.Do {
	case fault.Fail:
		status, err := strconv.Atoi(outcome.Code)
		if err != nil || status < 400 || status > 599 {
			status = http.StatusInternalServerError
		}
		failed := &apiError{status: status, message: cmp.Or(outcome.Message, http.StatusText(status), "error")}
		respond(w, status, failed.message, failed.body())
	case fault.Drop:
		select {
		case <-r.Context().Done():
		case <-c.life.Done():
		}
		panic(http.ErrAbortHandler)
	default: // refuse
		panic(http.ErrAbortHandler)
	}
}
