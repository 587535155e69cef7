package kube

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/nstest"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, recovery.Command) {
		if err := recovery.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	nstest.Main(m)
}
