package loadbalancer

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
)

// health is the result of the checks of a target so far.
type health struct {
	status hcloud.LoadBalancerTargetHealthStatusStatus
	// contrary counts the consecutive results that contradict the status.
	contrary int
}

// add adds the result of a check. A status changes after as many consecutive contrary results as `retries`; an unknown one becomes healthy with the first
// success.
func (h *health) add(passed bool, retries int) {
	became := hcloud.LoadBalancerTargetHealthStatusStatusUnhealthy
	if passed {
		became = hcloud.LoadBalancerTargetHealthStatusStatusHealthy
	}
	if became == h.status {
		h.contrary = 0
		return
	}
	h.contrary++
	unknown := h.status == hcloud.LoadBalancerTargetHealthStatusStatusUnknown
	if h.contrary >= max(1, retries) || unknown && passed {
		h.status, h.contrary = became, 0
	}
}

// probe defines how a target is checked. Two probes can be compared.
type probe struct {
	from            netip.Addr
	to              netip.AddrPort
	http, tls       bool
	domain, path    string
	response, codes string
	interval, limit int // seconds
	retries         int
}

func newProbe(service *schema.LoadBalancerService, at endpoint) probe {
	check := service.HealthCheck
	made := probe{
		from: at.from, to: netip.AddrPortFrom(at.to, uint16(check.Port)),
		interval: check.Interval, limit: check.Timeout, retries: check.Retries,
	}
	if check.HTTP != nil {
		made.http, made.tls = true, check.HTTP.TLS || check.Protocol == https
		made.domain, made.path = check.HTTP.Domain, check.HTTP.Path
		made.response, made.codes = check.HTTP.Response, strings.Join(check.HTTP.StatusCodes, ",")
	}
	return made
}

// run connects, and for an HTTP check sends a request. It is called without the lock.
func (p probe) run(ctx context.Context, over network.Network) error {
	dial := func(ctx context.Context) (net.Conn, error) { return over.Dial(ctx, p.from, p.to) }
	if !p.http {
		conn, err := dial(ctx)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		// A health check does not verify the certificate.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: p.domain},
	}
	defer transport.CloseIdleConnections()
	scheme := "http"
	if p.tls {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+p.to.String()+p.path, nil)
	if err != nil {
		return err
	}
	request.Host = p.domain
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return p.verify(response)
}

// verify returns an error if the answer to a check is not as expected.
func (p probe) verify(response *http.Response) error {
	if !matchesStatus(p.codes, response.StatusCode) {
		return fmt.Errorf("status %d is none of %s", response.StatusCode, p.codes)
	}
	if p.response == "" {
		return nil
	}
	const most = 64 << 10
	body, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return err
	}
	if !bytes.Contains(body, []byte(p.response)) {
		return fmt.Errorf("the answer does not contain %q", p.response)
	}
	return nil
}

// matchesStatus reports whether one of the patterns, such as "2??", matches a status.
func matchesStatus(patterns string, status int) bool {
	for pattern := range strings.SplitSeq(patterns, ",") {
		if ok, err := path.Match(pattern, strconv.Itoa(status)); ok && err == nil {
			return true
		}
	}
	return false
}
