package talosapi

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// A node of the lab has no file tree, only the few files that clients read: each
// can be listed, copied and read by its path.

// readFile returns the content of a file.
func (n *node) readFile(name string) ([]byte, error) {
	file, err := n.ReadFile(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, status.Error(codes.NotFound, err.Error())
		}
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return io.ReadAll(file)
}

// Read streams a file.
func (s *machineService) Read(in *machine.ReadRequest, stream machine.MachineService_ReadServer) error {
	content, err := s.node.readFile(in.GetPath())
	if err != nil {
		return err
	}
	_, err = dataWriter(stream.Send).Write(content)
	return err
}

// Copy streams a file in an archive.
func (s *machineService) Copy(in *machine.CopyRequest, stream machine.MachineService_CopyServer) error {
	name := path.Clean(in.GetRootPath())
	if !path.IsAbs(name) {
		return errors.New("path is not absolute " + name)
	}
	content, err := s.node.readFile(name)
	if err != nil {
		return stream.Send(&common.Data{Metadata: &common.Metadata{Error: err.Error()}})
	}
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	files := tar.NewWriter(compressed)
	err = files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Base(name), Size: int64(len(content)), Mode: 0o644, ModTime: s.node.Booted()})
	if err == nil {
		_, err = files.Write(content)
	}
	if err := errors.Join(err, files.Close(), compressed.Close()); err != nil {
		return err
	}
	_, err = dataWriter(stream.Send).Write(archive.Bytes())
	return err
}

// List lists a file.
func (s *machineService) List(in *machine.ListRequest, stream machine.MachineService_ListServer) error {
	name := path.Join("/", in.GetRoot())
	content, err := s.node.readFile(name)
	if err != nil {
		return err
	}
	return stream.Send(&machine.FileInfo{
		Name: name, RelativeName: path.Base(name), Size: int64(len(content)), Mode: 0o644, Modified: s.node.Booted().Unix(),
	})
}

// DiskUsage says how large files are.
func (s *machineService) DiskUsage(in *machine.DiskUsageRequest, stream machine.MachineService_DiskUsageServer) error {
	for _, name := range in.GetPaths() {
		name = path.Join("/", name)
		info := &machine.DiskUsageInfo{Name: name, RelativeName: path.Base(name)}
		content, err := s.node.readFile(name)
		if err != nil {
			info.Error = err.Error()
		}
		info.Size = int64(len(content))
		if err := stream.Send(info); err != nil {
			return err
		}
	}
	return nil
}

// Kubeconfig is Talos' own.
func (s *machineService) Kubeconfig(in *emptypb.Empty, stream machine.MachineService_KubeconfigServer) error {
	return s.node.service().Kubeconfig(in, stream)
}

// dataWriter writes to a stream of common.Data.
type dataWriter func(*common.Data) error

// Write sends the data in pieces of the size that clients expect.
func (w dataWriter) Write(data []byte) (int, error) {
	const piece = 32 << 10
	sent := 0
	for sent < len(data) {
		next := data[sent:min(sent+piece, len(data))]
		if err := w(&common.Data{Bytes: next}); err != nil {
			return sent, err
		}
		sent += len(next)
	}
	return sent, nil
}
