package hetzner

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
)

// greet listens at a server's address and sends a name to every client.
func (b *bench) greet(t *testing.T, addr, name string, port uint16) net.Listener {
	t.Helper()
	at := netip.MustParseAddr(addr)
	require.NoError(t, b.network.Add(at))
	listener, err := b.network.Listen(netip.AddrPortFrom(at, port))
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintln(conn, name)
			_ = conn.Close()
		}
	}()
	return listener
}

// ask connects to an address of the load balancer and returns what the target sends.
func (b *bench) ask(t *testing.T, addr net.IP, port uint16) (string, error) {
	t.Helper()
	to, ok := netip.AddrFromSlice(addr.To4())
	require.True(t, ok)
	conn, err := b.network.Dial(t.Context(), netip.MustParseAddr("192.0.2.100"), netip.AddrPortFrom(to, port))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	return bufio.NewReader(conn).ReadString('\n')
}

// becomes waits until a fact about a target is recorded for the n-th time.
func (b *bench) becomes(t *testing.T, balancer, status, target string, times int) {
	t.Helper()
	seen, from := 0, 0
	for {
		facts, more := b.timeline.After(from)
		for _, fact := range facts {
			from = fact.Seq
			if fact.Subject == balancer && fact.What == "target" && fact.Value == status && fact.Detail["target"] == target {
				if seen++; seen == times {
					return
				}
			}
		}
		if facts != nil {
			continue
		}
		select {
		case <-more:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s of %s did not become %s %d times", target, balancer, status, times)
		}
	}
}

func TestLoadBalancerLeadsToHealthyTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	inside := b.privateNet(t)
	var servers []*hcloud.Server
	for i, name := range []string{"a", "b"} {
		s := b.server(t, name, func(opts *hcloud.ServerCreateOpts) { opts.Labels = map[string]string{"role": "cp"} })
		action, _, err := b.Server.AttachToNetwork(t.Context(), s, hcloud.ServerAttachToNetworkOpts{Network: inside, IP: net.ParseIP(fmt.Sprintf("10.0.1.1%d", i))})
		b.wait(t, err, action)
		servers = append(servers, s)
	}
	first := b.greet(t, "10.0.1.10", "a", 6443)
	b.greet(t, "10.0.1.11", "b", 6443)

	made, _, err := b.LoadBalancer.Create(t.Context(), hcloud.LoadBalancerCreateOpts{
		Name: "lb", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, Location: &hcloud.Location{Name: "fsn1"},
		Services: []hcloud.LoadBalancerCreateOptsService{{
			Protocol: hcloud.LoadBalancerServiceProtocolTCP, ListenPort: hcloud.Ptr(6443), DestinationPort: hcloud.Ptr(6443),
			HealthCheck: &hcloud.LoadBalancerCreateOptsServiceHealthCheck{
				Protocol: hcloud.LoadBalancerServiceProtocolTCP, Port: hcloud.Ptr(6443), Interval: hcloud.Ptr(3 * time.Second),
				Timeout: hcloud.Ptr(3 * time.Second), Retries: hcloud.Ptr(2),
			},
		}},
	})
	require.NoError(t, err)
	b.wait(t, nil, made.Action)
	lb := made.LoadBalancer
	_, err = b.ask(t, lb.PublicNet.IPv4.IP, 6443)
	require.Error(t, err, "without a target a connection is reset")

	_, _, err = b.LoadBalancer.AddServerTarget(t.Context(), lb, hcloud.LoadBalancerAddServerTargetOpts{Server: servers[0], UsePrivateIP: hcloud.Ptr(true)})
	refused(t, err, hcloud.ErrorCodeLoadBalancerNotAttachedToNetwork, "not attached")
	action, _, err := b.LoadBalancer.AttachToNetwork(t.Context(), lb, hcloud.LoadBalancerAttachToNetworkOpts{Network: inside, IP: net.ParseIP("10.0.1.2")})
	b.wait(t, err, action)
	action, _, err = b.LoadBalancer.AddLabelSelectorTarget(t.Context(), lb, hcloud.LoadBalancerAddLabelSelectorTargetOpts{Selector: "role=cp", UsePrivateIP: hcloud.Ptr(true)})
	b.wait(t, err, action)
	_, _, err = b.LoadBalancer.AddLabelSelectorTarget(t.Context(), lb, hcloud.LoadBalancerAddLabelSelectorTargetOpts{Selector: "role=cp", UsePrivateIP: hcloud.Ptr(true)})
	refused(t, err, hcloud.ErrorCodeTargetAlreadyDefined, "already defined")
	b.becomes(t, "lb", "healthy", "a", 1)
	b.becomes(t, "lb", "healthy", "b", 1)

	said := map[string]int{}
	for range 4 {
		line, err := b.ask(t, net.ParseIP("10.0.1.2"), 6443)
		require.NoError(t, err)
		said[line]++
	}
	require.Equal(t, map[string]int{"a\n": 2, "b\n": 2}, said, "one after the other")

	require.NoError(t, first.Close())
	b.becomes(t, "lb", "unhealthy", "a", 1)
	for range 3 {
		line, err := b.ask(t, lb.PublicNet.IPv4.IP, 6443)
		require.NoError(t, err)
		require.Equal(t, "b\n", line)
	}
	found, _, err := b.LoadBalancer.GetByID(t.Context(), lb.ID)
	require.NoError(t, err)
	health := map[int64]hcloud.LoadBalancerTargetHealthStatusStatus{}
	for _, one := range found.Targets[0].Targets {
		health[one.Server.Server.ID] = one.HealthStatus[0].Status
	}
	require.Equal(t, map[int64]hcloud.LoadBalancerTargetHealthStatusStatus{servers[0].ID: "unhealthy", servers[1].ID: "healthy"}, health)
	b.greet(t, "10.0.1.10", "a", 6443)
	b.becomes(t, "lb", "healthy", "a", 2)

	_, err = b.faults.Add(fault.Rule{On: fault.Health, Name: "b:6443", Subject: "lb", Do: fault.Fail, Times: 2})
	require.NoError(t, err)
	b.becomes(t, "lb", "unhealthy", "b", 1)
	b.becomes(t, "lb", "healthy", "b", 2)

	action, _, err = b.LoadBalancer.DisablePublicInterface(t.Context(), lb)
	b.wait(t, err, action)
	to, _ := netip.AddrFromSlice(lb.PublicNet.IPv4.IP.To4())
	_, err = b.network.Dial(t.Context(), netip.MustParseAddr("192.0.2.100"), netip.AddrPortFrom(to, 6443))
	require.Error(t, err)

	_, err = b.LoadBalancer.Delete(t.Context(), lb)
	require.NoError(t, err)
	_, err = b.network.Dial(t.Context(), netip.MustParseAddr("192.0.2.100"), netip.MustParseAddrPort("10.0.1.2:6443"))
	require.Error(t, err)
}

func TestLoadBalancerChecksOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made, _, err := b.LoadBalancer.Create(t.Context(), hcloud.LoadBalancerCreateOpts{
		Name: "web", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, NetworkZone: hcloud.NetworkZoneEUCentral,
		Algorithm: &hcloud.LoadBalancerAlgorithm{Type: hcloud.LoadBalancerAlgorithmTypeLeastConnections},
	})
	require.NoError(t, err)
	b.wait(t, nil, made.Action)
	lb := made.LoadBalancer
	action, _, err := b.LoadBalancer.AddService(t.Context(), lb, hcloud.LoadBalancerAddServiceOpts{
		Protocol: hcloud.LoadBalancerServiceProtocolHTTP, DestinationPort: hcloud.Ptr(8080),
		HealthCheck: &hcloud.LoadBalancerAddServiceOptsHealthCheck{
			Protocol: hcloud.LoadBalancerServiceProtocolHTTP, Port: hcloud.Ptr(8080), Retries: hcloud.Ptr(1),
			HTTP: &hcloud.LoadBalancerAddServiceOptsHealthCheckHTTP{Path: hcloud.Ptr("/ready"), Response: hcloud.Ptr("yes"), StatusCodes: []string{"200"}},
		},
	})
	b.wait(t, err, action)
	get := func() (int, string) {
		to, _ := netip.AddrFromSlice(lb.PublicNet.IPv4.IP.To4())
		conn, err := b.network.Dial(t.Context(), netip.MustParseAddr("192.0.2.100"), netip.AddrPortFrom(to, 80))
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		_, err = io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n")
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body)
	}
	status, _ := get()
	require.Equal(t, http.StatusServiceUnavailable, status)

	outside := netip.MustParseAddr("192.0.2.30")
	require.NoError(t, b.network.Add(outside))
	listener, err := b.network.Listen(netip.AddrPortFrom(outside, 8080))
	require.NoError(t, err)
	ready := make(chan string, 1)
	ready <- "no"
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := <-ready
		ready <- answer
		_, _ = io.WriteString(w, answer)
	})}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	action, _, err = b.LoadBalancer.AddIPTarget(t.Context(), lb, hcloud.LoadBalancerAddIPTargetOpts{IP: net.ParseIP("192.0.2.30")})
	b.wait(t, err, action)
	b.becomes(t, "web", "unhealthy", "192.0.2.30", 1)
	<-ready
	ready <- "yes"
	b.becomes(t, "web", "healthy", "192.0.2.30", 1)
	status, body := get()
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "yes", body)
	action, _, err = b.LoadBalancer.RemoveIPTarget(t.Context(), lb, net.ParseIP("192.0.2.30"))
	b.wait(t, err, action)
	_, _, err = b.LoadBalancer.RemoveIPTarget(t.Context(), lb, net.ParseIP("192.0.2.30"))
	refused(t, err, api.CodeTargetNotFound, "target not found")
	action, _, err = b.LoadBalancer.DeleteService(t.Context(), lb, 80)
	b.wait(t, err, action)
}

func TestLoadBalancerRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made, _, err := b.LoadBalancer.Create(t.Context(), hcloud.LoadBalancerCreateOpts{
		Name: "lb", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, Location: &hcloud.Location{Name: "fsn1"},
	})
	require.NoError(t, err)
	b.wait(t, nil, made.Action)
	lb := made.LoadBalancer
	service := func(port int) error {
		action, _, err := b.LoadBalancer.AddService(t.Context(), lb, hcloud.LoadBalancerAddServiceOpts{
			Protocol: hcloud.LoadBalancerServiceProtocolTCP, ListenPort: &port, DestinationPort: &port,
		})
		if err == nil {
			b.wait(t, nil, action)
		}
		return err
	}
	for port := range lb.LoadBalancerType.MaxServices {
		require.NoError(t, service(9000+port))
	}
	refused(t, service(9000), hcloud.ErrorCodeSourcePortAlreadyUsed, "already used")
	refused(t, service(9999), hcloud.ErrorCodeResourceLimitExceeded, "allows 5 services")
	inner := b.server(t, "inner", func(opts *hcloud.ServerCreateOpts) {
		opts.PublicNet, opts.StartAfterCreate = &hcloud.ServerCreatePublicNet{}, hcloud.Ptr(false)
	})
	_, _, err = b.LoadBalancer.AddServerTarget(t.Context(), lb, hcloud.LoadBalancerAddServerTargetOpts{Server: inner})
	refused(t, err, hcloud.ErrorCodeMissingIPv4, "no public IPv4")
	action, _, err := b.LoadBalancer.ChangeProtection(t.Context(), lb, hcloud.LoadBalancerChangeProtectionOpts{Delete: hcloud.Ptr(true)})
	b.wait(t, err, action)
	_, err = b.LoadBalancer.Delete(t.Context(), lb)
	refused(t, err, hcloud.ErrorCodeProtected, "load balancer deletion is protected")
}
