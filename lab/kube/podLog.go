package kube

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/ring"
)

// podLogLines is the number of lines that the log of a component keeps.
const podLogLines = 200

// podLog is what a component prints, over all its runs, in the format in which the container runtime writes it to a file.
type podLog struct {
	kept *ring.Ring[string]
	mu   sync.Mutex
	rest []byte
}

func newPodLog() *podLog { return &podLog{kept: ring.New[string](podLogLines)} }

func (l *podLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = eachLine(append(l.rest, data...), func(line []byte) {
		l.kept.Add(time.Now().UTC().Format(time.RFC3339Nano) + " stderr F " + string(line))
	})
	return len(data), nil
}

// PodLog returns the last lines of a component of the control plane; none if it did not run on the node.
func (k *Kubernetes) PodLog(name, pod string) []string {
	h := k.host(name)
	h.mu.Lock()
	ran := h.ran[pod]
	h.mu.Unlock()
	var lines []string
	if ran != nil {
		// The function never fails.
		_ = ran.log.kept.Read(-1, func(line string) error { lines = append(lines, line); return nil })
	}
	return lines
}

// AuditLog opens a file that the API server of a node has written to the folder of its audit log.
func (k *Kubernetes) AuditLog(name, file string) (io.ReadCloser, error) {
	h := k.host(name)
	h.mu.Lock()
	server := h.ran["kube-apiserver"]
	h.mu.Unlock()
	if server == nil {
		return nil, &fs.PathError{Op: "stat", Path: file, Err: fs.ErrNotExist}
	}
	return os.Open(filepath.Join(server.dir(), path.Clean("/"+file)))
}

// runs records which component is that of a pod.
func (h *host) runs(pod string, c *component) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ran == nil {
		h.ran = map[string]*component{}
	}
	h.ran[pod] = c
}
