package talosapi

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// systemNamespace is containerd's namespace for Talos itself.
const systemNamespace = constants.SystemContainerdNamespace

// ServiceList lists Talos' services.
func (s *serviceCalls) ServiceList(context.Context, *emptypb.Empty) (*machine.ServiceListResponse, error) {
	return &machine.ServiceListResponse{Messages: []*machine.ServiceList{{Services: s.node.Services()}}}, nil
}

// ServiceStart starts a service.
func (s *serviceCalls) ServiceStart(_ context.Context, in *machine.ServiceStartRequest) (*machine.ServiceStartResponse, error) {
	if err := s.node.ServiceAction(in.GetId(), "start"); err != nil {
		return nil, err
	}
	return &machine.ServiceStartResponse{Messages: []*machine.ServiceStart{{Resp: fmt.Sprintf("Service %q started", in.GetId())}}}, nil
}

// ServiceStop stops a service.
func (s *serviceCalls) ServiceStop(_ context.Context, in *machine.ServiceStopRequest) (*machine.ServiceStopResponse, error) {
	if err := s.node.ServiceAction(in.GetId(), "stop"); err != nil {
		return nil, err
	}
	return &machine.ServiceStopResponse{Messages: []*machine.ServiceStop{{Resp: fmt.Sprintf("Service %q stopped", in.GetId())}}}, nil
}

// ServiceRestart stops and starts a service.
func (s *serviceCalls) ServiceRestart(_ context.Context, in *machine.ServiceRestartRequest) (*machine.ServiceRestartResponse, error) {
	if err := s.node.ServiceAction(in.GetId(), "restart"); err != nil {
		return nil, err
	}
	return &machine.ServiceRestartResponse{Messages: []*machine.ServiceRestart{{Resp: fmt.Sprintf("Service %q restarted", in.GetId())}}}, nil
}

// Containers lists what runs in a namespace.
func (s *serviceCalls) Containers(_ context.Context, in *machine.ContainersRequest) (*machine.ContainersResponse, error) {
	containers, err := s.node.containers(in.GetNamespace(), in.GetDriver())
	if err != nil {
		return nil, err
	}
	return &machine.ContainersResponse{Messages: []*machine.Container{{Containers: containers}}}, nil
}

// Stats lists the same. Containers of the lab use no resources.
func (s *serviceCalls) Stats(_ context.Context, in *machine.StatsRequest) (*machine.StatsResponse, error) {
	containers, err := s.node.containers(in.GetNamespace(), in.GetDriver())
	if err != nil {
		return nil, err
	}
	message := &machine.Stats{}
	for _, container := range containers {
		message.Stats = append(message.Stats, &machine.Stat{
			Namespace: container.GetNamespace(), Id: container.GetId(), PodId: container.GetPodId(), Name: container.GetName(),
		})
	}
	return &machine.StatsResponse{Messages: []*machine.Stats{message}}, nil
}

// Restart would send a signal to a container.
func (s *serviceCalls) Restart(_ context.Context, in *machine.RestartRequest) (*machine.RestartResponse, error) {
	if err := s.node.hasContainer(in.GetNamespace(), in.GetDriver(), in.GetId()); err != nil {
		return nil, err
	}
	return nil, status.Error(codes.Unimplemented, "containers of the lab take no signals; restart the service, or delete the pod")
}

func (n *node) containers(namespace string, driver common.ContainerDriver) ([]*machine.ContainerInfo, error) {
	switch {
	case namespace == "":
		return nil, status.Error(codes.InvalidArgument, "namespace can't be empty")
	case driver == common.ContainerDriver_CRI && namespace != constants.K8sContainerdNamespace:
		return nil, errOnlyKubernetes
	}
	return n.Machine.Containers(namespace), nil
}
