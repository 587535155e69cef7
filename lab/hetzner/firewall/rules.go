package firewall

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
)

const maxRules = 50

// checkRules returns the rules of a firewall as the API shows them, or an error where
// one of them is invalid.
func checkRules(asked []schema.FirewallRuleRequest) ([]schema.FirewallRule, error) {
	if len(asked) > maxRules {
		return nil, api.Invalid("rules", "there can be %d at most", maxRules)
	}
	rules := make([]schema.FirewallRule, 0, len(asked))
	for i, rule := range asked {
		if err := checkRule(fmt.Sprintf("rules.%d.", i), rule); err != nil {
			return nil, err
		}
		rules = append(rules, schema.FirewallRule{
			Direction: rule.Direction, SourceIPs: append([]string{}, rule.SourceIPs...),
			DestinationIPs: append([]string{}, rule.DestinationIPs...),
			Protocol:       rule.Protocol, Port: rule.Port, Description: rule.Description,
		})
	}
	return rules, nil
}

func checkRule(at string, rule schema.FirewallRuleRequest) error {
	needed, other, name := rule.SourceIPs, rule.DestinationIPs, "source_ips"
	switch rule.Direction {
	case "in":
	case "out":
		needed, other, name = other, needed, "destination_ips"
	default:
		return api.Invalid(at+"direction", "must be in or out")
	}
	if len(needed) == 0 {
		return api.Invalid(at+name, "must not be empty for direction %s", rule.Direction)
	}
	for _, text := range append(slices.Clone(needed), other...) {
		if prefix, err := netip.ParsePrefix(text); err != nil || prefix != prefix.Masked() {
			return api.Invalid(at+name, "'%s' is no network in CIDR notation", text)
		}
	}
	if !slices.Contains([]string{"tcp", "udp", "icmp", "esp", "gre"}, rule.Protocol) {
		return api.Invalid(at+"protocol", "must be tcp, udp, icmp, esp or gre")
	}
	withPort := rule.Protocol == "tcp" || rule.Protocol == "udp"
	if withPort != (rule.Port != nil && *rule.Port != "") {
		return api.Invalid(at+"port", "is needed for tcp and udp, and for nothing else")
	}
	if withPort {
		if _, _, err := parsePorts(*rule.Port); err != nil {
			return api.Invalid(at+"port", "%s", err)
		}
	}
	return nil
}

// parsePorts reads "80", "1024-5000" or "any".
func parsePorts(text string) (from, to uint16, err error) {
	if text == "any" {
		return 1, 65535, nil
	}
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	first, err := strconv.ParseUint(low, 10, 16)
	if err != nil {
		return 0, 0, fmt.Errorf("'%s' is no port", low)
	}
	last, err := strconv.ParseUint(high, 10, 16)
	if err != nil {
		return 0, 0, fmt.Errorf("'%s' is no port", high)
	}
	if first < 1 || last < first {
		return 0, 0, fmt.Errorf("'%s' is no range of ports", text)
	}
	return uint16(first), uint16(last), nil
}

// compile returns what the firewalls of a server allow together. It is nil without a firewall: then everything is allowed. Public addresses are IPv4 here.
func compile(firewalls []*Firewall) *network.Firewall {
	if len(firewalls) == 0 {
		return nil
	}
	compiled := &network.Firewall{}
	for _, one := range firewalls {
		for _, rule := range one.rules {
			if rule.Direction != "in" || rule.Protocol != "tcp" {
				continue
			}
			from, to, err := parsePorts(*rule.Port)
			if err != nil {
				continue // it was checked when it was received
			}
			allow := network.Allow{From: from, To: to}
			for _, text := range rule.SourceIPs {
				if source, err := netip.ParsePrefix(text); err == nil && source.Addr().Is4() {
					allow.Sources = append(allow.Sources, source)
				}
			}
			if len(allow.Sources) > 0 {
				compiled.Allow = append(compiled.Allow, allow)
			}
		}
	}
	return compiled
}
