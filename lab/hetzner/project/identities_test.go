package project

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdentitiesDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	free := func(int64) bool { return false }
	one, other := newIdentities(1), newIdentities(1)
	a, b := one.id("server", "a", free), one.id("server", "b", free)
	require.Equal(t, b, other.id("server", "b", free))
	require.Equal(t, a, other.id("server", "a", free))
	require.NotEqual(t, a, one.id("server", "a", free), "the second one of a name")
	require.NotEqual(t, a, newIdentities(2).id("server", "a", free), "another seed")
	require.Equal(t, a+1, newIdentities(1).id("server", "a", func(id int64) bool { return id == a }))
	require.Equal(t, "86:00:", one.MAC(false, "a")[:6])
	require.Equal(t, "96:00:", one.MAC(true, "a")[:6])
}

func TestPickedAddressesAreFree(t *testing.T) {
	t.Parallel()
	pools := []netip.Prefix{netip.MustParsePrefix("198.51.100.0/29"), netip.MustParsePrefix("203.0.113.0/29")}
	taken := map[netip.Addr]bool{}
	all := newIdentities(1)
	for range 10 {
		addr, found := all.pick(pools, "s", func(a netip.Addr) bool { return taken[a] })
		require.True(t, found)
		require.False(t, taken[addr])
		last := addr.As4()[3]
		require.True(t, last >= 2 && last <= 6, addr)
		taken[addr] = true
	}
	_, found := all.pick(pools, "s", func(a netip.Addr) bool { return taken[a] })
	require.False(t, found)
	_, found = all.pick(nil, "s", func(netip.Addr) bool { return false })
	require.False(t, found)
}
