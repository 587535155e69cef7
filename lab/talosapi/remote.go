package talosapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/grpc-proxy/proxy"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"

	"github.com/siderolabs/talos/internal/app/apid/pkg/backend"
	"github.com/siderolabs/talos/internal/app/apid/pkg/provider"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	resourcenetwork "github.com/siderolabs/talos/pkg/machinery/resources/network"
)

// remotes are the other nodes to which a control plane forwards calls.
type remotes struct {
	node         *node
	certificates *provider.TLSConfig

	mu    sync.Mutex
	known map[string]*remote
}

// remote is another node: Talos' own code, except for the connection.
type remote struct {
	*backend.APID
	conn *grpc.ClientConn
}

func newRemotes(node *node, certificates *provider.TLSConfig) *remotes {
	return &remotes{node: node, certificates: certificates, known: map[string]*remote{}}
}

func (r *remotes) get(target string) (proxy.Backend, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.known[target]; known != nil {
		return known, nil
	}
	apid, err := backend.NewAPID(target, r.certificates.ClientConfig)
	if err != nil {
		return nil, err
	}
	config, err := r.certificates.ClientConfig()
	if err != nil {
		return nil, err
	}
	// With apid's settings: a node that comes back is found soon.
	patience := backoff.DefaultConfig
	patience.MaxDelay = 15 * time.Second
	conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(target, fmt.Sprint(constants.ApidPort)),
		grpc.WithContextDialer(r.node.dial),
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithInitialWindowSize(65535*32),
		grpc.WithInitialConnWindowSize(65535*16),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: patience, MinConnectTimeout: 20 * time.Second}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(constants.GRPCMaxMessageSize),
			grpc.ForceCodecV2(proxy.Codec()),
		),
	)
	if err != nil {
		return nil, err
	}
	r.known[target] = &remote{APID: apid, conn: conn}
	return r.known[target], nil
}

// flush drops the connections: they were made with an earlier certificate.
func (r *remotes) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.known {
		known.Close()
		_ = known.conn.Close()
	}
	clear(r.known)
}

// GetConnection lets Talos prepare the context. The connection that comes with it is never used, and gRPC dials only at the first use.
func (r *remote) GetConnection(ctx context.Context, method string) (context.Context, *grpc.ClientConn, error) {
	ctx, _, err := r.APID.GetConnection(ctx, method)
	return ctx, r.conn, err
}

// dial connects from the node's own address, so that firewalls recognize the caller.
func (n *node) dial(ctx context.Context, target string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	addr, err := n.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	to, err := netip.ParseAddrPort(net.JoinHostPort(addr.String(), port))
	if err != nil {
		return nil, err
	}
	conn, err := n.Network.Dial(ctx, nearest(n.Addresses(), addr), to)
	var failed *net.OpError
	if errors.As(err, &failed) {
		// Talos does not choose a source address, so its errors name none.
		failed.Source = nil
	}
	return conn, err
}

// resolve finds a node by name among the members that the node knows.
func (n *node) resolve(ctx context.Context, host string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, nil
	}
	members, err := safe.StateListAll[*cluster.Member](ctx, n.Resources())
	if err != nil {
		return netip.Addr{}, err
	}
	for member := range members.All() {
		spec := member.TypedSpec()
		if (member.Metadata().ID() == host || spec.Hostname == host) && len(spec.Addresses) > 0 {
			return spec.Addresses[0], nil
		}
	}
	return netip.Addr{}, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// nearest returns the address that shares the most bits with the target, as the kernel would choose; none if there is none of its family.
func nearest(addresses []netip.Addr, target netip.Addr) netip.Addr {
	var best netip.Addr
	most := -1
	for _, addr := range addresses {
		if addr.Is4() != target.Is4() {
			continue
		}
		shared := 0
		for shared < target.BitLen() && netip.PrefixFrom(addr, shared+1).Contains(target) {
			shared++
		}
		if shared > most {
			best, most = addr, shared
		}
	}
	return best
}

// IsLocalTarget reports whether a name or an address is this node's.
func (n *node) IsLocalTarget(target string) bool {
	for _, addr := range n.Addresses() {
		if addr.String() == target {
			return true
		}
	}
	hostname, err := safe.StateGetByID[*resourcenetwork.HostnameStatus](n.up, n.Resources(), resourcenetwork.HostnameID)
	return err == nil && (target == hostname.TypedSpec().Hostname || target == hostname.TypedSpec().FQDN())
}
