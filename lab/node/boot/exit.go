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
