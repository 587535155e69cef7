package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	running "github.com/siderolabs/talos/internal/app/machined/sluicelab/process"
)

// killAfter is how long a process may take to end after the signal. By then the calls that it answers are complete. The API server would also wait for its
// watches, up to a minute, and the scheduler takes longer as well.
const killAfter = 500 * time.Millisecond

// process is a running program.
type process struct {
	name string
	life context.Context // what it is needed for
	cmd  *exec.Cmd
	last *lastLine
	done chan struct{} // closed when it has ended
	err  error         // why, once it has
}

// startProcess runs one of the programs of the multi-call binary, with its output in a file and elsewhere. It does not end with the context; if that was
// abandoned, stop kills it without a graceful end.
func startProcess(life context.Context, binary, name string, args, env []string, logFile string, more ...io.Writer) (*process, error) {
	if err := os.MkdirAll(filepath.Dir(logFile), 0o755); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, life: life, last: &lastLine{}, done: make(chan struct{})}
	output := io.MultiWriter(append(more, log, p.last)...)
	p.cmd = &exec.Cmd{
		Path:   binary,
		Args:   append([]string{name}, args...),
		Env:    env,
		Dir:    filepath.Dir(logFile),
		Stdout: output,
		Stderr: output,
		// A signal to the lab's process group must not end it too early.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		// Its children, if it had any, do not keep Wait waiting.
		WaitDelay: killAfter,
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	go func() {
		p.err = p.cmd.Wait()
		_ = log.Close()
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// failure returns why the process ended, in its own words.
func (p *process) failure() error {
	<-p.done
	reason := "exited with code 0"
	if p.err != nil {
		reason = p.err.Error()
	}
	return fmt.Errorf("%s: %s: %s", p.name, reason, p.last)
}

// pause stops it, like a process that gets no CPU; resume continues it.
func (p *process) pause() error  { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// stop ends it and waits for that.
func (p *process) stop() {
	// An error means that it has ended already.
	if running.Abandoned(p.life) {
		_ = p.cmd.Process.Kill()
		<-p.done
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.resume()
	timer := time.NewTimer(killAfter)
	defer timer.Stop()
	select {
	case <-p.done:
		return
	case <-timer.C:
	}
	_ = p.cmd.Process.Kill()
	<-p.done
}

// lastLine keeps the last non-empty line.
type lastLine struct {
	mu   sync.Mutex
	line []byte
	rest []byte
}

const longestLine = 4096

func (l *lastLine) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = eachLine(append(l.rest, data...), l.keep)
	return len(data), nil
}

// eachLine calls the function for every complete line, and returns the rest, cut if it is too long.
func eachLine(data []byte, call func(line []byte)) (rest []byte) {
	for {
		line, rest, complete := bytes.Cut(data, []byte("\n"))
		if !complete {
			return data[max(0, len(data)-longestLine):]
		}
		call(line)
		data = rest
	}
}

func (l *lastLine) keep(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		l.line = bytes.Clone(line[:min(len(line), longestLine)])
	}
}

func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rest := bytes.TrimSpace(l.rest); len(rest) > 0 {
		return string(rest)
	}
	return string(l.line)
}
