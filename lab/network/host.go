package network

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Host is the network of a lab: all of it is in one network namespace, the one
// that the process runs in.
type Host struct {
	log    *slog.Logger
	kernel *netlink.Handle
	lo     netlink.Link

	mu       sync.Mutex
	up       map[netip.Addr]*sockets
	firewall map[netip.Addr][]rule
}

var _ Network = (*Host)(nil)

// NewHost prepares this process's network namespace, which must be a new one: it brings loopback up, drops packets to addresses that are not up, and adds the
// addresses of the operator and the outsider.
func NewHost(log *slog.Logger) (*Host, error) {
	kernel, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	h := &Host{log: log, kernel: kernel, up: map[netip.Addr]*sockets{}, firewall: map[netip.Addr][]rule{}}
	if err := h.setup(); err != nil {
		kernel.Close()
		return nil, fmt.Errorf("prepare the lab's network namespace: %w", err)
	}
	return h, nil
}

func (h *Host) setup() error {
	var err error
	if h.lo, err = h.kernel.LinkByName("lo"); err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	if err := h.kernel.LinkSetUp(h.lo); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	for _, addr := range []netip.Addr{Operator, Outsider, Operator6, Outsider6} {
		if err := h.Add(addr); err != nil {
			return err
		}
	}
	if err := h.addVoid(); err != nil {
		return err
	}
	if err := h.addTables(); err != nil {
		return err
	}
	// Ports from here on are those of outgoing connections: no firewall blocks
	// answers to them. The file belongs to this namespace.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", fmt.Appendf(nil, "%d 65535", firstEphemeral), 0); err != nil {
		return fmt.Errorf("set the ports of outgoing connections: %w", err)
	}
	return nil
}

// addVoid drops packets to addresses that are not up. They leave by a veth whose other end discards them. It needs no ARP, which would fail at once.
func (h *Host) addVoid() error {
	cable := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "out"}, PeerName: "void"}
	if err := h.kernel.LinkAdd(cable); err != nil {
		return fmt.Errorf("add the cable into the void: %w", err)
	}
	void, err := h.kernel.LinkByName("void")
	if err != nil {
		return fmt.Errorf("find the cable's other end: %w", err)
	}
	if err := h.kernel.LinkSetARPOff(cable); err != nil {
		return fmt.Errorf("turn off ARP: %w", err)
	}
	for _, end := range []netlink.Link{cable, void} {
		if err := h.kernel.LinkSetUp(end); err != nil {
			return fmt.Errorf("bring %s up: %w", end.Attrs().Name, err)
		}
	}
	for _, from := range []netip.Addr{Operator, Operator6} {
		for _, table := range []int{unix.RT_TABLE_MAIN, tableVoid} {
			route := &netlink.Route{
				Dst:       toIPNet(netip.PrefixFrom(unspecified(from), 0)),
				LinkIndex: cable.Attrs().Index,
				Src:       from.AsSlice(),
				Scope:     netlink.SCOPE_LINK,
				Table:     table,
			}
			if err := h.kernel.RouteAdd(route); err != nil {
				return fmt.Errorf("add the route into the void: %w", err)
			}
		}
	}
	return nil
}

// Add brings an address up, unless it is up already.
func (h *Host) Add(addr netip.Addr) error {
	addr = addr.Unmap()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.up[addr] != nil {
		return nil
	}
	if err := h.kernel.AddrAdd(h.lo, address(addr)); err != nil {
		return fmt.Errorf("add address %s: %w", addr, err)
	}
	if err := h.kernel.RouteAdd(h.routeTo(addr)); err != nil {
		return errors.Join(fmt.Errorf("route address %s: %w", addr, err), h.kernel.AddrDel(h.lo, address(addr)))
	}
	h.up[addr] = newSockets()
	return nil
}

// Remove takes an address down, if it is up. Its listeners close and its connections break: this end at once, while the other end gets no more packets, as
// after a loss of power.
func (h *Host) Remove(addr netip.Addr) error {
	addr = addr.Unmap()
	h.mu.Lock()
	defer h.mu.Unlock()
	sockets := h.up[addr]
	if sockets == nil {
		return nil
	}
	delete(h.up, addr)
	// The address is removed first, so that the peer gets no FIN or RST.
	err := errors.Join(h.kernel.RouteDel(h.routeTo(addr)), h.kernel.AddrDel(h.lo, address(addr)))
	sockets.end()
	if err != nil {
		return fmt.Errorf("remove address %s: %w", addr, err)
	}
	return nil
}

// routeTo returns the route to an address that is up. With the kernel's own route, connections to the address would also have it as their source; this route
// precedes it.
func (h *Host) routeTo(addr netip.Addr) *netlink.Route {
	from, scope := Operator, netlink.SCOPE_HOST
	if addr.Is6() {
		from, scope = Operator6, netlink.SCOPE_UNIVERSE
	}
	return &netlink.Route{
		Type:      unix.RTN_LOCAL,
		Table:     tableUp,
		Scope:     scope,
		Dst:       toIPNet(netip.PrefixFrom(addr, addr.BitLen())),
		LinkIndex: h.lo.Attrs().Index,
		Src:       from.AsSlice(),
	}
}

// address returns an address of a single host, without duplicate address detection.
func address(addr netip.Addr) *netlink.Addr {
	found := &netlink.Addr{IPNet: toIPNet(netip.PrefixFrom(addr, addr.BitLen()))}
	if addr.Is6() {
		found.Flags = unix.IFA_F_NODAD
	}
	return found
}

// Listen accepts TCP at an address that is up.
func (h *Host) Listen(at netip.AddrPort) (net.Listener, error) {
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	h.mu.Lock()
	defer h.mu.Unlock()
	sockets := h.up[at.Addr()]
	if sockets == nil {
		return nil, fmt.Errorf("listen at %s: the address is not up", at)
	}
	inner, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return sockets.listener(inner), nil
}

// Dial connects from an address that is up, or as the operator.
func (h *Host) Dial(ctx context.Context, from netip.Addr, to netip.AddrPort) (net.Conn, error) {
	dialer := net.Dialer{}
	if !from.IsValid() {
		return dialer.DialContext(ctx, "tcp", to.String())
	}
	from = from.Unmap()
	h.mu.Lock()
	sockets := h.up[from]
	h.mu.Unlock()
	if sockets == nil {
		return nil, fmt.Errorf("connect to %s: the source address %s is not up", to, from)
	}
	dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	dialer.Control = lateSourcePort
	conn, err := dialer.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	return sockets.connection(conn.(*net.TCPConn))
}

// lateSourcePort makes the kernel choose the source port when it knows the destination: otherwise each port of an address would serve only one connection.
func lateSourcePort(_, _ string, conn syscall.RawConn) error {
	var set error
	err := conn.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
	return errors.Join(err, set)
}

func toIPNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}

func unspecified(like netip.Addr) netip.Addr {
	if like.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}
