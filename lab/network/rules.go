package network

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The routing tables: the addresses that are up, and one that drops everything.
const (
	tableUp   = 67
	tableVoid = 66
)

// The order in which the kernel evaluates the rules. The rules of one firewall do not affect the address of another.
const (
	orderAllow = 10 + iota
	orderDrop
	orderAllowUnbound
	orderDropUnbound
	orderUp
	orderLocal // of the kernel's own table, which is the first unless moved
)

// rule defines where TCP to an address goes.
type rule struct {
	order    int
	from, to netip.Prefix // from is invalid for any source, or none yet
	ports    ports
	table    int
}

type ports struct{ first, last uint16 }

// netlink returns the rule in the kernel's format.
func (r rule) netlink() *netlink.Rule {
	found := tableRule(r.to.Addr(), r.order, r.table)
	found.IPProto = unix.IPPROTO_TCP
	found.Dst = toIPNet(r.to)
	if r.from.IsValid() {
		found.Src = toIPNet(r.from)
	}
	found.Dport = netlink.NewRulePortRange(r.ports.first, r.ports.last)
	return found
}

// addTables makes the kernel evaluate firewalls first, then the addresses that are up, then its own table.
func (h *Host) addTables() error {
	for _, family := range []netip.Addr{Operator, Operator6} {
		for order, table := range map[int]int{orderUp: tableUp, orderLocal: unix.RT_TABLE_LOCAL} {
			if err := h.kernel.RuleAdd(tableRule(family, order, table)); err != nil {
				return fmt.Errorf("add the rule of routing table %d: %w", table, err)
			}
		}
		if err := h.kernel.RuleDel(tableRule(family, 0, unix.RT_TABLE_LOCAL)); err != nil {
			return fmt.Errorf("remove the kernel's rule of local addresses: %w", err)
		}
	}
	return nil
}

// tableRule asks a table in the family of an address.
func tableRule(family netip.Addr, order, table int) *netlink.Rule {
	found := netlink.NewRule()
	found.Family = unix.AF_INET
	if family.Is6() {
		found.Family = unix.AF_INET6
	}
	found.Priority = order
	found.Table = table
	return found
}
