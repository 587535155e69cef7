package cilium

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
)

// Connect simulates the one command of Cilium's image that says something about the datapath: `bash -c ": < /dev/tcp/<host>/<port>"`, which connects by TCP,
// with `timeout <seconds>` before it.
type Connect struct{}

var _ cluster.Program = Connect{}

// redirection is the only script that it knows.
var redirection = regexp.MustCompile(`^: < /dev/tcp/([^/\s]+)/([^/\s]+)$`)

// timedOut is the exit code of timeout for a command that took longer.
const timedOut = 124

// Handles reports whether the container connects like this.
func (Connect) Handles(_ *corev1.Pod, c corev1.Container) bool {
	_, _, known := connection(c.Command)
	return known && container.ImageName(c.Image) == "cilium"
}

// Run connects once.
func (Connect) Run(ctx context.Context, run cluster.Run) error {
	target, limit, _ := connection(run.Container.Command)
	env := map[string]string{
		"KUBERNETES_SERVICE_HOST": run.APIService.Addr().String(),
		"KUBERNETES_SERVICE_PORT": strconv.Itoa(int(run.APIService.Port())),
	}
	for i, part := range target {
		target[i] = os.Expand(part, func(name string) string {
			if value, set := run.Env[name]; set {
				return value
			}
			return env[name]
		})
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	address, err := netip.ParseAddrPort(net.JoinHostPort(target[0], target[1]))
	if err == nil {
		var conn net.Conn
		if conn, err = run.Dial(limited, address); err == nil {
			return conn.Close()
		}
	}
	if limited.Err() != nil {
		return &cluster.Exit{Code: timedOut}
	}
	return &cluster.Exit{Code: 1, Message: fmt.Sprintf("bash: line 1: /dev/tcp/%s/%s: %s", target[0], target[1], words(err))}
}

// connection returns host and port of the connection that a command opens, and for how long it tries.
func connection(command []string) (target []string, limit time.Duration, known bool) {
	// How long Linux repeats the first packet.
	limit = 2 * time.Minute
	if len(command) > 2 && command[0] == "timeout" {
		seconds, err := strconv.Atoi(command[1])
		if err != nil {
			return nil, 0, false
		}
		command, limit = command[2:], time.Duration(seconds)*time.Second
	}
	if len(command) != 3 || command[0] != "bash" || command[1] != "-c" {
		return nil, 0, false
	}
	parts := redirection.FindStringSubmatch(command[2])
	if parts == nil {
		return nil, 0, false
	}
	return parts[1:], limit, true
}

// words returns an error as the C library words it.
func words(err error) string {
	text := err.Error()
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		text = errno.Error()
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
