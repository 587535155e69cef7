package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is a command to run in a lab.
type Command struct {
	Folder Folder
	// Args are the program and its arguments; Env is added to the environment of the caller and of the lab.
	Args []string
	Env  []string
	// Again is the caller's own command line, which is run once more if a user namespace must be entered first.
	Again []string
	// Become is the program with the arguments that call Become; they are followed by the program to run and its arguments.
	Become []string
}

// Become turns this process into a program that ends with the process that started it. Go cannot request that when it starts a process in another pid
// namespace, from which the parent is not visible.
func Become(path string, args []string) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("end with the parent: %w", err)
	}
	if err := syscall.Exec(path, args, os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", path, err)
	}
	return nil
}

// Run runs the command in the foreground, as a child of this process that ends with it and with the lab, and returns its exit code.
func (c Command) Run() (int, error) {
	info, err := c.Folder.Living()
	if err != nil {
		return 0, err
	}
	if info == nil {
		return 0, fmt.Errorf("no lab runs in %s: start it with up", c.Folder)
	}
	if !info.Ready {
		return 0, fmt.Errorf("the lab in %s is not ready yet", c.Folder)
	}
	here, err := os.Getwd()
	if err != nil {
		return 0, fmt.Errorf("find the working directory: %w", err)
	}
	// Entering namespaces changes the thread and threads started from it. Nothing else may run on it afterwards, so it is never unlocked.
	runtime.LockOSThread()
	if err := c.enter(info.Process); err != nil {
		return 0, fmt.Errorf("enter the lab: %w", err)
	}
	code, err := c.run(c.environment(info), here)
	if err == nil && code == 128+int(syscall.SIGKILL) && info.Process.ending() {
		err = errors.New("the lab has ended, and the command with it")
	}
	return code, err
}

// enter moves this thread into the lab's namespaces.
func (c Command) enter(lab Process) error {
	pid, alive := lab.number()
	if !alive {
		return errors.New("it has just ended")
	}
	own, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		return err
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", pid))
	if err != nil {
		return err
	}
	if own != theirs {
		return c.enterUser(pid)
	}
	var namespaces []*os.File
	defer func() { closeAll(namespaces) }()
	for _, name := range []string{"net", "mnt", "pid"} {
		namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, name))
		if err != nil {
			return err
		}
		namespaces = append(namespaces, namespace)
	}
	if !lab.Alive() {
		return errors.New("it has just ended")
	}
	// Threads share their working directory, which is not allowed when entering a mount namespace.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("part from other threads: %w", err)
	}
	for _, namespace := range namespaces {
		if err := unix.Setns(int(namespace.Fd()), 0); err != nil {
			return fmt.Errorf("%s: %w", namespace.Name(), err)
		}
	}
	return nil
}

// enterUser runs sluice-lab again inside the lab's user namespace, because a process with several threads, as every Go process, cannot enter it.
func (c Command) enterUser(lab int) error {
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return fmt.Errorf("a lab that was not started by root is entered with nsenter, of util-linux: %w", err)
	}
	args := []string{"nsenter", "--user", "--target", strconv.Itoa(lab)}
	// The owner already is root there; root here takes the owner's id.
	if os.Geteuid() != 0 {
		args = append(args, "--preserve-credentials")
	}
	return syscall.Exec(nsenter, slices.Concat(args, []string{"--"}, c.Again), os.Environ())
}

// run starts the program from this thread and passes on signals until the program ends.
func (c Command) run(environment []string, dir string) (int, error) {
	path, err := lookPath(c.Args[0], c.Folder.Path(binDir))
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(c.Become[0], slices.Concat(c.Become[1:], []string{path}, c.Args)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env, cmd.Dir = environment, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// In its own process group it gets each signal once: from the terminal, if it is in the foreground, or from here.
	terminal := foreground()
	if terminal != nil {
		defer terminal.Close()
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(terminal.Fd())
		// This process is in the background when it takes over the terminal again.
		signal.Ignore(syscall.SIGTTOU)
		defer func() { _ = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPGRP, unix.Getpgrp()) }()
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ctx, ended := context.WithCancel(context.Background())
	defer ended()
	go func() {
		for {
			select {
			case received := <-signals:
				_ = cmd.Process.Signal(received)
			case <-ctx.Done():
				return
			}
		}
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// foreground returns the terminal that has this process in its foreground, or nil.
func foreground() *os.File {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	if group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		_ = terminal.Close()
		return nil
	}
	return terminal
}

// lookPath finds a program among the lab's tools, or else in PATH.
func lookPath(name, tools string) (string, error) {
	if !strings.Contains(name, "/") {
		if path, err := exec.LookPath(tools + "/" + name); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(name)
}

// proxies are environment variables whose proxies are outside the lab.
var proxies = []string{"http_proxy", "https_proxy", "ftp_proxy", "all_proxy"}

// environment returns the caller's, with what the lab adds.
func (c Command) environment(info *Info) []string {
	var found []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !isProxy(name) {
			found = append(found, entry)
		}
	}
	found = append(found, "SLUICE_LAB="+string(c.Folder), "PATH="+c.Folder.Path(binDir)+":"+os.Getenv("PATH"))
	for name, value := range info.Env {
		found = append(found, name+"="+value)
	}
	return append(found, c.Env...)
}

func isProxy(name string) bool {
	for _, proxy := range proxies {
		if strings.EqualFold(name, proxy) {
			return true
		}
	}
	return false
}
