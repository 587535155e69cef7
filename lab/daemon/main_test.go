package daemon

import (
	"testing"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/nstest"
)

// As the first process of a pid namespace the tests can do what Init does.
func TestMain(m *testing.M) { nstest.Main(m) }
