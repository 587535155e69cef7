package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// Error is an error in the API's format.
type Error struct {
	Code    hcloud.ErrorCode
	Message string
	details any
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Message, e.Code) }

// Body returns the body of the answer.
func (e *Error) Body() schema.ErrorResponse {
	body := schema.ErrorResponse{Error: schema.Error{Code: string(e.Code), Message: e.Message}}
	if e.details != nil {
		body.Error.DetailsRaw, _ = json.Marshal(e.details) // strings only: it cannot fail
	}
	return body
}

// Codes for which hcloud-go has no name.
const (
	CodeMemberLimit      hcloud.ErrorCode = "placement_group_member_limit_reached"
	CodeUnavailable      hcloud.ErrorCode = "unavailable"
	CodeMethodNotAllowed hcloud.ErrorCode = "method_not_allowed"
	CodeTargetNotFound   hcloud.ErrorCode = "load_balancer_target_not_found"
)

// statuses are the documented ones; every other code is returned with 422.
var statuses = map[hcloud.ErrorCode]int{
	hcloud.ErrorCodeJSONError:             http.StatusBadRequest,
	hcloud.ErrorCodeUnauthorized:          http.StatusUnauthorized,
	hcloud.ErrorCodeTokenReadonly:         http.StatusUnauthorized,
	hcloud.ErrorCodeForbidden:             http.StatusForbidden,
	hcloud.ErrorCodeMaintenance:           http.StatusForbidden,
	hcloud.ErrorCodeResourceLimitExceeded: http.StatusForbidden,
	hcloud.ErrorCodeNotFound:              http.StatusNotFound,
	CodeMethodNotAllowed:                  http.StatusMethodNotAllowed,
	hcloud.ErrorCodeUniquenessError:       http.StatusConflict,
	hcloud.ErrorCodeConflict:              http.StatusConflict,
	hcloud.ErrorDeprecatedAPIEndpoint:     http.StatusGone,
	hcloud.ErrorCodeResourceUnavailable:   http.StatusPreconditionFailed,
	hcloud.ErrorCodeLocked:                http.StatusLocked,
	hcloud.ErrorCodeProtected:             http.StatusLocked,
	hcloud.ErrorCodeRateLimitExceeded:     http.StatusTooManyRequests,
	hcloud.ErrorCodeServerError:           http.StatusInternalServerError,
	hcloud.ErrorCodeBadGateway:            http.StatusBadGateway,
	CodeUnavailable:                       http.StatusServiceUnavailable,
	hcloud.ErrorCodeTimeout:               http.StatusGatewayTimeout,
}

// Status returns the HTTP status of the answer.
func (e *Error) Status() int {
	if status, known := statuses[e.Code]; known {
		return status
	}
	return http.StatusUnprocessableEntity
}

// Failure returns an error with a code and a message.
func Failure(code hcloud.ErrorCode, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

type fieldFault struct {
	Name     string   `json:"name"`
	Messages []string `json:"messages,omitempty"`
}

type fieldFaults struct {
	Fields []fieldFault `json:"fields"`
}

// Invalid returns the error of a field of the request.
func Invalid(field, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &Error{
		Code:    hcloud.ErrorCodeInvalidInput,
		Message: fmt.Sprintf("invalid input in field '%s': %s", field, message),
		details: fieldFaults{Fields: []fieldFault{{Name: field, Messages: []string{message}}}},
	}
}

// NotUnique returns the error of a field whose value another resource has.
func NotUnique(field, message string) error {
	return &Error{
		Code:    hcloud.ErrorCodeUniquenessError,
		Message: message,
		details: fieldFaults{Fields: []fieldFault{{Name: field}}},
	}
}

type limitFaults struct {
	Limits []fieldFault `json:"limits"`
}

// LimitReached returns the error of a project that has reached its limit for a kind.
func LimitReached(kind string) error {
	return &Error{
		Code:    hcloud.ErrorCodeResourceLimitExceeded,
		Message: fmt.Sprintf("%s limit reached", Spoken(kind)),
		details: limitFaults{Limits: []fieldFault{{Name: kind + "_limit"}}},
	}
}

// NotFound returns the error of an id that no resource of the kind has.
func NotFound(kind string, id int64) error {
	return Failure(hcloud.ErrorCodeNotFound, "%s with ID '%d' not found", Spoken(kind), id)
}

// Protected returns the error for the deletion of a protected resource.
func Protected(kind string) error {
	return Failure(hcloud.ErrorCodeProtected, "%s deletion is protected", Spoken(kind))
}

// Spoken returns a kind as messages name it, such as "load balancer".
func Spoken(kind string) string { return strings.ReplaceAll(kind, "_", " ") }
