package daemon

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestRefusalsSayHowToAllowIt(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]string
		root     bool
		want     []string
	}{
		"a container, as root": {nil, true, []string{"this is root without CAP_SYS_ADMIN, as in an unprivileged container; run the container with --privileged"}},
		"a container":          {map[string]string{"user/max_user_namespaces": "100"}, false, []string{"user namespaces are refused, as in most containers; run it as root, or the container with --privileged"}},
		"by AppArmor":          {map[string]string{"kernel/apparmor_restrict_unprivileged_userns": "1"}, false, []string{"AppArmor restricts user namespaces; allow them: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}},
		"by two settings": {map[string]string{"kernel/unprivileged_userns_clone": "0", "user/max_user_namespaces": "0"}, false, []string{
			"user namespaces are for root only; allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1",
			"no user namespaces are allowed; allow them: sudo sysctl -w user.max_user_namespaces=1024",
		}},
		"no networks": {map[string]string{"user/max_net_namespaces": "0"}, true, []string{"no network namespaces are allowed; allow them: sysctl -w user.max_net_namespaces=1024"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, refusals(func(name string) string { return test.settings[name] }, test.root))
		})
	}
}

func TestOnlyRefusalsAreExplained(t *testing.T) {
	other := errors.New("no such file")
	require.Equal(t, other, explain(other))
	err := explain(fmt.Errorf("clone: %w", unix.EPERM))
	require.ErrorIs(t, err, unix.EPERM)
	require.ErrorContains(t, err, "clone: operation not permitted\nA lab needs a network, pid and mount namespace of its own")
}
