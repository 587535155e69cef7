package firewall

import (
	"net/netip"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
)

func rule(direction, protocol, port string, ips ...string) schema.FirewallRuleRequest {
	made := schema.FirewallRuleRequest{Direction: direction, Protocol: protocol}
	if port != "" {
		made.Port = &port
	}
	if direction == "out" {
		made.DestinationIPs = ips
	} else {
		made.SourceIPs = ips
	}
	return made
}

func TestRulesAreChecked(t *testing.T) {
	t.Parallel()
	for problem, broken := range map[string]schema.FirewallRuleRequest{
		"must be in or out":            rule("up", "tcp", "80", "0.0.0.0/0"),
		"must not be empty":            rule("in", "tcp", "80"),
		"is no network":                rule("in", "tcp", "80", "1.2.3.4/8"),
		"must be tcp, udp":             rule("in", "http", "80", "0.0.0.0/0"),
		"needed for tcp":               rule("in", "tcp", "", "0.0.0.0/0"),
		"and for nothing else":         rule("in", "icmp", "80", "0.0.0.0/0"),
		"'90000' is no port":           rule("in", "tcp", "90000", "0.0.0.0/0"),
		"'20-10' is no range of ports": rule("in", "udp", "20-10", "0.0.0.0/0"),
	} {
		_, err := checkRules([]schema.FirewallRuleRequest{broken})
		require.ErrorContains(t, err, problem)
		require.ErrorContains(t, err, "rules.0.")
	}
}

func TestFirewallsAreCompiledTogether(t *testing.T) {
	t.Parallel()
	firewallOf := func(asked ...schema.FirewallRuleRequest) *Firewall {
		rules, err := checkRules(asked)
		require.NoError(t, err)
		return &Firewall{rules: rules}
	}
	home, world := netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("0.0.0.0/0")
	for name, test := range map[string]struct {
		firewalls []*Firewall
		want      *network.Firewall
	}{
		"none lets all in":      {nil, nil},
		"an empty one nothing":  {[]*Firewall{firewallOf()}, &network.Firewall{}},
		"other protocols":       {[]*Firewall{firewallOf(rule("in", "icmp", "", "0.0.0.0/0"), rule("out", "tcp", "any", "0.0.0.0/0"))}, &network.Firewall{}},
		"only IPv6":             {[]*Firewall{firewallOf(rule("in", "tcp", "80", "::/0"))}, &network.Firewall{}},
		"ports and their range": {[]*Firewall{firewallOf(rule("in", "tcp", "any", "192.0.2.0/24")), firewallOf(rule("in", "tcp", "80-81", "0.0.0.0/0", "::/0"))}, &network.Firewall{Allow: []network.Allow{{From: 1, To: 65535, Sources: []netip.Prefix{home}}, {From: 80, To: 81, Sources: []netip.Prefix{world}}}}},
	} {
		require.Equal(t, test.want, compile(test.firewalls), name)
	}
}
