package privatenet

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

func TestRangesOfNetworksAreChecked(t *testing.T) {
	t.Parallel()
	for text, problem := range map[string]string{
		"10.0.0.0/16":    "",
		"192.168.0.0/24": "",
		"10.0.0.1/16":    "host bits",
		"8.8.8.0/24":     "private range",
		"10.0.0.0/7":     "private range",
		"10.0.0.0/25":    "at least a /24",
		"fd00::/48":      "IPv4",
		"ten":            "IPv4",
	} {
		_, err := parseRange("ip_range", text, smallestNetwork)
		if problem == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, problem, text)
		}
	}
}

func TestAddressesThatServersMayHave(t *testing.T) {
	t.Parallel()
	whole, part := netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("10.0.0.0/29")
	for text, want := range map[string]bool{
		"10.0.0.0": false, "10.0.0.1": false, "10.0.0.2": true, "10.0.0.6": true, "10.0.0.7": false, "10.0.0.8": false,
	} {
		require.Equal(t, want, usable(netip.MustParseAddr(text), whole, part), text)
	}
	require.False(t, usable(project.PublicRouter, netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("172.31.1.0/24")))
	require.True(t, usable(netip.MustParseAddr("10.0.1.1"), whole, netip.MustParsePrefix("10.0.1.0/24")), "only the network's first address is the router")
}

func TestFirstFreeAddressAndRange(t *testing.T) {
	t.Parallel()
	whole := netip.MustParsePrefix("10.0.0.0/22")
	taken := map[netip.Addr]bool{netip.MustParseAddr("10.0.0.2"): true}
	addr, found := freeAddress(whole, netip.MustParsePrefix("10.0.0.0/29"), func(a netip.Addr) bool { return taken[a] })
	require.True(t, found)
	require.Equal(t, "10.0.0.3", addr.String())
	_, found = freeAddress(whole, netip.MustParsePrefix("10.0.0.0/30"), func(netip.Addr) bool { return true })
	require.False(t, found)

	used := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/25"), netip.MustParsePrefix("10.0.1.0/24")}
	free, found := freeRange(whole, used)
	require.True(t, found)
	require.Equal(t, "10.0.2.0/24", free.String())
	_, found = freeRange(whole, []netip.Prefix{whole})
	require.False(t, found)
	require.Equal(t, "10.0.3.255", project.LastAddress(whole).String())
}
