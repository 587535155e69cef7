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
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// A node of the lab has no file tree, only the few files that clients read: each can be listed, copied and read by its path.

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
func (s *fileCalls) Read(in *machine.ReadRequest, stream machine.MachineService_ReadServer) error {
	content, err := s.node.readFile(in.GetPath())
	if err != nil {
		return err
	}
	_, err = dataWriter(stream.Send).Write(content)
	return err
}

// Copy streams a file in an archive.
func (s *fileCalls) Copy(in *machine.CopyRequest, stream machine.MachineService_CopyServer) error {
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

// List lists a file, or etcd's folder, which is the only folder.
func (s *fileCalls) List(in *machine.ListRequest, stream machine.MachineService_ListServer) error {
	name := path.Join("/", in.GetRoot())
	if name == constants.EtcdDataPath && s.node.Etcd() != nil {
		return s.listEtcdData(stream.Send)
	}
	content, err := s.node.readFile(name)
	if err != nil {
		return err
	}
	return stream.Send(&machine.FileInfo{
		Name: name, RelativeName: path.Base(name), Size: int64(len(content)), Mode: 0o644, Modified: s.node.Booted().Unix(),
	})
}

// listEtcdData lists the folder itself and, once etcd has written anything, its content.
func (s *fileCalls) listEtcdData(send func(*machine.FileInfo) error) error {
	folders := []string{"."}
	if s.node.Etcd().HasData(s.node.Host()) {
		folders = append(folders, "member")
	}
	for _, name := range folders {
		err := send(&machine.FileInfo{
			Name: path.Join(constants.EtcdDataPath, name), RelativeName: name, Size: 4096, IsDir: true,
			Mode: uint32(fs.ModeDir | 0o700), Modified: s.node.Booted().Unix(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// DiskUsage returns the sizes of files.
func (s *fileCalls) DiskUsage(in *machine.DiskUsageRequest, stream machine.MachineService_DiskUsageServer) error {
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

// Kubeconfig returns Talos' own.
func (s *fileCalls) Kubeconfig(in *emptypb.Empty, stream machine.MachineService_KubeconfigServer) error {
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
