package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// StatusDown is a host's answer for another one that it cannot reach.
const StatusDown = 595

// Error is an error in the API's format: in the status line and, by parameter, in the body.
type Error struct {
	Status     int
	Message    string
	parameters map[string]string
}

func (e *Error) Error() string { return e.Message }

// Body returns the body of the answer.
func (e *Error) Body() map[string]any {
	body := map[string]any{"data": nil, "message": e.Message + "\n"}
	if len(e.parameters) > 0 {
		body["errors"] = e.parameters
	}
	return body
}

// AsError returns an error in the API's format. Any other error becomes a 500 with its text.
func AsError(err error) *Error {
	var failed *Error
	if errors.As(err, &failed) {
		return failed
	}
	return &Error{Status: http.StatusInternalServerError, Message: err.Error()}
}

// Failure returns a 500: the answer of the API to nearly every failure.
func Failure(format string, args ...any) error {
	return &Error{Status: http.StatusInternalServerError, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns the error of a parameter.
func Invalid(parameter, format string, args ...any) error {
	return &Error{
		Status: http.StatusBadRequest, Message: "Parameter verification failed.",
		parameters: map[string]string{parameter: fmt.Sprintf(format, args...) + "\n"},
	}
}

// Unauthorized returns the error of a caller that is not known.
func Unauthorized(format string, args ...any) error {
	return &Error{Status: http.StatusUnauthorized, Message: fmt.Sprintf(format, args...)}
}

// forbidden returns the error of privileges that are missing on a path.
func forbidden(path string, privileges []string) error {
	return &Error{
		Status:  http.StatusForbidden,
		Message: fmt.Sprintf("Permission check failed (%s, %s)", path, strings.Join(privileges, "|")),
	}
}

// NotImplemented returns the error of a request that the API does not know.
func NotImplemented(r *http.Request) error {
	return &Error{Status: http.StatusNotImplemented, Message: fmt.Sprintf("Method '%s %s' not implemented", r.Method, strings.TrimPrefix(r.URL.Path, Prefix))}
}
