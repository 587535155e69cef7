// Package faulthttp lets the requests of an HTTP service go wrong on purpose.
package faulthttp

import (
	"net/http"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// Handler makes each request a fault point of the kind fault.Cloud, named by
// method and path as in "POST /schematics", before it hands it on.
func Handler(faults *fault.Set, subject string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		point := fault.Point{On: fault.Cloud, Name: r.Method + " " + r.URL.Path, Subject: subject}
		outcome, err := faults.Meet(r.Context(), point)
		switch {
		case err != nil:
			// The client has gone while it was kept waiting.
			panic(http.ErrAbortHandler)
		case outcome == nil:
			next.ServeHTTP(w, r)
		case outcome.Do == fault.Fail:
			fail(w, outcome)
		case outcome.Do == fault.Drop:
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		default:
			panic(http.ErrAbortHandler)
		}
	})
}

func fail(w http.ResponseWriter, outcome *fault.Outcome) {
	status, err := strconv.Atoi(outcome.Code)
	if err != nil || status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	message := outcome.Message
	if message == "" {
		message = http.StatusText(status)
	}
	http.Error(w, message, status)
}
