package talosapi

import (
	"context"
	"crypto/tls"
	"errors"
	"regexp"
	"strings"

	"github.com/siderolabs/grpc-proxy/proxy"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/apid/pkg/director"
	"github.com/siderolabs/talos/internal/app/apid/pkg/provider"
	"github.com/siderolabs/talos/pkg/grpc/factory"
	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// streamed are the calls whose answers apid passes on one by one; so are those whose name ends with Stream.
var streamed = regexp.MustCompile(`^(` + strings.Join([]string{
	`/machine\.MachineService/(Copy|DiskUsage|Dmesg|EtcdSnapshot|Events|ImageList|Kubeconfig|List|DebugContainer|Logs|PacketCapture|Read)`,
	`/machine\.LifecycleService/(Install|Upgrade)`,
	`/os\.OSService/Dmesg`,
	`/cluster\.ClusterService/HealthCheck`,
	`.*Stream`,
}, "|") + `)$`)

// openFront creates apid: it decides who may call, and where calls go. Calls to the node itself go to machined.
func (r *Running) openFront(ctx context.Context) error {
	if r.node.maintenance {
		config, err := maintenanceTLS(r.node.Addresses())
		if err != nil {
			return err
		}
		r.front = r.newFront(config, authz.ReadOnlyWithAdminOnSiderolink, director.NewRouter(nil, r.local, r.node, true))
		return nil
	}
	there, err := hasCertificate(ctx, r.node.Resources())
	if err != nil {
		return err
	}
	if !there {
		return errors.New("the node has no certificate for its API yet")
	}
	certificates, err := provider.NewTLSConfig(ctx, r.node.Resources(), false)
	if err != nil {
		return err
	}
	config, err := certificates.ServerConfig()
	if err != nil {
		return err
	}
	config.VerifyPeerCertificate = forClientsOnly
	config.Time = r.node.Now
	// Workers have no certificate that another node would take from them: they
	// pass nothing on.
	var elsewhere director.RemoteBackendFactory
	refresh := func() {}
	own, err := certificates.ClientConfig()
	if err != nil {
		return err
	}
	if own != nil {
		r.remotes = newRemotes(r.node, certificates)
		elsewhere, refresh = r.remotes.get, r.remotes.flush
	}
	r.serving.Go(func() {
		// The watch ends with the API; until then it can only fail because of a certificate that could not be shown to any client, and then the old one stays.
		_ = certificates.Watch(ctx, refresh)
	})
	r.front = r.newFront(config, authz.Enabled, director.NewRouter(elsewhere, r.local, r.node, false))
	return nil
}

func (r *Running) newFront(config *tls.Config, roles authz.InjectorMode, router *director.Router) *grpc.Server {
	injector := &authz.Injector{Mode: roles}
	return factory.NewServer(router,
		factory.ServerOptions(
			grpc.Creds(credentials.NewTLS(config)),
			grpc.ForceServerCodecV2(proxy.Codec()),
			grpc.UnknownServiceHandler(proxy.TransparentHandler(
				r.route(router),
				proxy.WithStreamedDetector(streamed.MatchString),
			)),
			grpc.MaxRecvMsgSize(constants.GRPCMaxMessageSize),
		),
		factory.WithUnaryInterceptor(injector.UnaryInterceptor()),
		factory.WithStreamInterceptor(injector.StreamInterceptor()),
		factory.WithStreamInterceptor(r.drain.intercept),
	)
}

// route returns where faults apply: at the node that would answer, not at those that only forward the call.
func (r *Running) route(router *director.Router) proxy.StreamDirector {
	return func(ctx context.Context, method string) (proxy.Mode, []proxy.Backend, error) {
		if err := r.node.refuseManyForResources(ctx, method); err != nil {
			return proxy.One2One, nil, err
		}
		mode, backends, err := router.Director(ctx, method)
		if err == nil && len(backends) == 1 && backends[0] == proxy.Backend(r.local) {
			backends[0], err = r.meetFault(ctx, method)
		}
		return mode, backends, err
	}
}

// refuseManyForResources uses the words of Talos 1.12; later versions have others, which are the director's.
func (n *node) refuseManyForResources(ctx context.Context, method string) error {
	if n.old && !n.maintenance && strings.HasPrefix(method, "/cosi.resource.State/") &&
		len(metadata.ValueFromIncomingContext(ctx, "nodes")) > 0 && len(metadata.ValueFromIncomingContext(ctx, "proxyfrom")) == 0 {
		return status.Error(codes.InvalidArgument, "one-2-many proxying is not supported for COSI methods")
	}
	return nil
}
