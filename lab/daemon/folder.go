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

// Folder is where a lab keeps what it has in files.
type Folder string

// The files of a lab. The first is written first and removed last: whatever else
// is there without it is not a lab's.
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

// answerWithin is how long a lab that is well takes to answer at most.
const answerWithin = 2 * time.Second

// Info is what is known of a lab from outside.
type Info struct {
	Process Process `json:"process"`
	// Control and Kubernetes are addresses on the host's loopback.
	Control    string `json:"control"`
	Kubernetes string `json:"kubernetes"`
	Config     Config `json:"config"`
	// Ready says that it can be used, and Env what commands in it are told.
	Ready bool              `json:"ready"`
	Env   map[string]string `json:"env,omitempty"`
}

// OpenFolder is the folder at a path, which need not be there.
func OpenFolder(path string) (Folder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the lab's folder %q: %w", path, err)
	}
	return Folder(absolute), nil
}

// Path is that of a file in the folder.
func (f Folder) Path(name string) string { return filepath.Join(string(f), name) }

// Info reads what is known of the lab; nil is that there is none.
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

// Living is the lab that runs; nil is that none does.
func (f Folder) Living() (*Info, error) {
	info, err := f.Info()
	if err != nil || info == nil || !info.Process.Alive() {
		return nil, err
	}
	return info, nil
}

// answers says whether the lab in the folder can be talked to.
func (f Folder) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	_, err := f.Client().Status(ctx)
	return err == nil
}

// write replaces what is known of the lab, whole or not at all.
func (f Folder) write(info *Info) error {
	content, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	// Unnamed until it is complete: nothing is left of a write that was cut off.
	if err := os.WriteFile(f.Path(infoFile+".new"), append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(f.Path(infoFile+".new"), f.Path(infoFile))
}

// lock keeps others from starting or ending a lab in the folder until the
// returned function is called.
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

// checkFree says whether a lab may be put here: nothing may have the name of one
// of its files.
func (f Folder) checkFree() error {
	for _, name := range contents {
		if _, err := os.Lstat(f.Path(name)); err == nil {
			return fmt.Errorf("%s is in the way, and no lab left it there: choose another folder for the lab", f.Path(name))
		}
	}
	return nil
}

// clean removes what a lab left, and nothing else.
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
	// The path below is good only now; and the one who opened it does not serve.
	listener.SetUnlinkOnClose(false)
	return listener, nil
}

// socket gives a path of the control socket that is short enough for the kernel,
// which takes no more than 107 bytes.
func (f Folder) socket(use func(path string) error) error {
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	defer dir.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketFile))
}
