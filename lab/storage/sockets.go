package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// sockets is the folder with the sockets that the containers of a pod share: an emptyDir in a real cluster.
type sockets struct {
	dir string
}

// longest is how long the name of a unix socket may be.
const longest = 107

// of returns the socket of a pod, and creates its folder.
func (s sockets) of(pod *corev1.Pod) (string, error) {
	folder := s.folder(pod)
	socket := filepath.Join(folder, "csi")
	if len(socket) > longest {
		return "", fmt.Errorf("%s is too long for a socket: %d characters of at most %d", socket, len(socket), longest)
	}
	return socket, os.MkdirAll(folder, 0o700)
}

// drop removes what the pod's driver left behind.
func (s sockets) drop(pod *corev1.Pod) {
	// The folder is inside the lab's own, which is removed with the lab at the latest.
	_ = os.RemoveAll(s.folder(pod))
}

func (s sockets) folder(pod *corev1.Pod) string {
	hash := sha256.Sum256([]byte(pod.UID))
	return filepath.Join(s.dir, hex.EncodeToString(hash[:6]))
}
