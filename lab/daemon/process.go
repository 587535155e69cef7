package daemon

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Process identifies a process, and cannot be confused with a later one with the same number.
type Process struct {
	PID int `json:"pid"`
	// Start is when it started, in ticks since the boot of the host; Boot is the id of that boot.
	Start uint64 `json:"start"`
	Boot  string `json:"boot"`
}

// identify returns the current process with this number.
func identify(pid int) (Process, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, err
	}
	found := Process{PID: pid, Boot: strings.TrimSpace(string(boot))}
	fields, err := stat(pid)
	if err != nil {
		return found, err
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return found, fmt.Errorf("process %d has ended", pid)
	}
	found.Start, err = strconv.ParseUint(fields[19], 10, 64)
	return found, err
}

// stat returns the fields of a process's stat file, starting with its state, the first field after its name.
func stat(pid int) ([]string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	// The name is in parentheses and may contain anything.
	_, after, _ := strings.Cut(string(content[strings.LastIndexByte(string(content), ')')+1:]), " ")
	fields := strings.Fields(after)
	if len(fields) < 20 {
		return nil, fmt.Errorf("read the state of process %d: %q", pid, content)
	}
	return fields, nil
}

// ending reports whether it has ended or is about to: the first process of a lab is gone only after all others have ended, including those that started them.
func (p Process) ending() bool {
	number, alive := p.number()
	if !alive {
		return true
	}
	fields, err := stat(number)
	if err != nil {
		return true
	}
	const exiting = 4 // PF_EXITING of the kernel
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&exiting != 0
}

// Alive reports whether it still runs.
func (p Process) Alive() bool {
	_, alive := p.number()
	return alive
}

// inLab reports whether the caller is inside the lab whose first process is p.
func (p Process) inLab() bool {
	number, alive := p.number()
	return alive && number == 1
}

// number returns the process's number as the caller sees it: 1 in its own lab.
func (p Process) number() (int, bool) {
	for _, number := range []int{p.PID, 1} {
		now, err := identify(number)
		now.PID = p.PID
		if err == nil && now == p {
			return number, true
		}
	}
	return 0, false
}

// open returns a handle that always refers to this process, or nil if it has ended.
func (p Process) open() (*os.File, error) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", p.PID, err)
	}
	handle := os.NewFile(uintptr(fd), "process")
	// The number may already have belonged to another process when it was opened.
	if !p.Alive() {
		return nil, handle.Close()
	}
	return handle, nil
}

// kill ends a process at once.
func kill(handle *os.File) error {
	err := unix.PidfdSendSignal(int(handle.Fd()), unix.SIGKILL, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill the lab: %w", err)
	}
	return nil
}

// wait reports whether the process ends within the given time.
func wait(handle *os.File, within time.Duration) (bool, error) {
	for end := time.Now().Add(within); ; {
		fds := []unix.PollFd{{Fd: int32(handle.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, int(max(time.Until(end), 0).Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("wait for the lab's end: %w", err)
		}
		return fds[0].Revents != 0, nil
	}
}
