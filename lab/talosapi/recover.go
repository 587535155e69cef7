package talosapi

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/internal/machinehelper"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// EtcdRecover writes a snapshot to the node's disk, from which Bootstrap recovers etcd. It is kept only if the stream ended as it should.
func (s *etcdCalls) EtcdRecover(stream machine.MachineService_EtcdRecoverServer) error {
	n := s.node
	if !n.Mounted() {
		return status.Error(codes.FailedPrecondition, "etcd service is not ready for recovery yet")
	}
	if err := machinehelper.CheckControlplane(stream.Context(), n.Resources(), "etcd recover"); err != nil {
		return err
	}
	if err := n.Etcd().UploadSnapshot(n.Host(), &dataReader{stream: stream}); err != nil {
		return err
	}
	return stream.SendAndClose(&machine.EtcdRecoverResponse{Messages: []*machine.EtcdRecover{{}}})
}

// dataReader reads what a client sends as common.Data.
type dataReader struct {
	stream machine.MachineService_EtcdRecoverServer
	rest   []byte
}

// Read returns io.EOF once the client has closed its side of the stream.
func (r *dataReader) Read(into []byte) (int, error) {
	for len(r.rest) == 0 {
		message, err := r.stream.Recv()
		if err != nil {
			return 0, err
		}
		atWork(r.stream.Context())
		r.rest = message.GetBytes()
	}
	taken := copy(into, r.rest)
	r.rest = r.rest[taken:]
	return taken, nil
}
