package kube

import (
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// ipam assigns the addresses of a node's pods: the lowest free one in each of its ranges. The first two of a range are the network's and the node's.
type ipam struct {
	mu     sync.Mutex
	ranges []netip.Prefix
	known  gate
	taken  map[netip.Addr]types.UID
}

// setRanges records the ranges of the Node, once it has them.
func (i *ipam) setRanges(cidrs []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var ranges []netip.Prefix
	for _, cidr := range cidrs {
		if prefix, err := netip.ParsePrefix(cidr); err == nil {
			ranges = append(ranges, prefix.Masked())
		}
	}
	i.ranges = ranges
	i.known.set(len(ranges) > 0)
}

// take assigns a pod an address in each range, unless the range is full.
func (i *ipam) take(pod types.UID) []netip.Addr {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.taken == nil {
		i.taken = map[netip.Addr]types.UID{}
	}
	var given []netip.Addr
	for _, prefix := range i.ranges {
		for addr := prefix.Addr().Next().Next(); prefix.Contains(addr.Next()); addr = addr.Next() {
			if _, used := i.taken[addr]; !used {
				i.taken[addr] = pod
				given = append(given, addr)
				break
			}
		}
	}
	return given
}

func (i *ipam) release(pod types.UID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for addr, holder := range i.taken {
		if holder == pod {
			delete(i.taken, addr)
		}
	}
}
