package network

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func allow(from, to uint16, sources ...string) Allow {
	found := Allow{From: from, To: to}
	for _, source := range sources {
		found.Sources = append(found.Sources, netip.MustParsePrefix(source))
	}
	return found
}

func TestFirewallLetsInWhomItNames(t *testing.T) {
	h := host(t, "203.0.113.11", "203.0.113.12", "2001:db8:2::11", "2001:db8:2::12")
	for _, text := range []string{"203.0.113.11:50000", "203.0.113.11:6443", "[2001:db8:2::11]:50000", "[2001:db8:2::11]:6443", "203.0.113.12:80"} {
		listener, err := h.Listen(netip.MustParseAddrPort(text))
		require.NoError(t, err)
		greet(t, listener)
	}
	const operator, outsider, operator6, outsider6 = "192.0.2.100", "192.0.2.200", "2001:db8::100", "2001:db8::200"
	type attempt struct{ from, to, want string }
	for _, test := range []struct {
		name     string
		firewall *Firewall
		attempts []attempt
	}{
		{"none", nil, []attempt{
			{"", "203.0.113.11:50000", operator},
			{outsider, "203.0.113.11:50000", outsider},
			{outsider6, "[2001:db8:2::11]:50000", outsider6},
			{outsider, "203.0.113.11:22", "refused"},
		}},
		{"nobody", &Firewall{}, []attempt{
			{"", "203.0.113.11:50000", "silence"},
			{outsider, "203.0.113.11:22", "silence"},
			{"", "[2001:db8:2::11]:50000", "silence"},
			{outsider6, "[2001:db8:2::11]:22", "silence"},
			{"203.0.113.11", "203.0.113.11:50000", "203.0.113.11"},
			{"2001:db8:2::11", "[2001:db8:2::11]:50000", "2001:db8:2::11"},
			{"", "203.0.113.12:80", operator},
			{"203.0.113.11", "203.0.113.12:80", "203.0.113.11"},
		}},
		{"the operator, one port", &Firewall{Allow: []Allow{allow(50000, 50000, operator+"/32", operator6+"/128")}}, []attempt{
			{"", "203.0.113.11:50000", operator},
			{operator, "203.0.113.11:50000", operator},
			{outsider, "203.0.113.11:50000", "silence"},
			{"", "203.0.113.11:6443", "silence"},
			{"", "[2001:db8:2::11]:50000", operator6},
			{outsider6, "[2001:db8:2::11]:50000", "silence"},
			{"", "[2001:db8:2::11]:6443", "silence"},
		}},
		{"a network, and anywhere", &Firewall{Allow: []Allow{
			allow(50000, 50001, "203.0.113.0/24", "2001:db8:2::/64"),
			allow(6443, 6443, "0.0.0.0/0", "::/0"),
			allow(1, 65535, "192.0.2.200/32"),
			allow(60000, 60010, "0.0.0.0/0"),
		}}, []attempt{
			{"203.0.113.12", "203.0.113.11:50000", "203.0.113.12"},
			{"203.0.113.12", "203.0.113.11:50001", "refused"},
			{"203.0.113.12", "203.0.113.11:50002", "silence"},
			{"", "203.0.113.11:50000", "silence"},
			{"", "203.0.113.11:6443", operator},
			{outsider, "203.0.113.11:50000", outsider},
			{outsider, "203.0.113.11:22", "refused"},
			{"2001:db8:2::12", "[2001:db8:2::11]:50000", "2001:db8:2::12"},
			{"", "[2001:db8:2::11]:50000", "silence"},
			{"", "[2001:db8:2::11]:6443", operator6},
			{outsider6, "[2001:db8:2::11]:6443", outsider6},
		}},
		{"none again", nil, []attempt{
			{outsider, "203.0.113.11:50000", outsider},
			{"", "[2001:db8:2::11]:22", "refused"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h.SetFirewall(netip.MustParseAddr("203.0.113.11"), test.firewall)
			h.SetFirewall(netip.MustParseAddr("2001:db8:2::11"), test.firewall)
			for _, attempt := range test.attempts {
				require.Equal(t, attempt.want, reach(t, h, attempt.from, attempt.to), "from %q to %s", attempt.from, attempt.to)
			}
		})
	}
}

func TestFirewallHoldsForListenersThatOthersOpened(t *testing.T) {
	h := host(t, "203.0.113.21")
	listener, err := net.Listen("tcp", "203.0.113.21:2379")
	require.NoError(t, err)
	greet(t, listener)
	require.Equal(t, "192.0.2.100", reach(t, h, "", "203.0.113.21:2379"))
	h.SetFirewall(netip.MustParseAddr("203.0.113.21"), &Firewall{Allow: []Allow{allow(2379, 2380, "192.0.2.200/32")}})
	require.Equal(t, "silence", reach(t, h, "", "203.0.113.21:2379"))
	require.Equal(t, "192.0.2.200", reach(t, h, "192.0.2.200", "203.0.113.21:2379"))
}

func TestFirewallMayComeBeforeTheAddress(t *testing.T) {
	h := host(t)
	addr := netip.MustParseAddr("203.0.113.31")
	h.SetFirewall(addr, &Firewall{})
	host(t, "203.0.113.31")
	listener, err := h.Listen(netip.MustParseAddrPort("203.0.113.31:80"))
	require.NoError(t, err)
	greet(t, listener)
	require.Equal(t, "silence", reach(t, h, "", "203.0.113.31:80"))
}

func TestFirewallsLeaveNoRuleBehind(t *testing.T) {
	h := host(t)
	count := func() int {
		rules, err := h.kernel.RuleList(0)
		require.NoError(t, err)
		return len(rules)
	}
	before := count()
	addr := netip.MustParseAddr("203.0.113.41")
	h.SetFirewall(addr, &Firewall{Allow: []Allow{allow(1, 10, "0.0.0.0/0"), allow(5, 80, "10.0.0.0/8"), allow(5, 80, "10.0.0.0/8")}})
	require.Equal(t, before+4, count(), "itself, two sources, and the rest")
	h.SetFirewall(addr, &Firewall{Allow: []Allow{allow(5, 80, "10.0.0.0/8")}})
	require.Equal(t, before+3, count())
	h.SetFirewall(addr, nil)
	require.Equal(t, before, count())
}
