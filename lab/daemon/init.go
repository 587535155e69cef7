package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Init returns the first process of a lab: when it ends, the kernel ends all others. It starts the command that serves the lab, returns that command's exit code,
// and reaps orphaned processes.
func Init(folder Folder, command []string) (int, error) {
	if os.Getpid() != 1 {
		return 0, errors.New("this is not the first process of a lab")
	}
	if err := folder.prepareMounts(); err != nil {
		return 0, explain(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	cmd := exec.Command(command[0], append(command[1:len(command):len(command)], "--dir", string(folder))...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	for fd := uintptr(configFD); fd <= kubernetesFD; fd++ {
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(fd, "inherited"))
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start serving the lab: %w", err)
	}
	// Only the serving process may keep them open.
	closeAll(cmd.ExtraFiles)
	go func() {
		for received := range signals {
			_ = cmd.Process.Signal(received)
		}
	}()
	return reap(cmd.Process.Pid)
}

// reap collects ended processes until the given one has ended, and returns its exit code.
func reap(until int) (int, error) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for processes: %w", err)
		case pid == until && status.Signaled():
			return 128 + int(status.Signal()), nil
		case pid == until:
			return status.ExitStatus(), nil
		}
	}
}

// prepareMounts gives the lab a /proc with its own processes, and a resolv.conf with which names outside the lab fail to resolve at once.
func (f Folder) prepareMounts() error {
	// Mounts made here stay here; later mounts of the host appear here too.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("part the mounts from the host's: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	const system = "/etc/resolv.conf"
	if _, err := os.Stat(system); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	own := f.Path(resolvFile)
	if err := os.WriteFile(own, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		return err
	}
	if err := unix.Mount(own, system, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", system, err)
	}
	return nil
}
