package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// mounts maps each folder of the container to its folder on the host.
func mounts(pod *corev1.Pod, container corev1.Container) map[string]string {
	onHost := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		if volume.HostPath != nil {
			onHost[volume.Name] = volume.HostPath.Path
		}
	}
	folders := map[string]string{}
	for _, mount := range container.VolumeMounts {
		if host, ok := onHost[mount.Name]; ok {
			folders[path.Clean(mount.MountPath)] = path.Clean(host)
		}
	}
	return folders
}

// mounted picks the files below the folders, by their path in the container.
func mounted(files map[string][]byte, folders map[string]string) map[string][]byte {
	picked := map[string][]byte{}
	for inside, host := range folders {
		for name, data := range files {
			if rest, ok := strings.CutPrefix(name, host+"/"); ok {
				picked[inside+"/"+rest] = data
			}
		}
	}
	return picked
}

// personal lists the files that each node has of its own even though the cluster is the same: certificates issued to the node, their keys, and kubeconfigs.
func personal(files map[string][]byte) map[string]bool {
	own := map[string]bool{}
	for name, data := range files {
		if path.Base(name) == "kubeconfig" {
			own[name] = true
		}
		if cert, err := parseCertificate(data); err == nil && !cert.IsCA {
			own[name] = true
			own[strings.TrimSuffix(name, path.Ext(name))+".key"] = true
		}
	}
	return own
}

// sharingKey is equal for processes that would do the same on each node, so that one can run for all: same image, flags and files, except for those that
// identify the node.
func sharingKey(image string, command, env []string, files map[string][]byte) string {
	hash := sha256.New()
	line := func(kind string, value any) { _, _ = fmt.Fprintf(hash, "%s\x00%q\n", kind, value) }
	line("image", image)
	for _, word := range command {
		if !strings.HasPrefix(word, "--advertise-address=") {
			line("word", word)
		}
	}
	for _, variable := range env {
		if !strings.HasPrefix(variable, "POD_IP=") {
			line("env", variable)
		}
	}
	own := personal(files)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !own[name] {
			line("file", name+"\x00"+string(files[name]))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// writeFiles writes the files where the rewriting places them. Paths in their text are replaced; kubeconfigs lead to server.
func writeFiles(files map[string][]byte, rewrite rewriting, server string) error {
	for _, folder := range rewrite.paths {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	for name, data := range files {
		switch {
		case path.Base(name) == "kubeconfig":
			redirected, err := redirect(data, server)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			data = redirected
		case path.Ext(name) == ".yaml":
			data = []byte(rewrite.relocate(string(data)))
		}
		target := rewrite.relocate(name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := replaceFile(target, data); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile replaces a file in one step, so that a watching program never reads a part of it.
func replaceFile(name string, data []byte) error {
	next := name + ".next"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// redirect changes the server of a kubeconfig.
func redirect(kubeconfig []byte, server string) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read a kubeconfig: %w", err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = server
	}
	return clientcmd.Write(*config)
}
