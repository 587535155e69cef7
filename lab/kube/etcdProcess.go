package kube

import (
	"context"
	"crypto/tls"
	stdx509 "crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

const (
	// lookAgain is the interval at which a starting process is polled.
	lookAgain = 50 * time.Millisecond
	// askFor is the timeout of one such poll.
	askFor = 2 * time.Second
	// etcdName is the name of the one real member.
	etcdName = "lab"
)

// etcdProcess is the one real etcd of a cluster. It listens on an internal
// address only, with certificates of the cluster's own etcd CA.
type etcdProcess struct {
	life    context.Context
	binary  string
	dir     string
	address netip.Addr
	tls     *tls.Config

	process *process
	client  *clientv3.Client
	paused  bool
}

func (e *etcdProcess) endpoint() string {
	return "https://" + netip.AddrPortFrom(e.address, 2379).String()
}

func (e *etcdProcess) peer() string {
	return "http://" + netip.AddrPortFrom(e.address, 2380).String()
}

// prepare writes its certificates.
func (e *etcdProcess) prepare(spec cluster.Member) error {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	server, err := issue(spec.CACert, spec.CAKey, "etcd", []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth, stdx509.ExtKeyUsageClientAuth},
		[]net.IP{e.address.AsSlice()}, []string{"localhost"})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"ca.crt": spec.CACert, "server.crt": server.Crt, "server.key": server.Key} {
		if err := replaceFile(filepath.Join(e.dir, name), data); err != nil {
			return err
		}
	}
	client, err := issue(spec.CACert, spec.CAKey, "lab", []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}, nil, nil)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(client.Crt, client.Key)
	if err != nil {
		return err
	}
	roots := stdx509.NewCertPool()
	roots.AppendCertsFromPEM(spec.CACert)
	e.tls = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return nil
}

// start starts it, on existing data if there is any, and returns when it answers.
func (e *etcdProcess) start(ctx context.Context) error {
	peer := e.peer()
	started, err := startProcess(e.life, e.binary, "etcd", []string{
		"--name=" + etcdName,
		"--data-dir=" + e.data(),
		"--listen-client-urls=" + e.endpoint(),
		"--advertise-client-urls=" + e.endpoint(),
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + etcdName + "=" + peer,
		"--client-cert-auth=true",
		"--cert-file=" + filepath.Join(e.dir, "server.crt"),
		"--key-file=" + filepath.Join(e.dir, "server.key"),
		"--trusted-ca-file=" + filepath.Join(e.dir, "ca.crt"),
		// If this host loses its power, a lab's data may be lost.
		"--unsafe-no-fsync=true",
		// It is the only member, and elects itself after this time.
		"--heartbeat-interval=50", "--election-timeout=250",
		"--log-level=warn",
	}, os.Environ(), filepath.Join(e.dir, "etcd.log"))
	if err != nil {
		return err
	}
	e.process, e.paused = started, false
	e.client, err = clientv3.New(clientv3.Config{
		Endpoints: []string{e.endpoint()}, TLS: e.tls, DialTimeout: askFor, Logger: zap.NewNop(),
		// Nothing listens yet, and by default it would retry after a second.
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: grpcbackoff.Config{BaseDelay: lookAgain, Multiplier: 1, MaxDelay: lookAgain}, MinConnectTimeout: askFor,
		})},
	})
	if err != nil {
		return errors.Join(err, e.stop())
	}
	return e.awaitServing(ctx)
}

func (e *etcdProcess) awaitServing(ctx context.Context) error {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		if e.serves(ctx) {
			return nil
		}
		select {
		case <-e.process.done:
			return errors.Join(e.process.failure(), e.stop())
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), e.stop())
		case <-ticker.C:
		}
	}
}

func (e *etcdProcess) serves(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	_, err := e.client.Get(ctx, "health")
	return err == nil
}

// settle adapts the process to the members: it runs while a majority of them runs, is paused while fewer run, and stopped while none does.
func (e *etcdProcess) settle(ctx context.Context, majority, idle bool) error {
	switch {
	case idle:
		return e.stop()
	case majority && e.process == nil:
		return e.start(ctx)
	case majority && e.paused:
		e.paused = false
		return e.process.resume()
	case !majority && e.process != nil && !e.paused:
		e.paused = true
		return e.process.pause()
	}
	return nil
}

func (e *etcdProcess) stop() error {
	if e.process == nil {
		return nil
	}
	var err error
	if e.client != nil {
		err = e.client.Close()
	}
	e.process.stop()
	e.process, e.client, e.paused = nil, nil, false
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close the client of etcd: %w", err)
	}
	return nil
}

// wipe deletes the data of a stopped process.
func (e *etcdProcess) wipe() error { return os.RemoveAll(e.data()) }
