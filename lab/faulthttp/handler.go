// Package faulthttp lets the requests of an HTTP service go wrong on purpose.
package faulthttp

import (
	"context"
	"net/http"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// Service is an HTTP service whose requests are fault points.
type Service struct {
	Faults  *fault.Set
	Subject string
	// Life ends with the service; nil ends with each request. What is dropped is
	// kept no longer.
	Life context.Context
	// Fail answers with an error as the service does.
	Fail func(http.ResponseWriter, *fault.Outcome)
}

// Handler makes each request a fault point before it hands it on; what is to
// fail fails with plain text.
func Handler(faults *fault.Set, subject string, next http.Handler) http.Handler {
	service := Service{Faults: faults, Subject: subject, Fail: fail}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { service.Serve(w, r, next.ServeHTTP) })
}

// Serve meets the faults of a request, a point of the kind fault.Cloud that is
// named by method and path as in "POST /schematics", before it hands it on.
func (s Service) Serve(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	point := fault.Point{On: fault.Cloud, Name: r.Method + " " + r.URL.Path, Subject: s.Subject}
	outcome, err := s.Faults.Meet(r.Context(), point)
	switch {
	case err != nil:
		// The client has gone while it was kept waiting.
		panic(http.ErrAbortHandler)
	case outcome == nil:
		next(w, r)
	case outcome.Do == fault.Fail:
		s.Fail(w, outcome)
	case outcome.Do == fault.Drop:
		var ended <-chan struct{}
		if s.Life != nil {
			ended = s.Life.Done()
		}
		select {
		case <-r.Context().Done():
		case <-ended:
		}
		panic(http.ErrAbortHandler)
	default: // refuse
		panic(http.ErrAbortHandler)
	}
}

// Status is the HTTP status that a rule asks for, or 500.
func Status(outcome *fault.Outcome) int {
	status, err := strconv.Atoi(outcome.Code)
	if err != nil || status < 400 || status > 599 {
		return http.StatusInternalServerError
	}
	return status
}

func fail(w http.ResponseWriter, outcome *fault.Outcome) {
	status := Status(outcome)
	message := outcome.Message
	if message == "" {
		message = http.StatusText(status)
	}
	http.Error(w, message, status)
}
