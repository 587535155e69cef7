package talosapi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	v1alpha1server "github.com/siderolabs/talos/internal/app/machined/internal/server/v1alpha1"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// node is a machine whose API runs.
type node struct {
	Machine
	Options
	// old means that it runs Talos 1.12 or older.
	old bool
	// neverReboots means that it runs Talos 1.14 or newer: no change of its config reboots it, and ApplyConfiguration has no mode with a reboot.
	neverReboots bool
	// maintenance is the mode that its API was started in.
	maintenance bool
	// up ends when the API stops, and with it whatever follows logs and events.
	up context.Context

	// applying is held while a config is applied; official is the code that decides about the config, with its memory of this boot.
	applying sync.Mutex
	official *official
	// installing is held while an installer runs.
	installing sync.Mutex
}

func newNode(m Machine, options Options, maintenance bool, up context.Context) (*node, error) {
	contract, err := config.ParseContractFromVersion(m.Version())
	if err != nil {
		return nil, fmt.Errorf("%s runs Talos %q: %w", m.Host(), m.Version(), err)
	}
	n := &node{Machine: m, Options: options, maintenance: maintenance, up: up}
	n.old = !contract.Greater(config.TalosVersion1_12)
	n.neverReboots = contract.Greater(config.TalosVersion1_13)
	n.official = newOfficial(n)
	return n, nil
}

// mode returns Talos' mode for the platform.
func (n *node) mode() runtime.Mode {
	switch n.Platform() {
	case "metal":
		return runtime.ModeMetal
	case "container":
		return runtime.ModeContainer
	default:
		return runtime.ModeCloud
	}
}

// supports returns an error for what the platform does not support.
func (n *node) supports(feature runtime.ModeCapability) error {
	if !n.mode().Supports(feature) {
		return status.Errorf(codes.FailedPrecondition, "method is not supported in %s mode", n.mode())
	}
	return nil
}

// while returns a context that also ends when the API stops, and a function that drops the error of a call that ended for that reason: such a call succeeds.
func (n *node) while(ctx context.Context) (context.Context, func(error) error, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	release := context.AfterFunc(n.up, cancel)
	ended := func(err error) error {
		if n.up.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	return ctx, ended, func() {
		release()
		cancel()
	}
}

// service returns the official server. In Talos 1.13, but not in 1.12, it remembers earlier calls of this boot.
func (n *node) service() *v1alpha1server.Server {
	if n.old {
		return &v1alpha1server.Server{Controller: n.official}
	}
	return n.official.server
}
