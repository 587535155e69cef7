package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/faulthttp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// front is a reverse proxy before an API server. It sees every call, so that calls can fail and the timeline records who changes what.
// It has the node's own serving certificate. A call with a client certificate of the
// cluster is passed on with the user's name in headers, as by the aggregation layer;
// all others are passed on unchanged, for the API server to authenticate.
type front struct {
	faults  *fault.Set
	facts   *timeline.Timeline
	cluster string
	config  *tls.Config
	clients *x509.CertPool
	named   *httputil.ReverseProxy // with the aggregation layer's certificate
	other   *httputil.ReverseProxy
	server  *http.Server
	conns   chan net.Conn
	done    chan struct{}
	once    sync.Once
}

// frontFiles are the files of the API server that it needs.
type frontFiles struct {
	cert, key           []byte // of the node's API server
	clientCA            []byte
	proxyCert, proxyKey []byte
}

func newFront(faults *fault.Set, facts *timeline.Timeline, cluster string, to netip.AddrPort, files frontFiles) (*front, error) {
	serving, err := tls.X509KeyPair(files.cert, files.key)
	if err != nil {
		return nil, err
	}
	proxy, err := tls.X509KeyPair(files.proxyCert, files.proxyKey)
	if err != nil {
		return nil, err
	}
	f := &front{
		faults: faults, facts: facts, cluster: cluster, clients: x509.NewCertPool(),
		config: &tls.Config{
			Certificates: []tls.Certificate{serving}, MinVersion: tls.VersionTLS12,
			// Requested but not verified here: the API server refuses an invalid one.
			ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"},
		},
		conns: make(chan net.Conn), done: make(chan struct{}),
	}
	f.clients.AppendCertsFromPEM(files.clientCA)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(files.clientCA)
	f.named = passOn(to, &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: []tls.Certificate{proxy}, MinVersion: tls.VersionTLS12})
	f.other = passOn(to, &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12})
	f.server = &http.Server{
		Handler: f,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
	}
	go func() { _ = f.server.Serve(tls.NewListener(f, f.config)) }()
	return f, nil
}

type connKey struct{}

// passOn returns a proxy to the API server. It flushes at once, for watches.
func passOn(to netip.AddrPort, config *tls.Config) *httputil.ReverseProxy {
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "https", Host: to.String()})
			r.Out.Host = r.In.Host
		},
		Transport: transport, FlushInterval: -1,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// serve handles a connection until it ends.
func (f *front) serve(client net.Conn) {
	watched := &watchedConn{Conn: client, closed: make(chan struct{})}
	select {
	case f.conns <- watched:
		<-watched.closed
	case <-f.done:
	}
}

// watchedConn is a connection with a channel that is closed with it.
type watchedConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *watchedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Accept, Close and Addr make it the listener of its own server.
func (f *front) Accept() (net.Conn, error) {
	select {
	case conn := <-f.conns:
		return conn, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close ends a waiting Accept.
func (f *front) Close() error {
	f.once.Do(func() { close(f.done) })
	return nil
}

// Addr returns nothing: connections are passed on.
func (f *front) Addr() net.Addr { return &net.TCPAddr{} }

func (f *front) close() error {
	err := f.server.Close()
	for _, proxy := range []*httputil.ReverseProxy{f.named, f.other} {
		proxy.Transport.(*http.Transport).CloseIdleConnections()
	}
	return err
}

// ServeHTTP injects the faults of a call, and passes it on.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	outcome, err := f.faults.Meet(r.Context(), fault.Point{On: fault.Kube, Name: r.Method + " " + r.URL.Path, Subject: f.cluster})
	switch {
	case err != nil:
		panic(http.ErrAbortHandler)
	case outcome == nil:
		f.pass(w, r)
	case outcome.Do == fault.Drop:
		<-r.Context().Done()
	case outcome.Do == fault.Mute:
		faulthttp.Lose(r, f.pass)
		<-r.Context().Done()
	case outcome.Do == fault.Fail:
		refuse(w, outcome)
	default:
		if outcome.Do == fault.Lose {
			faulthttp.Lose(r, f.pass)
		}
		// As if the server had stopped: the connection ends, and not just the call.
		_ = r.Context().Value(connKey{}).(net.Conn).Close()
		panic(http.ErrAbortHandler)
	}
}

func (f *front) pass(w http.ResponseWriter, r *http.Request) {
	dropIdentity(r.Header)
	if cert := f.client(r.TLS); cert != nil {
		identify(r.Header, cert)
		f.note(r, cert.Subject.CommonName)
		f.named.ServeHTTP(w, r)
		return
	}
	f.other.ServeHTTP(w, r)
}

// note records a call that changes something. Calls of the cluster's own components, which change something all the time, are left out.
func (f *front) note(r *http.Request, user string) {
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead || r.URL.Query().Has("dryRun")
	if !isRead && !strings.HasPrefix(user, "system:") {
		f.facts.Record(f.cluster, "call", r.Method+" "+r.URL.Path, "user", user)
	}
}

// client returns the caller's certificate, if the cluster issued it.
func (f *front) client(state *tls.ConnectionState) *x509.Certificate {
	if state == nil || len(state.PeerCertificates) == 0 {
		return nil
	}
	between := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: f.clients, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil
	}
	return state.PeerCertificates[0]
}

// dropIdentity removes the headers that would let a caller choose its own name.
func dropIdentity(header http.Header) {
	for name := range header {
		if strings.HasPrefix(name, "X-Remote-") {
			header.Del(name)
		}
	}
}

// identify sets the headers for the caller, as Kubernetes reads a client certificate:
// its common name is the user, its organizations are the groups.
func identify(header http.Header, cert *x509.Certificate) {
	header.Set("X-Remote-User", cert.Subject.CommonName)
	for _, group := range cert.Subject.Organization {
		header.Add("X-Remote-Group", group)
	}
}

// refuse answers with the fault's status, in the API server's format.
func refuse(w http.ResponseWriter, outcome *fault.Outcome) {
	code, err := strconv.Atoi(outcome.Code)
	if err != nil {
		code = http.StatusInternalServerError
	}
	reason := metav1.StatusReason(strings.ReplaceAll(http.StatusText(code), " ", ""))
	if code == http.StatusInternalServerError {
		reason = metav1.StatusReasonInternalError
	}
	message := outcome.Message
	if message == "" {
		message = http.StatusText(code)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// The caller may have disconnected.
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Message: message, Reason: reason, Code: int32(code),
	})
}
