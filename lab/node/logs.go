package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// linesKept is how much of a log stays in memory.
const linesKept = 400

// journal is a log that can be followed.
type journal struct {
	mu    sync.Mutex
	lines []string
	first int
	more  chan struct{}
}

func newJournal() *journal {
	return &journal{more: make(chan struct{})}
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	if surplus := len(j.lines) - linesKept; surplus > linesKept/4 {
		j.lines, j.first = append([]string(nil), j.lines[surplus:]...), j.first+surplus
	}
	close(j.more)
	j.more = make(chan struct{})
}

// read calls for the last lines, all for -1, and when following for those to
// come until the context or the boot ends.
func (j *journal) read(ctx context.Context, ends <-chan struct{}, follow bool, tail int, call func([]byte) error) error {
	j.mu.Lock()
	next := j.first + len(j.lines) - tail
	if tail < 0 || next < j.first {
		next = j.first
	}
	j.mu.Unlock()
	for {
		j.mu.Lock()
		fresh, more := j.lines[min(max(next-j.first, 0), len(j.lines)):], j.more
		next = j.first + len(j.lines)
		j.mu.Unlock()
		for _, line := range fresh {
			if err := call([]byte(line)); err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ends:
			return nil
		}
	}
}

// logs are the logs of one boot: a journal per service and the kernel's.
type logs struct {
	kernel *journal

	mu       sync.Mutex
	services map[string]*journal
}

func newLogs() *logs {
	return &logs{kernel: newJournal(), services: map[string]*journal{}}
}

// dmesg writes to the kernel's log, as the kernel.
func (l *logs) dmesg(format string, args ...any) {
	l.kernlog("kern", "info", fmt.Sprintf(format, args...))
}

// talos writes as machined does, to the kernel's log and to its own.
func (l *logs) talos(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.kernlog("user", "warning", "[talos] "+text)
	l.service("machined").add(time.Now().UTC().Format("2006/01/02 15:04:05") + " [talos] " + text)
}

func (l *logs) kernlog(facility, priority, text string) {
	now := time.Now()
	l.kernel.add(fmt.Sprintf("%s: %7s: [%s]: %s", facility, priority, now.UTC().Format(time.RFC3339Nano), text))
}

// service is the journal of a service.
func (l *logs) service(id string) *journal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.services[id] == nil {
		l.services[id] = newJournal()
	}
	return l.services[id]
}

// greetings are the first lines of services; others begin with a plain one.
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

// greet writes what a service says when it starts.
func (l *logs) greet(id string, container bool) {
	lines, known := greetings[id]
	if !known {
		lines = []string{id + " started"}
		if container {
			lines = []string{"starting " + id, "listening"}
		}
	}
	for _, line := range lines {
		l.service(id).add(time.Now().UTC().Format(time.RFC3339) + " " + line)
	}
}

// known is the journal of a service that has written, or nil.
func (l *logs) known(id string) *journal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.services[id]
}

// logger writes to a journal as zap does in machined.
func (l *logs) logger(id string) *zap.Logger {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoding.ConsoleSeparator = " "
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoding), zapcore.AddSync(lines{l.service(id)}), zapcore.InfoLevel))
}

// lines makes a writer of a journal.
type lines struct{ *journal }

func (l lines) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		l.add(strings.TrimSuffix(line, "\n"))
	}
	return len(data), nil
}
