// Package api is the HTTP layer of the Hetzner Cloud API: routes, calls and answers, errors, lists with pages, label selectors, the rate limit.
package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Call is a request that was authenticated and for which a handler was found.
type Call struct {
	*http.Request
	// Path are the variables of the path.
	Path map[string]string
}

// Handler answers a call.
type Handler func(*Call) (Reply, error)

// ID returns the id that the path names.
func (r *Call) ID() (int64, error) { return ParseID(r.Path["id"]) }

// ParseID reads the id of a resource.
func ParseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, Invalid("id", "must be a number")
	}
	return id, nil
}

// IDText writes an id; 0, which no resource has, is "".
func IDText(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// Decode reads the body of the request, which may be empty.
func (r *Call) Decode(into any) error {
	err := json.NewDecoder(r.Body).Decode(into)
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return Failure(hcloud.ErrorCodeJSONError, "invalid JSON input: %s", err)
}

// Reply is an answer.
type Reply struct {
	Status int
	Body   any
	// Links is the Link header of a page.
	Links string
}

// Answer returns an answer to a request that was carried out.
func Answer(body any) (Reply, error) { return Reply{Status: http.StatusOK, Body: body}, nil }

// Created returns an answer to a request that created something.
func Created(body any) (Reply, error) { return Reply{Status: http.StatusCreated, Body: body}, nil }

// NoContent returns an answer without a body.
func NoContent() (Reply, error) { return Reply{Status: http.StatusNoContent}, nil }

// ReplyOf returns the answer that an error leads to.
func ReplyOf(err error) Reply {
	var failed *Error
	if !errors.As(err, &failed) {
		failed = &Error{Code: hcloud.ErrorCodeServerError, Message: err.Error()}
	}
	return Reply{Status: failed.Status(), Body: failed.Body()}
}

// Write sends the answer.
func (r Reply) Write(w http.ResponseWriter) {
	if r.Links != "" {
		w.Header().Set("Link", r.Links)
	}
	if r.Body == nil {
		w.WriteHeader(r.Status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(r.Body) // the client may have disconnected
}

// ValueOr returns the value of a pointer in a request, or a default for nil.
func ValueOr[T any](at *T, otherwise T) T {
	if at == nil {
		return otherwise
	}
	return *at
}
