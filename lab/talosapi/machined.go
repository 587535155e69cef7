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

// machined returns the server behind apid, which knows the roles of the caller. The parameters are the last step of each call.
func (n *node) machined(last grpc.UnaryServerInterceptor, lastOfStream grpc.StreamServerInterceptor) *grpc.Server {
	injector := &authz.Injector{Mode: authz.MetadataOnly}
	options := []factory.Option{
		factory.ServerOptions(grpc.MaxRecvMsgSize(constants.GRPCMaxMessageSize)),
		factory.WithUnaryInterceptor(injector.UnaryInterceptor()),
		factory.WithStreamInterceptor(injector.StreamInterceptor()),
	}
	// The maintenance service of 1.12 checks roles call by call, if at all.
	if !n.old || !n.maintenance {
		authorizer := n.authorizer()
		options = append(options,
			factory.WithUnaryInterceptor(authorizer.UnaryInterceptor()),
			factory.WithStreamInterceptor(authorizer.StreamInterceptor()),
		)
	}
	return factory.NewServer(n, append(options,
		factory.WithUnaryInterceptor(n.recordUnary),
		factory.WithUnaryInterceptor(last),
		factory.WithStreamInterceptor(n.recordStream),
		factory.WithStreamInterceptor(lastOfStream),
	)...)
}

// Register adds the services that this version has in this mode.
func (n *node) Register(to *grpc.Server) {
	visible := state.WrapCore(state.Filter(n.Resources(), resources.AccessPolicy(n.Resources())))
	cosi.RegisterStateServer(to, server.NewState(visible))
	storage.RegisterStorageServiceServer(to, &storageService{node: n, disks: &storaged.Server{Controller: n.official}})
	if n.old && n.maintenance {
		machine.RegisterMachineServiceServer(to, &maintenance112{node: n})
		return
	}
	machine.RegisterMachineServiceServer(to, newMachineService(n))
	cluster.RegisterClusterServiceServer(to, &clusterService{node: n})
	inspect.RegisterInspectServiceServer(to, &inspectService{})
	timeapi.RegisterTimeServiceServer(to, &timeService{node: n})
	if !n.old {
		machine.RegisterImageServiceServer(to, &imageService{node: n})
		machine.RegisterLifecycleServiceServer(to, &lifecycleService{node: n})
		machine.RegisterDebugServiceServer(to, &debugService{})
	}
}

// machineService is machine.MachineService. Each call that a node of the lab can answer is a method of one of its parts; the others are not implemented.
type machineService struct {
	unimplemented
	configCalls
	etcdCalls
	factCalls
	fileCalls
	imageCalls
	lifecycleCalls
	monitorCalls
	recordCalls
	serviceCalls
}

var _ machine.MachineServiceServer = (*machineService)(nil)

// unimplemented is embedded one level deeper than the parts, whose methods therefore have precedence.
type unimplemented struct {
	machine.UnimplementedMachineServiceServer
}

// The calls of machine.MachineService, grouped by subject.
type (
	configCalls    struct{ node *node }
	etcdCalls      struct{ node *node }
	factCalls      struct{ node *node }
	fileCalls      struct{ node *node }
	imageCalls     struct{ node *node }
	lifecycleCalls struct{ node *node }
	monitorCalls   struct{ node *node }
	recordCalls    struct{ node *node }
	serviceCalls   struct{ node *node }
)

func newMachineService(n *node) *machineService {
	return &machineService{
		configCalls: configCalls{n}, etcdCalls: etcdCalls{n}, factCalls: factCalls{n}, fileCalls: fileCalls{n}, imageCalls: imageCalls{n},
		lifecycleCalls: lifecycleCalls{n}, monitorCalls: monitorCalls{n}, recordCalls: recordCalls{n}, serviceCalls: serviceCalls{n},
	}
}
