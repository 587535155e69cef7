package talosapi

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
)

// sdBootWarning is Talos' warning for a machine that booted with sd-boot. Talos checks the machine that it runs on, which here is not the node.
const sdBootWarning = "extra kernel arguments are not supported when booting using SDBoot"

// Unreadable is the error for a config that cannot be read.
type Unreadable struct{ Err error }

func (u *Unreadable) Error() string { return u.Err.Error() }
func (u *Unreadable) Unwrap() error { return u.Err }

// ApplyConfiguration lets Talos' own code decide, and carries out the decision.
func (s *configCalls) ApplyConfiguration(ctx context.Context, in *machine.ApplyConfigurationRequest) (*machine.ApplyConfigurationResponse, error) {
	n := s.node
	if n.old {
		n.applying.Lock()
	} else if !n.applying.TryLock() {
		return nil, status.Error(codes.FailedPrecondition, "another apply configuration is already in progress")
	}
	defer n.applying.Unlock()

	if err := n.validate(in.GetData()); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if n.neverReboots && in.GetMode() == machine.ApplyConfigurationRequest_REBOOT {
		if !n.maintenance {
			return nil, status.Error(codes.Unimplemented, "the REBOOT mode is not supported, please use AUTO or NO_REBOOT modes instead")
		}
		in.Mode = machine.ApplyConfigurationRequest_NO_REBOOT
	}
	n.official.runtime.decided = decision{}
	response, err := n.service().ApplyConfiguration(ctx, in)
	if err != nil {
		return nil, err
	}
	// It accepted the config, so it can be read.
	cfg, err := configloader.NewFromBytes(in.GetData())
	if err != nil {
		return nil, err
	}
	if err := n.kubernetesFits(cfg); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	for _, message := range response.GetMessages() {
		message.Warnings = slices.DeleteFunc(message.Warnings, func(warning string) bool { return warning == sdBootWarning })
	}
	if in.GetDryRun() {
		return response, nil
	}
	return response, n.carryOut(n.official.runtime.decided, response.GetMessages()[0].GetMode())
}

// validate calls the validator of the node's own version, if there is one.
func (n *node) validate(config []byte) error {
	if n.Validate == nil {
		return nil
	}
	return n.Validate(n.Version(), config, n.mode().String(), n.Installed())
}

// carryOut carries out the decision on the machine.
func (n *node) carryOut(decided decision, mode machine.ApplyConfigurationRequest_Mode) error {
	now := mode == machine.ApplyConfigurationRequest_NO_REBOOT || mode == machine.ApplyConfigurationRequest_TRY
	if err := n.SetConfig(decided.config, now, decided.revertAfter); err != nil {
		return err
	}
	if mode == machine.ApplyConfigurationRequest_REBOOT {
		n.begin("Reboot", n.Machine.Reboot(uuid.NewString(), false))
	}
	return nil
}

// begin records a sequence that could not start. Talos answers before it tries, so the caller does not get the error.
func (n *node) begin(name string, err error) {
	if err != nil {
		n.Timeline.Record(n.Host(), "refused", name, "why", err.Error())
	}
}

// unreadable reports whether an error means that a config cannot be read.
func unreadable(err error) bool {
	var target *Unreadable
	return errors.As(err, &target)
}
