package talosapi

import (
	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"google.golang.org/grpc"

	"github.com/siderolabs/talos/internal/app/resources"
	storaged "github.com/siderolabs/talos/internal/app/storaged"
	"github.com/siderolabs/talos/pkg/grpc/factory"
	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	"github.com/siderolabs/talos/pkg/machinery/api/cluster"
	"github.com/siderolabs/talos/pkg/machinery/api/inspect"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	timeapi "github.com/siderolabs/talos/pkg/machinery/api/time"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// machined is the server behind apid, which knows the roles of the caller.
func (n *node) machined() *grpc.Server {
	injector := &authz.Injector{Mode: authz.MetadataOnly}
	options := []factory.Option{
		factory.ServerOptions(grpc.MaxRecvMsgSize(constants.GRPCMaxMessageSize)),
		factory.WithUnaryInterceptor(injector.UnaryInterceptor()),
		factory.WithStreamInterceptor(injector.StreamInterceptor()),
	}
	// The maintenance service of 1.12 asks for roles call by call, if at all.
	if !n.old || !n.maintenance {
		authorizer := n.authorizer()
		options = append(options,
			factory.WithUnaryInterceptor(authorizer.UnaryInterceptor()),
			factory.WithStreamInterceptor(authorizer.StreamInterceptor()),
		)
	}
	return factory.NewServer(n, append(options,
		factory.WithUnaryInterceptor(n.recordUnary),
		factory.WithStreamInterceptor(n.recordStream),
	)...)
}

// Register adds the services that this version has in this mode.
func (n *node) Register(to *grpc.Server) {
	visible := state.WrapCore(state.Filter(n.Resources(), resources.AccessPolicy(n.Resources())))
	cosi.RegisterStateServer(to, server.NewState(visible))
	storage.RegisterStorageServiceServer(to, &storageService{disks: &storaged.Server{Controller: n.official}})
	if n.old && n.maintenance {
		machine.RegisterMachineServiceServer(to, &maintenance112{node: n})
		return
	}
	machine.RegisterMachineServiceServer(to, &machineService{node: n})
	cluster.RegisterClusterServiceServer(to, &clusterService{node: n})
	inspect.RegisterInspectServiceServer(to, &inspectService{})
	timeapi.RegisterTimeServiceServer(to, &timeService{node: n})
	if !n.old {
		machine.RegisterImageServiceServer(to, &imageService{node: n})
		machine.RegisterLifecycleServiceServer(to, &lifecycleService{node: n})
		machine.RegisterDebugServiceServer(to, &debugService{})
	}
}

// machineService is machine.MachineService. Each call that a node of the lab can
// answer has a method; the others say that they are not implemented.
type machineService struct {
	machine.UnimplementedMachineServiceServer
	node *node
}
