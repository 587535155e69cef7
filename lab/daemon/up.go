package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// startWithin is how long a lab may take to be ready.
const startWithin = 30 * time.Second

// Start describes how a lab is started.
type Start struct {
	Folder Folder
	Config Config
	// Command is the program and arguments that call Init; "--dir" and the folder follow.
	Command []string
	// Attached lets the lab end together with the process that starts it.
	Attached bool
	// Step receives the progress.
	Step func(string)
}

// Started is a lab that is ready.
type Started struct {
	Info *Info
	// Already means that it was running before.
	Already bool
	// Took is the time from the start until it was ready.
	Took time.Duration
	// Wait returns when the lab has ended; only for a lab that this call started.
	Wait func() error
}

// Up starts a lab unless one is running, and returns when it is ready. A lab that does not become ready leaves nothing behind.
func (s Start) Up() (*Started, error) {
	begun := time.Now()
	unlock, err := s.Folder.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	info, err := s.Folder.Info()
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		if err := s.Folder.checkFree(); err != nil {
			return nil, err
		}
	case info.Process.Alive() && s.Folder.answers():
		return &Started{Info: info, Already: true}, nil
	default:
		if err := s.awaitEnd(info.Process); err != nil {
			return nil, err
		}
		s.Step("cleaning up after a lab that ended without notice")
		if err := s.Folder.clean(); err != nil {
			return nil, err
		}
	}
	if err := s.Config.Check(); err != nil {
		return nil, fmt.Errorf("the lab's config: %w", err)
	}
	born, err := s.begin()
	if err != nil {
		return nil, errors.Join(err, s.Folder.clean())
	}
	if err := born.becomeReady(s); err != nil {
		log := born.lastWords(s.Folder)
		born.end()
		return nil, errors.Join(fmt.Errorf("the lab did not become ready: %w%s", err, log), s.Folder.clean())
	}
	return &Started{Info: born.info, Took: time.Since(begun), Wait: born.cmd.Wait}, nil
}

// awaitEnd waits for a lab that does not answer because it is ending: its first process outlives the others by a moment.
func (s Start) awaitEnd(lab Process) error {
	process, err := lab.open()
	if err != nil || process == nil {
		return err
	}
	defer process.Close()
	s.Step("a lab was here that does not answer: waiting for its end")
	ended, err := wait(process, endWithin)
	if err == nil && !ended {
		err = fmt.Errorf("the lab in %s, process %d, neither answers nor ends: down kills it", s.Folder, lab.PID)
	}
	return err
}

// newborn is a lab that was started and is not ready yet.
type newborn struct {
	cmd              *exec.Cmd
	info             *Info
	config, progress *os.File
}

// begin starts the first process, which waits for its config.
func (s Start) begin() (*newborn, error) {
	// Written first, so that everything that follows is known to belong to a lab.
	info := &Info{Config: s.Config}
	if err := s.Folder.write(info); err != nil {
		return nil, err
	}
	if err := s.Folder.prepare(s.Config.Tools); err != nil {
		return nil, err
	}
	sockets, err := s.Folder.openSockets()
	if err != nil {
		return nil, err
	}
	defer sockets.close()
	info.Control, info.Kubernetes = sockets.loopback.Addr().String(), sockets.kubernetes.Addr().String()

	log, err := os.Create(s.Folder.Path(logFile))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	configRead, config, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer configRead.Close()
	progress, progressWrite, err := os.Pipe()
	if err != nil {
		_ = config.Close()
		return nil, err
	}
	defer progressWrite.Close()
	born := &newborn{info: info, config: config, progress: progress}
	listeners, err := sockets.files()
	if err != nil {
		born.close()
		return nil, err
	}
	defer closeAll(listeners)

	args := append(s.Command[1:len(s.Command):len(s.Command)], "--dir", string(s.Folder))
	born.cmd = exec.Command(s.Command[0], args...)
	born.cmd.Stdout, born.cmd.Stderr = log, log
	born.cmd.Env = needed(os.Environ())
	born.cmd.ExtraFiles = append([]*os.File{configRead, progressWrite}, listeners...)
	born.cmd.SysProcAttr = ownNamespaces()
	if s.Attached {
		born.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
		// To the kernel the parent is the thread that starts it, so that thread must not end before.
		runtime.LockOSThread()
	}
	s.Step("starting the lab in namespaces of its own")
	if err := born.cmd.Start(); err != nil {
		born.close()
		return nil, fmt.Errorf("start the lab: %w", explain(err))
	}
	return born, nil
}

// needed is what a lab needs of its caller's environment. It outlives the caller, whose accounts and passphrases are none of its business.
func needed(environment []string) []string {
	return slices.DeleteFunc(environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "TZ", "LANG"}, name) && !strings.HasPrefix(name, "SLUICE_LAB_")
	})
}

// becomeReady gives the lab its config once its process is recorded: a lab that nobody knows of ends, because it gets no config.
func (n *newborn) becomeReady(s Start) error {
	defer n.close()
	var err error
	if n.info.Process, err = identify(n.cmd.Process.Pid); err != nil {
		return err
	}
	if err := s.Folder.write(n.info); err != nil {
		return err
	}
	if err := json.NewEncoder(n.config).Encode(n.info); err != nil {
		return fmt.Errorf("give the lab its config: %w", err)
	}
	if err := n.progress.SetReadDeadline(time.Now().Add(startWithin)); err != nil {
		return err
	}
	if n.info.Env, err = follow(n.progress, s.Step); err != nil {
		return err
	}
	n.info.Ready = true
	return s.Folder.write(n.info)
}

// end kills a lab that did not become ready, with all that it started.
func (n *newborn) end() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

func (n *newborn) close() {
	_ = n.config.Close()
	_ = n.progress.Close()
}

// lastWords returns the last lines of the lab's log, for an error message.
func (n *newborn) lastWords(folder Folder) string {
	content, err := os.ReadFile(folder.Path(logFile))
	if err != nil || len(content) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return "\nIts log ends with:\n  " + strings.Join(lines[max(0, len(lines)-15):], "\n  ")
}

// prepare creates the folders of a lab, with links to its tools.
func (f Folder) prepare(tools map[string]string) error {
	for _, dir := range []string{stateDir, binDir, tempDir} {
		if err := os.Mkdir(f.Path(dir), 0o755); err != nil {
			return err
		}
	}
	for name, path := range tools {
		if err := os.Symlink(path, f.Path(binDir+"/"+name)); err != nil {
			return fmt.Errorf("link the tool %s: %w", name, err)
		}
	}
	return nil
}
