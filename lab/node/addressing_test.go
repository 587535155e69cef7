package node

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// metaNetwork is META key 10 as it is put into an image.
const metaNetwork = `addresses:
  - address: 10.0.0.11/16
    linkName: enx920000000001
    family: inet4
    scope: global
    flags: permanent
    layer: platform
links:
  - name: enx920000000001
    logical: false
    up: true
    mtu: 0
    kind: ""
    type: netrom
    layer: platform
routes:
  - family: inet4
    dst: ""
    src: ""
    gateway: 10.0.0.1
    outLinkName: enx920000000001
    table: main
    priority: 1024
    scope: global
    type: unicast
    flags: ""
    protocol: static
    layer: platform
hostnames:
  - hostname: cp-1
    domainname: ""
    layer: platform
resolvers:
  - dnsServers:
      - 10.0.0.1
    layer: platform
`

// atHome returns a machine in a network with a DHCP server.
func (l *testLab) atHome(name, platform string, number int) (machine.Spec, *dhcp.Server) {
	l.t.Helper()
	server, err := dhcp.New(dhcp.Options{
		Network: netip.MustParsePrefix("10.0.0.0/16"), Gateway: netip.MustParseAddr("10.0.0.1"),
		Resolvers: []netip.Addr{netip.MustParseAddr("10.0.0.1")},
		From:      netip.MustParseAddr("10.0.0.100"), To: netip.MustParseAddr("10.0.0.199"), Timeline: l.timeline,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	one := spec(name, platform, "1.13.8", number)
	one.ProviderID, one.Hostname = "", ""
	one.Image.Installed = true
	one.NICs = []machine.NIC{{Name: "enp6s18", MAC: one.NICs[0].MAC, Server: server}}
	return one, server
}

func leaseOf(t *testing.T, server *dhcp.Server) string {
	t.Helper()
	leases := server.Leases()
	if len(leases) != 1 {
		t.Fatalf("leases: %+v", leases)
	}
	return leases[0].Address.String()
}

func resolversOf(t *testing.T, n *node) []netip.Addr {
	t.Helper()
	resolvers, err := safe.StateGetByID[*network.ResolverStatus](t.Context(), n.boot.State, network.ResolverID)
	if err != nil {
		t.Fatal(err)
	}
	return resolvers.TypedSpec().DNSServers
}

// The network in an image's META is up before there is a config, and the node does not
// ask a DHCP server.
func TestTheNetworkIsInMETA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one, server := lab.atHome("vm-300", "metal", 1)
		one.Meta = map[uint8]string{10: metaNetwork}
		cp := lab.make(one)
		facts := lab.intoMaintenance(cp)
		if up := values(facts, "vm-300", "address"); !slices.Equal(up, []string{"10.0.0.11"}) {
			t.Errorf("addresses in maintenance: %q", up)
		}
		n := cp.running()
		if name := n.Hostname(); name != "cp-1" {
			t.Errorf("the hostname is %q", name)
		}
		if resolvers := resolversOf(t, n); !slices.Equal(resolvers, []netip.Addr{netip.MustParseAddr("10.0.0.1")}) {
			t.Errorf("resolvers: %v", resolvers)
		}
		routes, err := safe.StateListAll[*network.RouteStatus](t.Context(), n.boot.State)
		if err != nil {
			t.Fatal(err)
		}
		var gateways []string
		for route := range routes.All() {
			if gateway := route.TypedSpec().Gateway; gateway.IsValid() {
				gateways = append(gateways, gateway.String())
			}
		}
		if !slices.Equal(gateways, []string{"10.0.0.1"}) {
			t.Errorf("gateways: %q", gateways)
		}
		if leases := server.Leases(); len(leases) > 0 {
			t.Errorf("it asked by DHCP: %+v", leases)
		}
	})
}

// META that is written while the node runs takes effect at once.
func TestMETAIsWrittenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one, server := lab.atHome("vm-300", "metal", 1)
		one.Meta = map[uint8]string{10: "addresses: nonsense"}
		cp := lab.make(one)
		lab.intoMaintenance(cp)
		leased := leaseOf(t, server)
		if up := lab.network.addresses(); !slices.Equal(up, []string{leased}) {
			t.Errorf("up with a META that cannot be read: %q", up)
		}
		if said := cp.running().grep("machined", "network config from META"); len(said) == 0 {
			t.Error("the error is not logged")
		}
		text := metaNetwork
		cp.running().SetMeta(10, &text)
		synctest.Wait()
		if up := lab.network.addresses(); !slices.Equal(up, []string{"10.0.0.11"}) {
			t.Errorf("up with META: %q", up)
		}
	})
}

// A NoCloud seed with an address gives it before a config; one without leaves the
// node to DHCP.
func TestTheNetworkIsInANoCloudSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one, server := lab.atHome("vm-301", "nocloud", 2)
		one.Hostname, one.Resolvers = "cp-2", []netip.Addr{netip.MustParseAddr("10.0.0.1")}
		one.NICs[0].Name, one.NICs[0].Gateway = "eth0", netip.MustParseAddr("10.0.0.1")
		one.NICs[0].Addresses = []netip.Prefix{netip.MustParsePrefix("10.0.0.12/16")}
		cp := lab.make(one)
		facts := lab.intoMaintenance(cp)
		if up := values(facts, "vm-301", "address"); !slices.Equal(up, []string{"10.0.0.12"}) {
			t.Errorf("addresses in maintenance: %q", up)
		}
		if name := cp.running().Hostname(); name != "cp-2" {
			t.Errorf("the hostname is %q", name)
		}
		if resolvers := resolversOf(t, cp.running()); !slices.Equal(resolvers, one.Resolvers) {
			t.Errorf("resolvers: %v", resolvers)
		}
		if leases := server.Leases(); len(leases) > 0 {
			t.Errorf("it asked by DHCP: %+v", leases)
		}
	})
}

// A node that got its address by DHCP has it again after a boot, and leaves it
// when a config gives it another.
func TestDHCPFirstAndStaticLater(t *testing.T) {
	static := configOf(t, talosmachine.TypeControlPlane, func(text string) string {
		return strings.Replace(text, "    network: {}\n", `    network:
        interfaces:
            - deviceSelector:
                hardwareAddr: 92:00:00:00:00:01
              addresses: [10.0.0.11/16]
              routes: [{network: 0.0.0.0/0, gateway: 10.0.0.1}]
`, 1)
	})
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one, server := lab.atHome("vm-300", "metal", 1)
		cp := lab.make(one)
		for range 2 {
			lab.intoMaintenance(cp)
			if up := lab.network.addresses(); !slices.Equal(up, []string{leaseOf(t, server)}) {
				t.Fatalf("up in maintenance: %q", up)
			}
			if resolvers := resolversOf(t, cp.running()); !slices.Equal(resolvers, server.Resolvers) {
				t.Errorf("resolvers: %v", resolvers)
			}
			cp.PowerOff()
			lab.settle()
		}
		if asked := values(lab.facts(), "vm-300", "lease"); len(asked) != 1 {
			t.Errorf("leases that were new: %q", asked)
		}
		cp.PowerOn()
		lab.configure(cp, static)
		lab.settle()
		if up := lab.network.addresses(); !slices.Equal(up, []string{"10.0.0.11"}) {
			t.Errorf("up with the config: %q", up)
		}
	})
}

// A config may give the NIC an alias, and configure DHCP under that name.
func TestTheNICHasAnAlias(t *testing.T) {
	const documents = `---
apiVersion: v1alpha1
kind: LinkAliasConfig
name: net0
selector:
    match: mac(link.permanent_addr) == "92:00:00:00:00:01"
---
apiVersion: v1alpha1
kind: %s
name: net0
`
	for _, known := range []struct{ name, kind, address string }{
		{"by DHCP", "DHCPv4Config", ""},
		{"with an address", "LinkConfig", "addresses:\n    - address: 10.0.0.11/16\n"},
	} {
		cfg := configOf(t, talosmachine.TypeControlPlane, func(text string) string {
			return text + fmt.Sprintf(documents, known.kind) + known.address
		})
		t.Run(known.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				one, server := lab.atHome("cp-1", "metal", 1)
				cp := lab.make(one)
				cp.PowerOn()
				lab.configure(cp, cfg)
				lab.settle()
				wanted := "10.0.0.11"
				if known.address == "" {
					wanted = leaseOf(t, server)
				}
				if up := lab.network.addresses(); !slices.Equal(up, []string{wanted}) {
					t.Errorf("up: %q, wanted %s", up, wanted)
				}
				link, err := safe.StateGetByID[*network.LinkStatus](t.Context(), cp.running().boot.State, "enp6s18")
				if err != nil || link.TypedSpec().Alias != "net0" {
					t.Errorf("the link is %v, %v", link, err)
				}
			})
		})
	}
}

// Without a DHCP server a node has no address.
func TestThereIsNoDHCPServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one, _ := lab.atHome("vm-300", "metal", 1)
		one.NICs[0].Server = nil
		lab.make(one).PowerOn()
		time.Sleep(time.Minute)
		synctest.Wait()
		if up := lab.network.addresses(); len(up) > 0 {
			t.Errorf("up: %q", up)
		}
	})
}
