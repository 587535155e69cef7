package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// The file descriptors that a lab starts with, after the standard ones.
const (
	configFD     = 3 + iota // receives the config
	progressFD              // receives progress until the lab is ready
	controlFD               // listens at the control socket
	loopbackFD              // listens for the control API on the host's loopback
	kubernetesFD            // listens for Kubernetes on the host's loopback
)

// sockets listen for the lab outside of it: a process in its own network namespace keeps sockets that were opened in another.
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

// files are copies to pass on, in the order of the numbers above.
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

// inherited returns the listener that was passed on under a number.
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
