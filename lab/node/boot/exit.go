package boot

import "fmt"

// ExitError is the end of a service's process by itself. Talos starts it again for as long as the service is wanted.
type ExitError struct {
	Service string
	Code    int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("task %q failed: exit code %d", e.Service, e.Code)
}

// FinalError is the failure of a service that Talos does not start again.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }
func (e *FinalError) Unwrap() error { return e.Err }
