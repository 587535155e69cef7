package talosapi

import (
	"context"
	"errors"

	"github.com/distribution/reference"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// imageService is machine.ImageService, which Talos has since 1.13.
type imageService struct {
	machine.UnimplementedImageServiceServer
	node *node
}

// debugService is machine.DebugService, which Talos has since 1.13.
type debugService struct {
	machine.UnimplementedDebugServiceServer
}

// List lists the images of a namespace.
func (s *imageService) List(in *machine.ImageServiceListRequest, stream grpc.ServerStreamingServer[machine.ImageServiceListResponse]) error {
	namespace, err := containerdNamespace(in.GetContainerd())
	if err != nil {
		return err
	}
	for _, image := range s.node.Images(namespace) {
		err := stream.Send(&machine.ImageServiceListResponse{
			Name: image.Name, Digest: image.Digest, Size: image.Bytes, CreatedAt: timestamppb.New(image.Created),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Pull pulls an image and returns its name with the digest.
func (s *imageService) Pull(in *machine.ImageServicePullRequest, stream grpc.ServerStreamingServer[machine.ImageServicePullResponse]) error {
	namespace, err := containerdNamespace(in.GetContainerd())
	if err != nil {
		return err
	}
	image, err := s.node.Pull(stream.Context(), namespace, in.GetImageRef(), func(done, total int64) {
		// If the stream has ended, the final message fails too.
		_ = stream.Send(&machine.ImageServicePullResponse{Response: &machine.ImageServicePullResponse_PullProgress{PullProgress: layerProgress(done, total)}})
	})
	if err != nil {
		return pullError(err)
	}
	name, err := pinned(image)
	if err != nil {
		return status.Errorf(codes.Internal, "error parsing image reference: %s", err)
	}
	return stream.Send(&machine.ImageServicePullResponse{Response: &machine.ImageServicePullResponse_Name{Name: name}})
}

// pullError is the error of a pull as clients get it.
func pullError(err error) error {
	if errors.Is(err, ErrNoImage) {
		return status.Errorf(codes.NotFound, "error pulling image: %s", err)
	}
	return err
}

// layerProgress is the progress of an image of one layer.
func layerProgress(done, total int64) *machine.ImageServicePullProgress {
	how := machine.ImageServicePullLayerProgress_DOWNLOADING
	if done == total {
		how = machine.ImageServicePullLayerProgress_DOWNLOAD_COMPLETE
	}
	return &machine.ImageServicePullProgress{
		LayerId: "layer-1", Progress: &machine.ImageServicePullLayerProgress{Status: how, Offset: done, Total: total},
	}
}

// unseen is for a pull that shows no progress.
func unseen(int64, int64) {}

// pinned returns the name of an image with its digest instead of its tag.
func pinned(image Image) (string, error) {
	parsed, err := reference.ParseDockerRef(image.Name)
	if err != nil {
		return "", err
	}
	return parsed.Name() + "@" + image.Digest, nil
}

// ContainerRun is not possible: the lab runs no containers.
func (s *debugService) ContainerRun(grpc.BidiStreamingServer[machine.DebugContainerRunRequest, machine.DebugContainerRunResponse]) error {
	return status.Error(codes.Unimplemented, "the lab simulates containers by their status alone: there is none to debug in")
}

// ImageList returns the list of 1.12.
func (s *imageCalls) ImageList(in *machine.ImageListRequest, stream machine.MachineService_ImageListServer) error {
	namespace, err := namespaceNamed(in.GetNamespace())
	if err != nil {
		return status.Errorf(codes.InvalidArgument, "invalid namespace %s", in.GetNamespace())
	}
	for _, image := range s.node.Images(namespace) {
		err := stream.Send(&machine.ImageListResponse{
			Name: image.Name, Digest: image.Digest, Size: image.Bytes, CreatedAt: timestamppb.New(image.Created),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ImagePull returns the pull of 1.12.
func (s *imageCalls) ImagePull(ctx context.Context, in *machine.ImagePullRequest) (*machine.ImagePullResponse, error) {
	namespace, err := namespaceNamed(in.GetNamespace())
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "invalid namespace %s", in.GetNamespace())
	}
	if _, err := s.node.Pull(ctx, namespace, in.GetReference(), unseen); err != nil {
		return nil, pullError(err)
	}
	return &machine.ImagePullResponse{Messages: []*machine.ImagePull{{}}}, nil
}

// containerdNamespace returns the namespace that a request means.
func containerdNamespace(instance *common.ContainerdInstance) (string, error) {
	switch instance.GetDriver() {
	case common.ContainerDriver_CONTAINERD:
		if instance.GetNamespace() == common.ContainerdNamespace_NS_CRI {
			return "", status.Error(codes.InvalidArgument, "cannot use CRI namespace with containerd driver")
		}
	case common.ContainerDriver_CRI:
	default:
		return "", status.Errorf(codes.InvalidArgument, "invalid containerd driver %s", instance.GetDriver())
	}
	return namespaceNamed(instance.GetNamespace())
}

func namespaceNamed(namespace common.ContainerdNamespace) (string, error) {
	switch namespace {
	case common.ContainerdNamespace_NS_CRI:
		return constants.K8sContainerdNamespace, nil
	case common.ContainerdNamespace_NS_SYSTEM:
		return systemNamespace, nil
	default:
		return "", status.Errorf(codes.InvalidArgument, "invalid containerd namespace %s", namespace)
	}
}
