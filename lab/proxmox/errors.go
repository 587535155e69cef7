package proxmox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// statusDown is how a host answers for another one that it cannot reach.
const statusDown = 595

// apiError is an answer that says what was wrong: in its status line and, by
// parameter, in its body.
type apiError struct {
	status     int
	message    string
	parameters map[string]string
}

func (e *apiError) Error() string { return e.message }

// body is the answer's.
func (e *apiError) body() map[string]any {
	body := map[string]any{"data": nil, "message": e.message + "\n"}
	if len(e.parameters) > 0 {
		body["errors"] = e.parameters
	}
	return body
}

// asAPIError is what the client hears of an error: anything that went wrong is a
// 500 with its text.
func asAPIError(err error) *apiError {
	var told *apiError
	if errors.As(err, &told) {
		return told
	}
	return &apiError{status: http.StatusInternalServerError, message: err.Error()}
}

// failure is a 500, as whatever dies in the real one is.
func failure(format string, args ...any) error {
	return &apiError{status: http.StatusInternalServerError, message: fmt.Sprintf(format, args...)}
}

// invalid says what is wrong with a parameter.
func invalid(parameter, format string, args ...any) error {
	return &apiError{
		status: http.StatusBadRequest, message: "Parameter verification failed.",
		parameters: map[string]string{parameter: fmt.Sprintf(format, args...) + "\n"},
	}
}

func unauthorized(format string, args ...any) error {
	return &apiError{status: http.StatusUnauthorized, message: fmt.Sprintf(format, args...)}
}

// forbidden says which privileges are missing on a path.
func forbidden(path string, privileges []string) error {
	return &apiError{
		status:  http.StatusForbidden,
		message: fmt.Sprintf("Permission check failed (%s, %s)", path, strings.Join(privileges, "|")),
	}
}

func notImplemented(r *http.Request) error {
	return &apiError{status: http.StatusNotImplemented, message: fmt.Sprintf("Method '%s %s' not implemented", r.Method, strings.TrimPrefix(r.URL.Path, prefix))}
}
