package hetzner

import (
	"net"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stretchr/testify/require"
)

func ruleFor(port string) hcloud.FirewallRule {
	return hcloud.FirewallRule{
		Direction: hcloud.FirewallRuleDirectionIn, Protocol: hcloud.FirewallRuleProtocolTCP, Port: &port, SourceIPs: []net.IPNet{*cidr("192.0.2.0/24")},
	}
}

// open returns the ports that a server's firewalls let in, or "all".
func (b *bench) open(t *testing.T, s *hcloud.Server) []uint16 {
	t.Helper()
	wall := b.network.firewall(s.PublicNet.IPv4.IP.String())
	if wall == nil {
		return nil
	}
	ports := []uint16{}
	for _, allow := range wall.Allow {
		ports = append(ports, allow.From)
	}
	return ports
}

func TestFirewallFollowsLabelsAndRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.server(t, "s")
	require.Nil(t, b.open(t, s), "without a firewall all is open")
	made, _, err := b.Firewall.Create(t.Context(), hcloud.FirewallCreateOpts{
		Name: "fw", Rules: []hcloud.FirewallRule{ruleFor("50000")},
		ApplyTo: []hcloud.FirewallResource{{Type: hcloud.FirewallResourceTypeLabelSelector, LabelSelector: &hcloud.FirewallResourceLabelSelector{Selector: "role=cp"}}},
	})
	require.NoError(t, err)
	b.wait(t, nil, made.Actions...)
	require.Nil(t, b.open(t, s))

	_, _, err = b.Server.Update(t.Context(), s, hcloud.ServerUpdateOpts{Labels: map[string]string{"role": "cp"}})
	require.NoError(t, err)
	b.settle(t, s)
	require.Equal(t, []uint16{50000}, b.open(t, s))
	require.Equal(t, hcloud.FirewallStatusApplied, b.find(t, "s").PublicNet.Firewalls[0].Status)

	actions, _, err := b.Firewall.SetRules(t.Context(), made.Firewall, hcloud.FirewallSetRulesOpts{Rules: []hcloud.FirewallRule{ruleFor("443")}})
	b.wait(t, err, actions...)
	require.Equal(t, []uint16{443}, b.open(t, s))

	resource := []hcloud.FirewallResource{{Type: hcloud.FirewallResourceTypeServer, Server: &hcloud.FirewallResourceServer{ID: s.ID}}}
	_, _, err = b.Firewall.RemoveResources(t.Context(), made.Firewall, resource)
	refused(t, err, hcloud.ErrorCodeFirewallManagedByLabelSelector, "label selector")
	_, err = b.Firewall.Delete(t.Context(), made.Firewall)
	refused(t, err, hcloud.ErrorCodeResourceInUse, "is still in use")

	_, _, err = b.Server.Update(t.Context(), s, hcloud.ServerUpdateOpts{Labels: map[string]string{}})
	require.NoError(t, err)
	b.settle(t, s)
	require.Nil(t, b.open(t, s))
	actions, _, err = b.Firewall.ApplyResources(t.Context(), made.Firewall, resource)
	b.wait(t, err, actions...)
	require.Equal(t, []uint16{443}, b.open(t, s))
	_, _, err = b.Firewall.ApplyResources(t.Context(), made.Firewall, resource)
	refused(t, err, hcloud.ErrorCodeFirewallAlreadyApplied, "already applied")
	found, _, err := b.Firewall.GetByID(t.Context(), made.Firewall.ID)
	require.NoError(t, err)
	actions, _, err = b.Firewall.RemoveResources(t.Context(), found, found.AppliedTo)
	b.wait(t, err, actions...)
	require.Nil(t, b.open(t, s))
	_, err = b.Firewall.Delete(t.Context(), made.Firewall)
	require.NoError(t, err)
}

// settle waits for all actions of a server.
func (b *bench) settle(t *testing.T, s *hcloud.Server) {
	t.Helper()
	running, err := b.Server.Action.AllFor(t.Context(), s, hcloud.ActionListOpts{Status: []hcloud.ActionStatus{hcloud.ActionStatusRunning}})
	b.wait(t, err, running...)
}

func TestServerIsProtectedBeforeItStarts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made, _, err := b.Firewall.Create(t.Context(), hcloud.FirewallCreateOpts{Name: "fw", Rules: []hcloud.FirewallRule{ruleFor("80")}})
	require.NoError(t, err)
	s := b.server(t, "s", func(opts *hcloud.ServerCreateOpts) {
		opts.Firewalls = []*hcloud.ServerCreateFirewall{{Firewall: *made.Firewall}}
	})
	require.Equal(t, []uint16{80}, b.open(t, s))
	deleted, _, err := b.Server.DeleteWithResult(t.Context(), s)
	require.NoError(t, err)
	b.wait(t, nil, deleted.Action)
	require.Nil(t, b.open(t, s), "the next one to have the address begins open")
	_, err = b.Firewall.Delete(t.Context(), made.Firewall)
	require.NoError(t, err)
}
