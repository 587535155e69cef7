package kube

import (
	"testing"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/nstest"
)

func TestMain(m *testing.M) { nstest.Main(m) }
