package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/control"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// closeWithin is the time that a lab has for an orderly end.
const closeWithin = 10 * time.Second

// Status is the answer to GET /status.
type Status struct {
	Ready   bool    `json:"ready"`
	Seconds float64 `json:"seconds"` // since it started
	// Started is the start of the timeline.
	Started time.Time    `json:"started"`
	Profile pace.Profile `json:"profile"`
	Seed    uint64       `json:"seed"`
	// Control and Kubernetes are on the host's loopback.
	Control    string            `json:"control"`
	Kubernetes string            `json:"kubernetes"`
	Env        map[string]string `json:"env"`
	Lab        any               `json:"lab"`
}

// Serve runs a lab in the namespaces that Init prepared, until it is asked to end.
func Serve(folder Folder, compose Compose) error {
	progress := os.NewFile(progressFD, "progress")
	reports := json.NewEncoder(progress)
	// The command that waited for it may have ended; the lab continues.
	say := func(line report) { _ = reports.Encode(line) }
	s := server{folder: folder, log: slog.New(slog.NewTextHandler(os.Stderr, nil)), begun: time.Now()}
	err := s.run(compose, say)
	if err != nil {
		say(report{Error: err.Error()})
	}
	return err
}

// server is a lab that is served.
type server struct {
	folder Folder
	info   Info
	log    *slog.Logger
	begun  time.Time
}

func (s *server) run(compose Compose, say func(report)) error {
	ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer end()
	if err := s.readConfig(); err != nil {
		return err
	}
	if err := os.Setenv("TMPDIR", s.folder.Path(tempDir)); err != nil {
		return err
	}
	record, err := os.Create(s.folder.Path(timelineFile))
	if err != nil {
		return err
	}
	defer record.Close()

	say(report{Step: "preparing the network"})
	host, err := network.NewHost(s.log)
	if err != nil {
		return explain(err)
	}
	if err := host.Add(network.Control); err != nil {
		return err
	}
	paces, err := pace.New(s.info.Config.Profile, s.info.Config.Seed)
	if err != nil {
		return err
	}
	facts := timeline.New(time.Now, record)
	faults := fault.NewSet(facts)
	plan := scenario.NewPlan(faults, facts)
	if _, err := plan.Add(s.info.Config.Scenario...); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	// A held fault must not keep the lab from ending.
	context.AfterFunc(ctx, plan.Close)
	lab, err := compose(ctx, Parts{
		Dir: s.folder.Path(stateDir), Config: s.info.Config, Network: host, Timeline: facts, Pace: paces, Faults: faults,
		KubernetesAddress: s.info.Kubernetes, Progress: func(step string) { say(report{Step: step}) }, Log: s.log,
	})
	if err != nil {
		return err
	}
	api := &control.API{
		Plan: plan, Timeline: facts, Down: end, Kubeconfig: lab.Kubeconfig, Leases: lab.Leases, Machines: lab.Machines(),
		Status: func() any { return s.status(lab, facts.Started()) },
	}
	serving, err := s.serve(ctx, host, api, lab)
	if err == nil {
		facts.Record("lab", "state", "ready")
		say(report{Ready: true, Env: lab.Env()})
		<-ctx.Done()
		s.log.Info("ending")
	}
	end()
	closing, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	err = errors.Join(err, lab.Close(closing))
	serving.Wait()
	return err
}

// readConfig waits for the config. It never arrives if the command that started the lab ended before it had recorded the lab.
func (s *server) readConfig() error {
	file := os.NewFile(configFD, "config")
	defer file.Close()
	err := json.NewDecoder(file).Decode(&s.info)
	if errors.Is(err, io.EOF) {
		return errors.New("got no config: the command that started the lab has ended")
	}
	return err
}

// serve opens the lab's sockets and addresses, until the context ends.
func (s *server) serve(ctx context.Context, inside network.Network, api *control.API, lab Lab) (*sync.WaitGroup, error) {
	var running sync.WaitGroup
	atControl, err := inside.Listen(netip.AddrPortFrom(network.Control, 80))
	if err != nil {
		return &running, err
	}
	running.Go(func() { s.serveAPI(ctx, atControl, api.Handler()) })
	for fd, serve := range map[uintptr]func(net.Listener){
		controlFD:    func(l net.Listener) { s.serveAPI(ctx, l, api.OwnerHandler()) },
		loopbackFD:   func(l net.Listener) { s.serveAPI(ctx, l, api.Handler()) },
		kubernetesFD: func(l net.Listener) { forward(ctx, l, lab.DialKubernetes, s.log) },
	} {
		listener, err := inherited(fd)
		if err != nil {
			return &running, fmt.Errorf("take over listener %d: %w", fd, err)
		}
		running.Go(func() { serve(listener) })
	}
	return &running, nil
}

// serveAPI serves until the context ends; requests that are still open then are cancelled.
func (s *server) serveAPI(ctx context.Context, listener net.Listener, handler http.Handler) {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	ended := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(ended)
		// Time for answers that are being sent.
		ending, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close()
		}
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		s.log.Error("serve the control API", "at", listener.Addr(), "error", err)
	}
	// Serve returns when the shutdown starts; the answer to the request for it may still be in progress.
	<-ended
}

func (s *server) status(lab Lab, started time.Time) Status {
	return Status{
		Ready: true, Seconds: time.Since(s.begun).Seconds(), Started: started, Profile: s.info.Config.Profile, Seed: s.info.Config.Seed,
		Control: s.info.Control, Kubernetes: s.info.Kubernetes, Env: lab.Env(), Lab: lab.Status(),
	}
}
