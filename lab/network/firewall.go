package network

import "net/netip"

// Firewalls are routing rules: what a firewall lets through is routed to the
// address, the rest into the void. So they hold for whoever listens, also for
// processes that open their sockets themselves, and a port where nobody listens
// is as silent as one behind a real firewall.

// firstEphemeral is the first port of outgoing connections. Firewalls let
// everything pass from here on, which is where answers arrive.
const firstEphemeral = 51000

// guarded are the ports that a firewall closes.
var guarded = ports{1, firstEphemeral - 1}

// SetFirewall replaces what may reach an address.
func (h *Host) SetFirewall(addr netip.Addr, firewall *Firewall) {
	addr = addr.Unmap()
	h.mu.Lock()
	defer h.mu.Unlock()
	before, now := h.firewall[addr], rules(addr, firewall)
	h.firewall[addr] = now
	if firewall == nil {
		delete(h.firewall, addr)
	}
	// What lets through comes first and goes last: nothing that is allowed
	// before and after is lost in between.
	for _, rule := range without(now, before) {
		if err := h.kernel.RuleAdd(rule.netlink()); err != nil {
			h.log.Error("add a rule of a firewall", "address", addr, "rule", rule, "error", err)
		}
	}
	gone := without(before, now)
	for i := range gone {
		rule := gone[len(gone)-1-i]
		if err := h.kernel.RuleDel(rule.netlink()); err != nil {
			h.log.Error("remove a rule of a firewall", "address", addr, "rule", rule, "error", err)
		}
	}
}

// rules says a firewall as routing rules, those that let through first.
func rules(addr netip.Addr, firewall *Firewall) []rule {
	if firewall == nil {
		return nil
	}
	to := netip.PrefixFrom(addr, addr.BitLen())
	// A machine reaches itself without passing its firewall.
	found := []rule{{orderAllow, to, to, guarded, tableUp}}
	seen := map[rule]bool{}
	add := func(r rule) {
		if !seen[r] {
			seen[r] = true
			found = append(found, r)
		}
	}
	for _, allow := range firewall.Allow {
		open := ports{max(allow.From, guarded.first), min(allow.To, guarded.last)}
		if open.first > open.last {
			continue
		}
		for _, source := range allow.Sources {
			if source.Addr().Is4() != addr.Is4() {
				continue
			}
			for _, part := range halves(source.Masked()) {
				add(rule{orderAllow, part, to, open, tableUp})
			}
			if addr.Is6() && source.Contains(Operator6) {
				add(rule{orderAllowUnbound, netip.Prefix{}, to, open, tableUp})
			}
		}
	}
	// A socket of IPv6 that has no source yet is routed only once, without one,
	// and matches no rule that asks for a source. It will be the operator's. So
	// it has rules of its own, after those that drop whoever has a source.
	if addr.Is6() {
		for _, part := range anywhere6 {
			add(rule{orderDrop, part, to, guarded, tableVoid})
		}
	}
	add(rule{orderDropUnbound, netip.Prefix{}, to, guarded, tableVoid})
	return found
}

var anywhere6 = []netip.Prefix{netip.MustParsePrefix("::/1"), netip.MustParsePrefix("8000::/1")}

// halves splits "from anywhere" in IPv6 in two: the kernel takes a prefix of no
// bits as none, which also matches what has no source yet.
func halves(prefix netip.Prefix) []netip.Prefix {
	if prefix.Addr().Is6() && prefix.Bits() == 0 {
		return anywhere6
	}
	return []netip.Prefix{prefix}
}

// without are the rules that are not among others.
func without(rules, others []rule) []rule {
	known := map[rule]bool{}
	for _, other := range others {
		known[other] = true
	}
	var left []rule
	for _, rule := range rules {
		if !known[rule] {
			left = append(left, rule)
		}
	}
	return left
}
