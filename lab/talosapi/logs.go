package talosapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// Logs streams the log of a service or of a container.
func (s *recordCalls) Logs(in *machine.LogsRequest, stream machine.MachineService_LogsServer) error {
	ctx, ended, cancel := s.node.while(stream.Context())
	defer cancel()
	if in.GetNamespace() != constants.SystemContainerdNamespace && in.GetId() != "kubelet" {
		if err := s.node.hasContainer(in.GetNamespace(), in.GetDriver(), in.GetId()); err != nil {
			return err
		}
	}
	return ended(s.node.Log(ctx, in.GetId(), in.GetFollow(), int(in.GetTailLines()), sendLine(stream.Send)))
}

// LogsContainers names the logs of services.
func (s *recordCalls) LogsContainers(context.Context, *emptypb.Empty) (*machine.LogsContainersResponse, error) {
	message := &machine.LogsContainer{}
	for _, service := range s.node.Services() {
		message.Ids = append(message.Ids, service.GetId())
	}
	return &machine.LogsContainersResponse{Messages: []*machine.LogsContainer{message}}, nil
}

// Dmesg streams the kernel's log.
func (s *recordCalls) Dmesg(in *machine.DmesgRequest, stream machine.MachineService_DmesgServer) error {
	ctx, ended, cancel := s.node.while(stream.Context())
	defer cancel()
	past := 0
	if in.GetTail() {
		// Only messages from now on.
		err := s.node.Kernel(ctx, false, func([]byte) error { past++; return nil })
		if err != nil {
			return ended(err)
		}
	}
	send := sendLine(stream.Send)
	return ended(s.node.Kernel(ctx, in.GetFollow(), func(line []byte) error {
		if past > 0 {
			past--
			return nil
		}
		return send(line)
	}))
}

func sendLine(send func(*common.Data) error) func([]byte) error {
	return func(line []byte) error {
		return send(&common.Data{Bytes: append(bytes.TrimRight(line, "\n"), '\n')})
	}
}

// hasContainer refuses containers that are not in the namespace.
func (n *node) hasContainer(namespace string, driver common.ContainerDriver, id string) error {
	containers, err := n.containers(namespace, driver)
	if err != nil {
		return err
	}
	for _, container := range containers {
		// Of a pod's container the end of the id may be missing: it distinguishes its runs.
		if container.GetId() == id || strings.Contains(id, ":") && strings.HasPrefix(container.GetId(), id+":") {
			return nil
		}
	}
	return fmt.Errorf("container %q not found", id)
}

// errOnlyKubernetes is Talos' answer to a question that CRI cannot answer.
var errOnlyKubernetes = errors.New("CRI inspector is supported only for K8s namespace")
