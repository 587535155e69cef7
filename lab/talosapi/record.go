package talosapi

import (
	"context"
	"path"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
)

// changes are the calls that change something.
var changes = map[string]bool{
	machine.MachineService_ApplyConfiguration_FullMethodName:    true,
	machine.MachineService_Bootstrap_FullMethodName:             true,
	machine.MachineService_EtcdAlarmDisarm_FullMethodName:       true,
	machine.MachineService_EtcdDefragment_FullMethodName:        true,
	machine.MachineService_EtcdForfeitLeadership_FullMethodName: true,
	machine.MachineService_EtcdLeaveCluster_FullMethodName:      true,
	machine.MachineService_EtcdRecover_FullMethodName:           true,
	machine.MachineService_EtcdRemoveMemberByID_FullMethodName:  true,
	machine.MachineService_ImagePull_FullMethodName:             true,
	machine.MachineService_MetaDelete_FullMethodName:            true,
	machine.MachineService_MetaWrite_FullMethodName:             true,
	machine.MachineService_Reboot_FullMethodName:                true,
	machine.MachineService_Reset_FullMethodName:                 true,
	machine.MachineService_Restart_FullMethodName:               true,
	machine.MachineService_Rollback_FullMethodName:              true,
	machine.MachineService_ServiceRestart_FullMethodName:        true,
	machine.MachineService_ServiceStart_FullMethodName:          true,
	machine.MachineService_ServiceStop_FullMethodName:           true,
	machine.MachineService_Shutdown_FullMethodName:              true,
	machine.MachineService_Upgrade_FullMethodName:               true,
	machine.ImageService_Pull_FullMethodName:                    true,
	machine.LifecycleService_Install_FullMethodName:             true,
	machine.LifecycleService_Upgrade_FullMethodName:             true,
	storage.StorageService_BlockDeviceWipe_FullMethodName:       true,
}

// recordUnary records on the timeline who changes what.
func (n *node) recordUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	apply, isApply := request.(*machine.ApplyConfigurationRequest)
	if !changes[info.FullMethod] || isApply && apply.GetDryRun() {
		return handle(ctx, request)
	}
	var detail []string
	if isApply {
		detail = []string{"mode", strings.ToLower(apply.GetMode().String())}
	}
	done := n.record(ctx, info.FullMethod, detail...)
	response, err := handle(ctx, request)
	done(err)
	return response, err
}

// recordStream does the same for streams.
func (n *node) recordStream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if !changes[info.FullMethod] {
		return handle(server, stream)
	}
	done := n.record(stream.Context(), info.FullMethod)
	err := handle(server, stream)
	done(err)
	return err
}

// record records a call before it is answered, so that its consequences come later, and returns a function that records a refusal.
func (n *node) record(ctx context.Context, method string, detail ...string) func(error) {
	name := path.Base(method)
	role := strings.Join(authz.GetRoles(ctx).Strings(), ",")
	n.Timeline.Record(n.Host(), "call", name, append([]string{"role", role}, detail...)...)
	return func(err error) {
		if err != nil {
			n.Timeline.Record(n.Host(), "refused", name, "role", role, "code", status.Code(err).String())
		}
	}
}
