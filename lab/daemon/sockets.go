package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// The file descriptors that a lab is born with, after the standard ones.
const (
	configFD     = 3 + iota // the config comes here
	progressFD              // what the lab does until it is ready goes here
	controlFD               // listens at the control socket
	loopbackFD              // listens for the control API on the host's loopback
	kubernetesFD            // listens for Kubernetes on the host's loopback
)

// sockets listen outside of the lab for the lab: a process in its own network
// keeps the sockets that were opened in another.
type sockets struct {
	control              *net.UnixListener
	loopback, kubernetes *net.TCPListener
}

func (f Folder) openSockets() (*sockets, error) {
	var s sockets
	var err error
	if s.control, err = f.listen(); err != nil {
		return nil, err
	}
	for _, listener := range []**net.TCPListener{&s.loopback, &s.kubernetes} {
		if *listener, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			s.close()
			return nil, fmt.Errorf("open a port on the host's loopback: %w", err)
		}
	}
	return &s, nil
}

// files are copies to hand over, in the order of the numbers above.
func (s *sockets) files() ([]*os.File, error) {
	var files []*os.File
	for _, listener := range []interface{ File() (*os.File, error) }{s.control, s.loopback, s.kubernetes} {
		file, err := listener.File()
		if err != nil {
			closeAll(files)
			return nil, fmt.Errorf("hand over a listener: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}

func (s *sockets) close() {
	_ = s.control.Close()
	for _, listener := range []*net.TCPListener{s.loopback, s.kubernetes} {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// inherited is the listener that was handed over under a number.
func inherited(fd uintptr) (net.Listener, error) {
	file := os.NewFile(fd, "listener")
	listener, err := net.FileListener(file)
	return listener, errors.Join(err, file.Close())
}

func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}
