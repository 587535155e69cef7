package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/control"
)

// Folder is where a lab keeps its files.
type Folder string

// The files of a lab. The first is written first and removed last: without it, files with these names do not belong to a lab.
const (
	infoFile     = "lab.json"
	socketFile   = "control.sock"
	logFile      = "daemon.log"
	timelineFile = "timeline.jsonl"
	stateDir     = "state" // what the parts of the lab keep
	binDir       = "bin"   // links to tools, for commands in the lab
	tempDir      = "tmp"
	resolvFile   = "resolv.conf"
	shellFile    = "shell.rc"
)

var contents = []string{socketFile, logFile, timelineFile, stateDir, binDir, tempDir, resolvFile, shellFile}

// answerWithin is the longest that a healthy lab takes to answer.
const answerWithin = 2 * time.Second

// Info is what is known of a lab from outside.
type Info struct {
	Process Process `json:"process"`
	// Control and Kubernetes are addresses on the host's loopback.
	Control    string `json:"control"`
	Kubernetes string `json:"kubernetes"`
	Config     Config `json:"config"`
	// Ready means that the lab can be used. Env is the environment of commands in it.
	Ready bool              `json:"ready"`
	Env   map[string]string `json:"env,omitempty"`
}

// OpenFolder returns the folder at a path, which need not exist.
func OpenFolder(path string) (Folder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the lab's folder %q: %w", path, err)
	}
	return Folder(absolute), nil
}

// Path returns the path of a file in the folder.
func (f Folder) Path(name string) string { return filepath.Join(string(f), name) }

// Info reads the lab's Info, or returns nil if there is none.
func (f Folder) Info() (*Info, error) {
	content, err := os.ReadFile(f.Path(infoFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var info Info
	if err := json.Unmarshal(content, &info); err != nil {
		return nil, fmt.Errorf("%s is not what a lab writes: %w", f.Path(infoFile), err)
	}
	return &info, nil
}

// Living returns the running lab, or nil.
func (f Folder) Living() (*Info, error) {
	info, err := f.Info()
	if err != nil || info == nil || !info.Process.Alive() {
		return nil, err
	}
	return info, nil
}

// answers reports whether the lab in the folder answers.
func (f Folder) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	_, err := f.Client().Status(ctx)
	return err == nil
}

// write replaces the Info, completely or not at all.
func (f Folder) write(info *Info) error {
	content, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	// Written under another name first, so that an interrupted write changes nothing.
	if err := os.WriteFile(f.Path(infoFile+".new"), append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(f.Path(infoFile+".new"), f.Path(infoFile))
}

// lock prevents others from starting or ending a lab in the folder until the returned function is called.
func (f Folder) lock() (func(), error) {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return nil, fmt.Errorf("make the lab's folder: %w", err)
	}
	dir, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		_ = dir.Close()
		return nil, fmt.Errorf("lock the lab's folder %s: %w", f, err)
	}
	return func() { _ = dir.Close() }, nil
}

// checkFree reports whether a lab may be created here: none of its files may exist.
func (f Folder) checkFree() error {
	for _, name := range contents {
		if _, err := os.Lstat(f.Path(name)); err == nil {
			return fmt.Errorf("%s exists, and no lab created it: choose another folder for the lab", f.Path(name))
		}
	}
	return nil
}

// clean removes what a lab left behind, and nothing else.
func (f Folder) clean() error {
	for _, name := range append(contents, infoFile+".new", infoFile) {
		if err := os.RemoveAll(f.Path(name)); err != nil {
			return fmt.Errorf("remove what the lab left: %w", err)
		}
	}
	return nil
}

// Client calls the lab's control API.
func (f Folder) Client() *control.Client {
	return control.NewClient(func(ctx context.Context) (net.Conn, error) {
		var conn net.Conn
		err := f.socket(func(path string) (err error) {
			dialer := net.Dialer{}
			conn, err = dialer.DialContext(ctx, "unix", path)
			return err
		})
		return conn, err
	})
}

// listen opens the control socket.
func (f Folder) listen() (*net.UnixListener, error) {
	var listener *net.UnixListener
	err := f.socket(func(path string) (err error) {
		listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the control socket %s: %w", f.Path(socketFile), err)
	}
	// The path is valid only now, and another process will serve.
	listener.SetUnlinkOnClose(false)
	return listener, nil
}

// socket returns a path of the control socket that is short enough for the kernel, which accepts at most 107 bytes.
func (f Folder) socket(use func(path string) error) error {
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	defer dir.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketFile))
}
