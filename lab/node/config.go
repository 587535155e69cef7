package node

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// acquireOwner is who writes what the acquisition of a config leaves.
const acquireOwner = "config.AcquireController"

// trial is a config that is taken back unless another one comes.
type trial struct {
	timer *time.Timer
}

// loadConfig looks for a config where Talos does, and waits in maintenance when
// there is none.
func (n *node) loadConfig(ctx context.Context) error {
	if err := n.adopt(ctx); err != nil {
		return err
	}
	if _, _, saved := n.disk.read(); saved != nil {
		cfg, err := configloader.NewFromBytes(saved)
		if err != nil {
			return fmt.Errorf("failed to load %q from STATE: %w", "config.yaml", err)
		}
		return n.force(cfg, true)
	}
	cfg, err := n.platformConfig(ctx)
	if err != nil {
		n.logs.talos("controller failed: %v", err)
		// The platform gives what it gave: it fails again for ever.
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if cfg != nil {
		if err := n.force(cfg, cfg.CompleteForBoot()); err != nil {
			return err
		}
		if cfg.CompleteForBoot() {
			return nil
		}
	}
	return n.maintain(ctx)
}

// adopt makes a foreign node of it where a fault says so.
func (n *node) adopt(ctx context.Context) error {
	if !n.disk.firstBoot() {
		return nil
	}
	outcome, err := n.Faults.Meet(ctx, fault.Point{On: fault.PKI, Name: "boot", Subject: n.Host()})
	if err != nil || outcome == nil {
		return err
	}
	cfg, err := n.foreign.config()
	if err != nil {
		return err
	}
	n.disk.install(n.image, n.spec.Disks[0].Device)
	n.disk.save(cfg)
	return nil
}

// platformConfig is the user data, checked as the real node checks it.
func (n *node) platformConfig(ctx context.Context) (config.Provider, error) {
	data := n.spec.UserData
	if len(data) == 0 {
		return nil, nil
	}
	if http.DetectContentType(data) == "application/x-gzip" {
		unzip, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("error creating gzip reader: %w", err)
		}
		if data, err = io.ReadAll(unzip); err != nil {
			return nil, fmt.Errorf("error unzipping machine config: %w", err)
		}
	}
	cfg, err := configloader.NewFromBytes(data)
	if err != nil {
		err = fmt.Errorf("failed to load config via platform %s: %w", n.Platform(), err)
		n.events.Publish(ctx, &machineapi.ConfigLoadErrorEvent{Error: err.Error()})
		return nil, err
	}
	_, err = cfg.Validate(n.mode)
	if err == nil {
		_, err = cfg.RuntimeValidate(ctx, n.resources.State, n.mode)
	}
	if err != nil {
		err = fmt.Errorf("failed to validate config acquired via platform %s: %w", n.Platform(), err)
		n.events.Publish(ctx, &machineapi.ConfigValidationErrorEvent{Error: err.Error()})
		return nil, err
	}
	return cfg, nil
}

// SetConfig implements talosapi.Machine.
func (n *node) SetConfig(cfg config.Provider, now bool, revertAfter time.Duration) error {
	before := n.Config()
	n.mu.Lock()
	if n.trial != nil {
		n.trial.timer.Stop()
		n.trial = nil
	}
	if revertAfter > 0 {
		n.trial = &trial{time.AfterFunc(revertAfter, func() {
			if n.ctx.Err() == nil && n.force(before, false) == nil {
				n.logs.talos("rolling back the configuration")
				n.Timeline.Record(n.Host(), "config", "reverted")
			}
		})}
	}
	n.mu.Unlock()
	if !now {
		n.Timeline.Record(n.Host(), "config", "staged")
		return n.persist(cfg)
	}
	maintenance := n.Maintenance()
	if err := n.force(cfg, revertAfter == 0); err != nil {
		return err
	}
	n.Timeline.Record(n.Host(), "config", "applied")
	if maintenance {
		select {
		case <-n.configs: // one that nobody took
		default:
		}
		n.configs <- cfg
	}
	return nil
}

// force puts a config in force, and keeps it for the next boot where asked.
func (n *node) force(cfg config.Provider, keep bool) error {
	if keep {
		if err := n.persist(cfg); err != nil {
			return err
		}
	}
	n.mu.Lock()
	n.cfg = cfg
	n.mu.Unlock()
	if err := n.grow(cfg); err != nil {
		return err
	}
	return n.putConfig(cfg, configresource.ActiveID)
}

// persist writes a config to STATE, which a machine without Talos lacks.
func (n *node) persist(cfg config.Provider) error {
	if installed, _, _ := n.disk.read(); installed != nil {
		data, err := cfg.Bytes()
		if err != nil {
			return fmt.Errorf("error getting config bytes: %w", err)
		}
		n.disk.save(data)
	}
	return n.putConfig(cfg, configresource.PersistentID)
}

func (n *node) putConfig(cfg config.Provider, id resource.ID) error {
	fresh := configresource.NewMachineConfigWithID(cfg, id)
	old, err := n.resources.State.Get(n.ctx, fresh.Metadata())
	switch {
	case state.IsNotFoundError(err):
		return n.resources.State.Create(n.ctx, fresh)
	case err != nil:
		return err
	}
	fresh.Metadata().SetVersion(old.Metadata().Version())
	return n.resources.State.Update(n.ctx, fresh)
}

func (n *node) requestMaintenance(ctx context.Context) error {
	return put(ctx, n.resources.State, acquireOwner, runtimeresource.NewMaintenanceServiceRequest(), func(*runtimeresource.MaintenanceServiceRequest) {})
}

func (n *node) withdrawMaintenance(ctx context.Context) error {
	err := n.resources.State.TeardownAndDestroy(ctx, runtimeresource.NewMaintenanceServiceRequest().Metadata(), state.WithTeardownAndDestroyOwner(acquireOwner))
	if err != nil && !state.IsNotFoundError(err) {
		return fmt.Errorf("the maintenance request: %w", err)
	}
	return nil
}
