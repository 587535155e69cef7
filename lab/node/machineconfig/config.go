// Package machineconfig is the machine config of one boot of a node: its source, the config in force, and the one for the next boot.
package machineconfig

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/crypto/x509"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// Store has the config of one boot.
type Store struct {
	boot    *boot.Boot
	foreign *Foreign
	// applied is called for every config that takes effect.
	applied func(config.Provider) error
	sent    chan config.Provider

	mu     sync.Mutex
	active config.Provider
	// revert is the timer that restores the previous config, or nil.
	revert *time.Timer
}

// New returns the store of a boot without a config.
func New(of *boot.Boot, foreign *Foreign, applied func(config.Provider) error) *Store {
	return &Store{boot: of, foreign: foreign, applied: applied, sent: make(chan config.Provider, 1)}
}

// Config returns the config in force, or nil.
func (s *Store) Config() config.Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}

// Maintenance reports whether there is no complete config yet.
func (s *Store) Maintenance() bool {
	cfg := s.Config()
	return cfg == nil || !cfg.CompleteForBoot()
}

// MachineType returns the type of machine in the config in force.
func (s *Store) MachineType() machine.Type {
	cfg := s.Config()
	if cfg == nil || cfg.Machine() == nil {
		return machine.TypeUnknown
	}
	return cfg.Machine().Type()
}

// ClusterID returns the fingerprint of the Kubernetes CA that the config accepts.
func (s *Store) ClusterID() (cluster.ID, error) {
	id, err := clusterID(s.Config())
	if err != nil {
		return "", fmt.Errorf("the config of %s: %w", s.boot.Host(), err)
	}
	return id, nil
}

func clusterID(cfg config.Provider) (cluster.ID, error) {
	if cfg == nil || cfg.Cluster() == nil {
		return "", errors.New("it has no cluster")
	}
	for _, ca := range cfg.Cluster().AcceptedCAs() {
		return fingerprint(ca.Crt)
	}
	if issuing := cfg.Cluster().IssuingCA(); issuing != nil {
		return fingerprint(issuing.Crt)
	}
	return "", errors.New("it has no Kubernetes CA")
}

func fingerprint(crt []byte) (cluster.ID, error) {
	print, err := x509.SPKIFingerprintFromPEM(crt)
	if err != nil {
		return "", fmt.Errorf("the fingerprint of a CA: %w", err)
	}
	return cluster.ID(fmt.Sprintf("%x", []byte(print))), nil
}

// ServiceImage returns the image of a service in the config in force.
func (s *Store) ServiceImage(id string) string {
	cfg := s.Config()
	if cfg == nil || cfg.Machine() == nil {
		return id
	}
	switch id {
	case "kubelet":
		return cfg.Machine().Kubelet().Image()
	case "etcd":
		return cfg.Cluster().Etcd().Image()
	default:
		return id
	}
}

// Sent receives the configs that were sent in maintenance.
func (s *Store) Sent() <-chan config.Provider { return s.sent }

// Load loads the config from where Talos looks for it, and reports whether there is a complete one.
func (s *Store) Load(ctx context.Context) (complete bool, err error) {
	if err := s.becomeForeign(ctx); err != nil {
		return false, err
	}
	if _, _, saved := s.boot.Disk.Read(); saved != nil {
		cfg, err := configloader.NewFromBytes(saved)
		if err != nil {
			return false, fmt.Errorf("failed to load %q from STATE: %w", "config.yaml", err)
		}
		return true, s.activate(cfg, true)
	}
	cfg, err := s.fromPlatform(ctx)
	if err != nil {
		s.boot.Logs.Talos("controller failed: %v", err)
		// The platform returns the same config each time, so it always fails.
		<-ctx.Done()
		return false, context.Cause(ctx)
	}
	if cfg == nil {
		return false, nil
	}
	return cfg.CompleteForBoot(), s.activate(cfg, cfg.CompleteForBoot())
}

// becomeForeign makes the node a member of another cluster if a fault requires it.
func (s *Store) becomeForeign(ctx context.Context) error {
	if !s.boot.Disk.FirstBoot() {
		return nil
	}
	outcome, err := s.boot.Faults.Meet(ctx, fault.Point{On: fault.PKI, Name: "boot", Subject: s.boot.Host()})
	if err != nil || outcome == nil {
		return err
	}
	cfg, err := s.foreign.config()
	if err != nil {
		return err
	}
	s.boot.Disk.Install(s.boot.Image, s.boot.Spec.Disks[0].Device)
	s.boot.Disk.Save(cfg)
	return nil
}

// fromPlatform returns the config in the user data, validated as the real node does.
func (s *Store) fromPlatform(ctx context.Context) (config.Provider, error) {
	data := s.boot.Spec.UserData
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
		err = fmt.Errorf("failed to load config via platform %s: %w", s.boot.Platform(), err)
		s.boot.Events.Publish(ctx, &machineapi.ConfigLoadErrorEvent{Error: err.Error()})
		return nil, err
	}
	_, err = cfg.Validate(s.boot.Mode)
	if err == nil {
		_, err = cfg.RuntimeValidate(ctx, s.boot.State, s.boot.Mode)
	}
	if err != nil {
		err = fmt.Errorf("failed to validate config acquired via platform %s: %w", s.boot.Platform(), err)
		s.boot.Events.Publish(ctx, &machineapi.ConfigValidationErrorEvent{Error: err.Error()})
		return nil, err
	}
	return cfg, nil
}

// Set implements talosapi.Machine.SetConfig.
func (s *Store) Set(cfg config.Provider, now bool, revertAfter time.Duration) error {
	before := s.Config()
	s.mu.Lock()
	if s.revert != nil {
		s.revert.Stop()
		s.revert = nil
	}
	if revertAfter > 0 {
		s.revert = time.AfterFunc(revertAfter, func() {
			if s.boot.Ctx.Err() == nil && s.activate(before, false) == nil {
				s.boot.Logs.Talos("rolling back the configuration")
				s.boot.Record("config", "reverted")
			}
		})
	}
	s.mu.Unlock()
	if !now {
		s.boot.Record("config", "staged")
		return s.persist(cfg)
	}
	maintenance := s.Maintenance()
	if err := s.activate(cfg, revertAfter == 0); err != nil {
		return err
	}
	s.boot.Record("config", "applied")
	if maintenance {
		select {
		case <-s.sent: // one that was not received
		default:
		}
		s.sent <- cfg
	}
	return nil
}

// activate makes a config take effect, and keeps it for the next boot if requested.
func (s *Store) activate(cfg config.Provider, keep bool) error {
	if keep {
		if err := s.persist(cfg); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.active = cfg
	s.mu.Unlock()
	if err := s.applied(cfg); err != nil {
		return err
	}
	return s.put(cfg, configresource.ActiveID)
}

// Persist keeps the config in force for the next boot.
func (s *Store) Persist() error { return s.persist(s.Config()) }

// persist writes a config to STATE, which a machine without Talos does not have.
func (s *Store) persist(cfg config.Provider) error {
	if installed, _, _ := s.boot.Disk.Read(); installed != nil {
		data, err := cfg.Bytes()
		if err != nil {
			return fmt.Errorf("error getting config bytes: %w", err)
		}
		s.boot.Disk.Save(data)
	}
	return s.put(cfg, configresource.PersistentID)
}

func (s *Store) put(cfg config.Provider, id resource.ID) error {
	fresh := configresource.NewMachineConfigWithID(cfg, id)
	old, err := s.boot.State.Get(s.boot.Ctx, fresh.Metadata())
	switch {
	case state.IsNotFoundError(err):
		return s.boot.State.Create(s.boot.Ctx, fresh)
	case err != nil:
		return err
	}
	fresh.Metadata().SetVersion(old.Metadata().Version())
	return s.boot.State.Update(s.boot.Ctx, fresh)
}

// acquireOwner is the controller that acquires the config.
const acquireOwner = "config.AcquireController"

// RequestMaintenance requests the maintenance service from the real controllers.
func (s *Store) RequestMaintenance(ctx context.Context) error {
	return resources.Put(ctx, s.boot.State, acquireOwner, runtimeresource.NewMaintenanceServiceRequest(), func(*runtimeresource.MaintenanceServiceRequest) {})
}

// WithdrawMaintenance withdraws that request.
func (s *Store) WithdrawMaintenance(ctx context.Context) error {
	err := s.boot.State.TeardownAndDestroy(ctx, runtimeresource.NewMaintenanceServiceRequest().Metadata(), state.WithTeardownAndDestroyOwner(acquireOwner))
	if err != nil && !state.IsNotFoundError(err) {
		return fmt.Errorf("the maintenance request: %w", err)
	}
	return nil
}
