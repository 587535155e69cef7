package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"k8s.io/client-go/rest"
)

// join adds the names of all nodes to the API server's serving certificate. The API server reads the file again when it changes.
func (c *component) join() error {
	if c.kind != "kube-apiserver" || len(c.users) < 2 || c.run == nil || !ended(c.run.ready) {
		return nil
	}
	var certs [][]byte
	var first *share
	for _, host := range slices.Sorted(maps.Keys(c.users)) {
		part := c.users[host]
		if first == nil {
			first = part
		}
		certs = append(certs, part.files[flag(part.command, "tls-cert-file")])
	}
	joined, err := joinServing(first.caCert, first.caKey, certs)
	if err != nil {
		return fmt.Errorf("a serving certificate for %d nodes: %w", len(certs), err)
	}
	rewrite := c.rewriting(first)
	for name, data := range map[string][]byte{"tls-private-key-file": joined.Key, "tls-cert-file": joined.Crt} {
		if err := replaceFile(rewrite.relocate(flag(first.command, name)), data); err != nil {
			return err
		}
	}
	return nil
}

// awaitShown waits until the API server serves with a certificate that is also valid for the node: it does not notice at once that the file changed.
func (c *component) awaitShown(ctx context.Context, run *incarnation, part *share) error {
	if c.kind != "kube-apiserver" {
		return nil
	}
	own, err := parseCertificate(part.files[flag(part.command, "tls-cert-file")])
	if err != nil {
		return err
	}
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for !covers(c.shown(ctx), own) {
		select {
		case <-ticker.C:
		case <-run.done:
			return run.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// covers reports whether a certificate is valid for all addresses of another.
func covers(shown, own *x509.Certificate) bool {
	if shown == nil {
		return false
	}
	for _, address := range own.IPAddresses {
		if !slices.ContainsFunc(shown.IPAddresses, address.Equal) {
			return false
		}
	}
	return true
}

// shown returns the certificate with which the process serves now.
func (c *component) shown(ctx context.Context) *x509.Certificate {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	// The certificate is only inspected, not trusted.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", c.serving().String())
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
}

// awaitReady waits until the process reports that it is ready.
func (c *component) awaitReady(ctx context.Context, process *process) error {
	client, err := c.healthClient()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	path := "/healthz"
	if c.kind == "kube-apiserver" {
		path = "/readyz"
	}
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1"+path, nil)
		if err != nil {
			return err
		}
		if response, err := client.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ticker.C:
		case <-process.done:
			return process.failure()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// healthClient returns a client for health checks of this process: an API server is asked as administrator, because it refuses anonymous users; the others
// serve with self-signed certificates.
func (c *component) healthClient() (*http.Client, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", c.serving().String())
	}
	if c.kind != "kube-apiserver" {
		transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		return &http.Client{Transport: transport, Timeout: askFor}, nil
	}
	c.space.mu.Lock()
	config := rest.CopyConfig(c.space.api.config)
	c.space.mu.Unlock()
	config.Dial, config.Timeout = dial, askFor
	return rest.HTTPClientFor(config)
}
