// Package process runs real programs for the lab and ensures that none outlives it.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command is a program to run.
type Command struct {
	Path string
	Args []string
	// Env is its complete environment.
	Env []string
	Dir string
	// Folders are mounted over those of the host, only for the program itself: the files of each by name.
	Folders map[string]map[string][]byte
	Log     io.Writer
}

// grace is how long a program may take to end after the signal, before it is killed.
const grace = 5 * time.Second

// ErrAbandoned is the cause of a context's end after which nothing that ran in it is needed: programs are killed at once.
var ErrAbandoned = errors.New("nobody needs it any more")

// Abandoned reports whether a context ended with ErrAbandoned.
func Abandoned(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrAbandoned) }

// Run runs the program until the context ends, and then ends it with everything that it has started. A program that ends by itself is an error.
func Run(ctx context.Context, command Command) error {
	return onOwnThread(func() error { return command.run(ctx) })
}

func (c Command) run(ctx context.Context) error {
	name := filepath.Base(c.Path)
	if err := layOver(c.Folders); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.Stdout, cmd.Stderr = c.Log, c.Log
	// In its own process group, so that its children end with it, and with the lab even if that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error {
		if Abandoned(ctx) {
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err := cmd.Wait()
	// Kill the rest of the group. An error means that nothing is left.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		return fmt.Errorf("%s ended by itself", name)
	default:
		return fmt.Errorf("%s ended by itself: %w", name, err)
	}
}

// onOwnThread calls f on a separate thread that ends with it: a child gets its death signal when the thread that started it ends, and mounts for a child
// belong to a thread too.
func onOwnThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The main thread outlives its goroutine, and other processes see its mounts as those of the process.
			done <- onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		done <- f()
	}()
	return <-done
}

// Serve runs the program and calls ready once the URL answers with 200.
func Serve(ctx context.Context, command Command, url string, ready func()) error {
	probing, stop := context.WithCancel(ctx)
	probed := make(chan error, 1)
	go func() {
		err := waitFor(probing, url)
		if err == nil {
			ready()
		}
		probed <- err
	}()
	err := Run(ctx, command)
	stop()
	if failed := <-probed; failed != nil && !errors.Is(failed, context.Canceled) {
		return errors.Join(err, failed)
	}
	return err
}
