package network

import "net/netip"

// Firewalls are routing rules: what a firewall allows is routed to the address, the rest is dropped. So they apply to every listener, even to processes that
// open their sockets themselves, and a blocked port is as silent as behind a real firewall.

// firstEphemeral is the first port of outgoing connections. Firewalls allow
// everything from here on, because answers arrive there.
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
	// Rules are added before others are removed, so that traffic that is allowed before and after is not lost in between.
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

// rules returns a firewall as routing rules, those that allow something first.
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
	// An IPv6 socket without a source address yet is routed only once, without one, and matches no rule with a source. Its source will be the operator's
	// address. So it has its own rules, after those that drop other sources.
	if addr.Is6() {
		for _, part := range anywhere6 {
			add(rule{orderDrop, part, to, guarded, tableVoid})
		}
	}
	add(rule{orderDropUnbound, netip.Prefix{}, to, guarded, tableVoid})
	return found
}

var anywhere6 = []netip.Prefix{netip.MustParsePrefix("::/1"), netip.MustParsePrefix("8000::/1")}

// halves splits the prefix ::/0 in two: the kernel treats a prefix of no bits as no prefix, which also matches a packet without a source yet.
func halves(prefix netip.Prefix) []netip.Prefix {
	if prefix.Addr().Is6() && prefix.Bits() == 0 {
		return anywhere6
	}
	return []netip.Prefix{prefix}
}

// without returns the rules that are not among others.
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
