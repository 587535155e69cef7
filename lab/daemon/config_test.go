package daemon

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/rack"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
)

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestReadConfig(t *testing.T) {
	config, err := ReadConfig(file(t, `
profile: real
versions: [1.13.8]
snapshots:
  - {talos: 1.13.8, schematic: abc, arch: amd64, labels: {os: talos}}
scenario:
  - {on: pod, do: hold, after: 3s}
`))
	require.NoError(t, err)
	require.Equal(t, Config{
		Profile: pace.Real, Seed: 1, SampleRepository: true, Versions: []string{"1.13.8"},
		Snapshots: []Snapshot{{Talos: "1.13.8", Schematic: "abc", Arch: "amd64", Labels: map[string]string{"os": "talos"}}},
		Scenario:  []scenario.Entry{{Rule: fault.Rule{On: fault.Pod, Do: fault.Hold}, After: 3e9}},
	}, config)
	require.NoError(t, config.Check())
	require.NoError(t, DefaultConfig().Check())

	_, err = ReadConfig(file(t, "profil: fast"))
	require.ErrorContains(t, err, `lab.yaml: unknown field "profil"`)
	_, err = ReadConfig("/nonexistent")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestConfigSaysAllThatIsWrong(t *testing.T) {
	config := Config{
		Profile:   "slow",
		Snapshots: []Snapshot{{Talos: "1.13.8", Arch: "amd64"}}, MoreSnapshots: []Snapshot{{Talos: "1.13.8", Schematic: "abc"}},
		Scenario: []scenario.Entry{{Rule: fault.Rule{On: fault.Pod, Do: fault.Crash}}},
		Tools:    map[string]string{"kubectl": "bin/kubectl"},
	}
	require.EqualError(t, config.Check(), `profile: no profile "slow": there are "fast" and "real"
snapshots[0].schematic: is missing
moreSnapshots[0].arch: is missing
scenario[0]: do: "crash" is not possible on "pod"; possible is one of ["delay" "fail" "hold"]
tools.kubectl: "bin/kubectl" is not an absolute path`)
}

func TestWhatIsNeededIsThereBesides(t *testing.T) {
	needs, err := ReadNeeds(file(t, `
snapshots: [{talos: 1.13.8, schematic: abc, customization: "customization: {}", arch: amd64}]
proxmox: {address: 10.0.0.2, network: 10.0.0.0/16, gateway: 10.0.0.1}
machines: [{name: a, address: 10.0.0.11/16, gateway: 10.0.0.1, talos: 1.13.8}]
`))
	require.NoError(t, err)
	config := DefaultConfig().With(needs)
	require.Equal(t, needs, Needs{config.MoreSnapshots, config.Proxmox, config.Machines})

	own := Config{Proxmox: &Proxmox{Hosts: []string{"mine"}}, Machines: []rack.Machine{{Name: "a", Talos: "1.12.6"}, {Name: "b"}}}
	with := own.With(needs)
	require.Equal(t, own.Proxmox, with.Proxmox)
	require.Equal(t, own.Machines, with.Machines)
	_, err = ReadNeeds(file(t, "[{version: 1.13.8}]"))
	require.Error(t, err)
}

func TestReadTools(t *testing.T) {
	tools, err := ReadTools(file(t, `{"sh": "/bin/sh"}`))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"sh": "/bin/sh"}, tools)
	require.NoError(t, Config{Profile: pace.Fast, Tools: tools}.Check())

	plain := file(t, "no program")
	config := Config{Profile: pace.Fast, Tools: map[string]string{"helm": plain}}
	require.EqualError(t, config.Check(), "tools.helm: "+plain+" is not a program")
	config.Tools["helm"] = "/nonexistent"
	require.ErrorIs(t, config.Check(), os.ErrNotExist)
	_, err = ReadTools(file(t, "[]"))
	require.Error(t, err)
}

func TestAProxmoxClusterIsCompleted(t *testing.T) {
	config, err := ReadConfig(file(t, "proxmox: {address: 10.0.0.2, network: 10.0.0.0/16, gateway: 10.0.0.1, dhcp: true}"))
	require.NoError(t, err)
	require.NoError(t, config.Check())
	complete := config.Proxmox.Complete()
	require.Equal(t, uint16(8006), complete.Port)
	require.Equal(t, []string{"pve"}, complete.Hosts)
	require.Equal(t, []string{"local", "local-lvm"}, []string{complete.Storages[0].Name, complete.Storages[1].Name})
	require.True(t, complete.DHCP)

	config.Proxmox.DHCP, config.Proxmox.Reservations = false, []Reservation{{}}
	require.EqualError(t, config.Check(), "proxmox.reservations: are for a router that gives addresses, and dhcp is off")
}

func TestAProxmoxClusterSaysAllThatIsWrong(t *testing.T) {
	config := DefaultConfig()
	config.Proxmox = &Proxmox{
		Network: netip.MustParsePrefix("10.0.0.0/16"), Gateway: netip.MustParseAddr("10.1.0.1"), Hosts: []string{"pve", "pve"},
		Storages: []ProxmoxStorage{{Name: "local", Content: []string{"pictures"}}, {Name: "local"}},
	}
	require.EqualError(t, config.Check(), `proxmox.address: is missing
proxmox.gateway: 10.1.0.1 is not in 10.0.0.0/16
proxmox.hosts[1]: "pve" is not a unique name
proxmox.storages[0].content: "pictures" is not one of ["backup" "images" "import" "iso" "rootdir" "snippets" "vztmpl"]
proxmox.storages[1].name: "local" is not a unique name`)
}
