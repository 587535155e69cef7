// Package faulthttp makes the requests of an HTTP service meet faults.
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
	// Life ends with the service; nil ends with each request. A dropped request is kept until then.
	Life context.Context
	// Fail answers with an error in the service's format.
	Fail func(http.ResponseWriter, *fault.Outcome)
}

// Handler makes each request a fault point before it passes the request on; faults of kind fail answer in plain text.
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
		// The client disconnected while the request was held.
		panic(http.ErrAbortHandler)
	case outcome == nil:
		next(w, r)
	case outcome.Do == fault.Fail:
		s.Fail(w, outcome)
	case outcome.Do == fault.Drop:
		s.neverAnswer(r)
	case outcome.Do == fault.Mute:
		Lose(r, next)
		s.neverAnswer(r)
	case outcome.Do == fault.Lose:
		Lose(r, next)
		panic(http.ErrAbortHandler)
	default: // refuse
		panic(http.ErrAbortHandler)
	}
}

// neverAnswer keeps a request for as long as its client waits.
func (s Service) neverAnswer(r *http.Request) {
	var ended <-chan struct{}
	if s.Life != nil {
		ended = s.Life.Done()
	}
	select {
	case <-r.Context().Done():
	case <-ended:
	}
	panic(http.ErrAbortHandler)
}

// Lose has a request take effect, to its end also where the client leaves, and
// discards the answer.
func Lose(r *http.Request, next http.HandlerFunc) {
	next(&lost{header: http.Header{}}, r.WithContext(context.WithoutCancel(r.Context())))
}

// lost receives an answer that is discarded.
type lost struct{ header http.Header }

func (l *lost) Header() http.Header         { return l.header }
func (l *lost) Write(b []byte) (int, error) { return len(b), nil }
func (l *lost) WriteHeader(int)             {}

// Status returns the HTTP status that a rule asks for, or 500.
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
