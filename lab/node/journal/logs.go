// Package journal contains what one boot of a node records: logs and events.
package journal

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/ring"
)

// linesKept is the number of lines that a log keeps.
const linesKept = 400

// Log is a log that can be followed.
type Log struct{ *ring.Ring[string] }

func newLog() Log { return Log{ring.New[string](linesKept)} }

// Read calls the function for the last lines (all for -1) and, when following, for new ones until the context or the boot ends.
func (l Log) Read(ctx context.Context, end <-chan struct{}, follow bool, tail int, call func([]byte) error) error {
	line := func(text string) error { return call([]byte(text)) }
	if follow {
		return l.Follow(ctx, end, tail, line)
	}
	return l.Ring.Read(tail, line)
}

// Logs are the logs of one boot: one for each service, and that of the kernel.
type Logs struct {
	Kernel Log

	mu       sync.Mutex
	services map[string]Log
}

// NewLogs returns empty logs.
func NewLogs() *Logs {
	return &Logs{Kernel: newLog(), services: map[string]Log{}}
}

// Dmesg writes to the kernel's log as the kernel.
func (l *Logs) Dmesg(format string, args ...any) {
	l.kernlog("kern", "info", fmt.Sprintf(format, args...))
}

// Talos writes as machined does, to the kernel's log and to its own.
func (l *Logs) Talos(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.kernlog("user", "warning", "[talos] "+text)
	l.Service("machined").Add(time.Now().UTC().Format("2006/01/02 15:04:05") + " [talos] " + text)
}

func (l *Logs) kernlog(facility, priority, text string) {
	now := time.Now()
	l.Kernel.Add(fmt.Sprintf("%s: %7s: [%s]: %s", facility, priority, now.UTC().Format(time.RFC3339Nano), text))
}

// Service returns the log of a service.
func (l *Logs) Service(id string) Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.services[id]; !known {
		l.services[id] = newLog()
	}
	return l.services[id]
}

// greetings are the first lines of services; other services have a generic one.
var greetings = map[string][]string{
	"etcd": {
		`{"level":"info","caller":"etcdmain/etcd.go:64","msg":"Running: ","args":["/usr/local/bin/etcd"]}`,
		`{"level":"info","caller":"embed/etcd.go:138","msg":"configuring peer listeners"}`,
		`{"level":"info","caller":"embed/serve.go:210","msg":"serving client traffic securely","traffic":"grpc+http"}`,
	},
	"kubelet": {
		`server.go:212] "--feature-gates will be set"`,
		`kubelet.go:424] "Starting kubelet main sync loop"`,
		`kubelet_node_status.go:75] "Attempting to register node"`,
	},
	"cri":        {`level=info msg="starting containerd" version=v2.2.1`, `level=info msg="containerd successfully booted"`},
	"containerd": {`level=info msg="starting containerd" version=v2.2.1`, `level=info msg="containerd successfully booted"`},
}

// Greet writes the first lines of a service.
func (l *Logs) Greet(id string, container bool) {
	lines, known := greetings[id]
	if !known {
		lines = []string{id + " started"}
		if container {
			lines = []string{"starting " + id, "listening"}
		}
	}
	for _, line := range lines {
		l.Service(id).Add(time.Now().UTC().Format(time.RFC3339) + " " + line)
	}
}

// Known returns the log of a service that has written something.
func (l *Logs) Known(id string) (Log, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, known := l.services[id]
	return found, known
}

// Logger writes to the log of a service in zap's format, as machined does.
func (l *Logs) Logger(id string) *zap.Logger {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoding.ConsoleSeparator = " "
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoding), zapcore.AddSync(lines{l.Service(id)}), zapcore.InfoLevel))
}

// lines is a writer to a log.
type lines struct{ Log }

func (l lines) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		l.Add(strings.TrimSuffix(line, "\n"))
	}
	return len(data), nil
}
