package hetzner

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// apiError is an answer that says what was wrong.
type apiError struct {
	code    hcloud.ErrorCode
	message string
	details any
}

func (e *apiError) Error() string { return fmt.Sprintf("%s (%s)", e.message, e.code) }

// body is the answer's.
func (e *apiError) body() schema.ErrorResponse {
	body := schema.ErrorResponse{Error: schema.Error{Code: string(e.code), Message: e.message}}
	if e.details != nil {
		body.Error.DetailsRaw, _ = json.Marshal(e.details) // strings only: it cannot fail
	}
	return body
}

// Codes that the client's library has no name for.
const (
	errorCodeMemberLimit      hcloud.ErrorCode = "placement_group_member_limit_reached"
	errorCodeUnavailable      hcloud.ErrorCode = "unavailable"
	errorCodeMethodNotAllowed hcloud.ErrorCode = "method_not_allowed"
	errorCodeTargetNotFound   hcloud.ErrorCode = "load_balancer_target_not_found"
)

// statuses are the documented ones; every other code comes with 422.
var statuses = map[hcloud.ErrorCode]int{
	hcloud.ErrorCodeJSONError:             http.StatusBadRequest,
	hcloud.ErrorCodeUnauthorized:          http.StatusUnauthorized,
	hcloud.ErrorCodeTokenReadonly:         http.StatusUnauthorized,
	hcloud.ErrorCodeForbidden:             http.StatusForbidden,
	hcloud.ErrorCodeMaintenance:           http.StatusForbidden,
	hcloud.ErrorCodeResourceLimitExceeded: http.StatusForbidden,
	hcloud.ErrorCodeNotFound:              http.StatusNotFound,
	errorCodeMethodNotAllowed:             http.StatusMethodNotAllowed,
	hcloud.ErrorCodeUniquenessError:       http.StatusConflict,
	hcloud.ErrorCodeConflict:              http.StatusConflict,
	hcloud.ErrorDeprecatedAPIEndpoint:     http.StatusGone,
	hcloud.ErrorCodeResourceUnavailable:   http.StatusPreconditionFailed,
	hcloud.ErrorCodeLocked:                http.StatusLocked,
	hcloud.ErrorCodeProtected:             http.StatusLocked,
	hcloud.ErrorCodeRateLimitExceeded:     http.StatusTooManyRequests,
	hcloud.ErrorCodeServerError:           http.StatusInternalServerError,
	hcloud.ErrorCodeBadGateway:            http.StatusBadGateway,
	errorCodeUnavailable:                  http.StatusServiceUnavailable,
	hcloud.ErrorCodeTimeout:               http.StatusGatewayTimeout,
}

func (e *apiError) status() int {
	if status, known := statuses[e.code]; known {
		return status
	}
	return http.StatusUnprocessableEntity
}

func failure(code hcloud.ErrorCode, format string, args ...any) error {
	return &apiError{code: code, message: fmt.Sprintf(format, args...)}
}

type fieldFault struct {
	Name     string   `json:"name"`
	Messages []string `json:"messages,omitempty"`
}

type fieldFaults struct {
	Fields []fieldFault `json:"fields"`
}

// invalid says what is wrong with a field of the request.
func invalid(field, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &apiError{
		code:    hcloud.ErrorCodeInvalidInput,
		message: fmt.Sprintf("invalid input in field '%s': %s", field, message),
		details: fieldFaults{Fields: []fieldFault{{Name: field, Messages: []string{message}}}},
	}
}

// notUnique says that the field's value is another's already.
func notUnique(field, message string) error {
	return &apiError{
		code:    hcloud.ErrorCodeUniquenessError,
		message: message,
		details: fieldFaults{Fields: []fieldFault{{Name: field}}},
	}
}

type limitFaults struct {
	Limits []fieldFault `json:"limits"`
}

// limitReached says that the project may not have more of a kind.
func limitReached(kind string) error {
	return &apiError{
		code:    hcloud.ErrorCodeResourceLimitExceeded,
		message: fmt.Sprintf("%s limit reached", spoken(kind)),
		details: limitFaults{Limits: []fieldFault{{Name: kind + "_limit"}}},
	}
}

func notFound(kind string, id int64) error {
	return failure(hcloud.ErrorCodeNotFound, "%s with ID '%d' not found", spoken(kind), id)
}

func protected(kind string) error {
	return failure(hcloud.ErrorCodeProtected, "%s deletion is protected", spoken(kind))
}

// spoken is a kind as messages name it: "load balancer" for "load_balancer".
func spoken(kind string) string { return strings.ReplaceAll(kind, "_", " ") }
