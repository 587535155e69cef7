package talosapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/google/uuid"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
)

// Reset checks what is to be wiped, and starts the sequence.
func (s *lifecycleCalls) Reset(ctx context.Context, in *machine.ResetRequest) (*machine.ResetResponse, error) {
	n := s.node
	if len(in.GetUserDisksToWipe()) > 0 {
		if in.GetMode() == machine.ResetRequest_SYSTEM_DISK {
			return nil, errors.New("reset failed: invalid input, wipe mode SYSTEM_DISK doesn't support UserDisksToWipe parameter")
		}
		if err := n.checkUserDisks(ctx, in.GetUserDisksToWipe()); err != nil {
			return nil, err
		}
	}
	reset := ResetRequest{Graceful: in.GetGraceful(), Reboot: in.GetReboot()}
	if len(in.GetSystemPartitionsToWipe()) == 0 {
		reset.WipeSystem = in.GetMode() != machine.ResetRequest_USER_DISKS
	} else {
		if in.GetMode() == machine.ResetRequest_USER_DISKS {
			return nil, errors.New("reset failed: invalid input, wipe mode USER_DISKS doesn't support SystemPartitionsToWipe parameter")
		}
		var err error
		if reset.Partitions, err = n.partitionsToWipe(ctx, in.GetSystemPartitionsToWipe()); err != nil {
			return nil, err
		}
	}
	actor := uuid.NewString()
	n.begin("Reset", n.Machine.Reset(actor, reset))
	return &machine.ResetResponse{Messages: []*machine.Reset{{ActorId: actor}}}, nil
}

// checkUserDisks refuses disks that do not exist, are read-only, or contain the system. The lab keeps nothing on other disks.
func (n *node) checkUserDisks(ctx context.Context, devices []string) error {
	disks, err := safe.StateListAll[*block.Disk](ctx, n.Resources())
	if err != nil {
		return fmt.Errorf("listing disks failed: %w", err)
	}
	byPath := map[string]*block.DiskSpec{}
	for disk := range disks.All() {
		byPath[disk.TypedSpec().DevPath] = disk.TypedSpec()
	}
	system, err := block.GetSystemDisk(ctx, n.Resources())
	if err != nil {
		return fmt.Errorf("system disk lookup failed: %w", err)
	}
	for _, device := range devices {
		disk := byPath[device]
		switch {
		case disk == nil:
			return fmt.Errorf("reset user disk failed: device %s wasn't found", device)
		case disk.Readonly:
			return fmt.Errorf("reset user disk failed: device %s is readonly", device)
		case system != nil && device == system.DevPath:
			return fmt.Errorf("reset user disk failed: device %s is the system disk", device)
		}
	}
	return nil
}

// partitionsToWipe returns the labels of existing partitions that are to be wiped.
func (n *node) partitionsToWipe(ctx context.Context, specs []*machine.ResetPartitionSpec) ([]string, error) {
	var labels []string
	for _, spec := range specs {
		volume, err := safe.ReaderGetByID[*block.VolumeStatus](ctx, n.Resources(), spec.GetLabel())
		if err != nil {
			return nil, fmt.Errorf("failed to get volume status with label %q: %w", spec.GetLabel(), err)
		}
		if volume.TypedSpec().Location == "" {
			return nil, fmt.Errorf("failed to reset: volume %q is not located", spec.GetLabel())
		}
		if spec.GetWipe() {
			labels = append(labels, spec.GetLabel())
		}
	}
	return labels, nil
}
