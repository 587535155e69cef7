package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// layOver gives the calling thread its own mounts and mounts each folder over that of the host, which need not have it. Nothing is written on the host.
func layOver(folders map[string]map[string][]byte) error {
	if len(folders) == 0 {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	for folder, files := range folders {
		if err := layFolder(folder, files); err != nil {
			return fmt.Errorf("laying files over %s: %w", folder, err)
		}
	}
	return nil
}

// layFolder mounts a file system in memory at the folder, or over its nearest existing parent.
func layFolder(folder string, files map[string][]byte) error {
	at, err := nearest(folder)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mounting over %s: %w", at, err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// neverCovered lists parents whose mount would hide too much.
var neverCovered = []string{"/", "/usr", "/var", "/home", "/root", "/dev", "/proc", "/sys", "/etc"}

func nearest(folder string) (string, error) {
	for at := filepath.Clean(folder); ; at = filepath.Dir(at) {
		if slices.Contains(neverCovered, at) {
			return "", fmt.Errorf("there is no folder on the way that may be covered: came to %s", at)
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			continue
		}
		if slices.Contains(neverCovered, real) {
			return "", fmt.Errorf("there is no folder on the way that may be covered: came to %s", real)
		}
		return real, nil
	}
}
