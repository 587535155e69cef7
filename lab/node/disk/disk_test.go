package disk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

func TestAWipedDiskHasTheMETAOfAnInstallerMediumButNotOfADiskImage(t *testing.T) {
	spec := machine.Spec{Disks: []machine.Disk{{Device: "/dev/sda"}}, Meta: map[uint8]string{10: "network"}}
	for _, installed := range []bool{false, true} {
		spec.Image.Installed = installed
		d := New(spec)
		require.NotEmpty(t, d.Meta(), "before the wipe, installed: %v", installed)
		d.Wipe(true)
		require.Equal(t, installed, len(d.Meta()) == 0, "after the wipe, installed: %v", installed)
	}
}
