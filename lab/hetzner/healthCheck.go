package hetzner

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

// health is what the checks of a target have shown so far.
type health struct {
	status hcloud.LoadBalancerTargetHealthStatusStatus
	// against counts the results in a row that speak against the status.
	against int
}

// note takes the result of a check. It takes as many in a row as retries says
// to change a status, but a target of which nothing is known is healthy at once.
func (h *health) note(passed bool, retries int) {
	became := hcloud.LoadBalancerTargetHealthStatusStatusUnhealthy
	if passed {
		became = hcloud.LoadBalancerTargetHealthStatusStatusHealthy
	}
	if became == h.status {
		h.against = 0
		return
	}
	h.against++
	unknown := h.status == hcloud.LoadBalancerTargetHealthStatusStatusUnknown
	if h.against >= max(1, retries) || unknown && passed {
		h.status, h.against = became, 0
	}
}

// probe is how a target is checked. It can be compared.
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

// try connects, and asks when it is an HTTP check.
func (p probe) try(ctx context.Context, over network.Network) error {
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
		// A health check does not ask whom it talks to.
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
	return p.judge(response)
}

// judge says what is wrong with the answer to a check.
func (p probe) judge(response *http.Response) error {
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

// matchesStatus says whether one of the patterns, such as "2??", is the status.
func matchesStatus(patterns string, status int) bool {
	for pattern := range strings.SplitSeq(patterns, ",") {
		if ok, err := path.Match(pattern, strconv.Itoa(status)); ok && err == nil {
			return true
		}
	}
	return false
}
