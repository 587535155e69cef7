package daemon

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownNamespaces returns how the first process of a lab is started.
func ownNamespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		Setsid:     true,
	}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// explain adds possible reasons why namespaces were refused.
func explain(err error) error {
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EACCES) {
		return err
	}
	hints := refusals(func(name string) string {
		content, _ := os.ReadFile("/proc/sys/" + name) // some kernels do not have all of them
		return strings.TrimSpace(string(content))
	}, os.Geteuid() == 0)
	return fmt.Errorf("%w\nA lab needs a network, pid and mount namespace of its own, which this machine refuses:\n  %s", err, strings.Join(hints, "\n  "))
}

// refusals returns the reasons that follow from the kernel's settings.
func refusals(setting func(name string) string, root bool) []string {
	var found []string
	if setting("user/max_net_namespaces") == "0" {
		found = append(found, "no network namespaces are allowed; allow them: sysctl -w user.max_net_namespaces=1024")
	}
	if !root {
		if setting("kernel/unprivileged_userns_clone") == "0" {
			found = append(found, "user namespaces are for root only; allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1")
		}
		if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" {
			found = append(found, "AppArmor restricts user namespaces; allow them: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
		}
		if setting("user/max_user_namespaces") == "0" {
			found = append(found, "no user namespaces are allowed; allow them: sudo sysctl -w user.max_user_namespaces=1024")
		}
	}
	if len(found) == 0 && root {
		found = append(found, "this is root without CAP_SYS_ADMIN, as in an unprivileged container; run the container with --privileged")
	}
	if len(found) == 0 {
		found = append(found, "user namespaces are refused, as in most containers; run it as root, or the container with --privileged")
	}
	return found
}
