package project

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/identity"
)

// Identities generates ids, MACs and addresses from the seed.
type Identities struct{ *identity.Source }

func newIdentities(seed uint64) *Identities {
	return &Identities{identity.NewSource(seed)}
}

// id returns a free id of eight digits.
func (i *Identities) id(kind, name string, taken func(int64) bool) int64 {
	const first, count = 10_000_000, 80_000_000
	id := int64(first + i.Number(kind, name)%count)
	for taken(id) {
		id++
	}
	return id
}

// MAC is one of Hetzner's: 96:00 for public and 86:00 for private interfaces.
func (i *Identities) MAC(public bool, name string) string {
	prefix := 0x8600
	if public {
		prefix = 0x9600
	}
	var tail [4]byte
	binary.BigEndian.PutUint32(tail[:], uint32(i.Number("mac", name)))
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", prefix>>8, prefix&0xff, tail[0], tail[1], tail[2], tail[3])
}

// pick returns a free address of the pools, if there is one. Network and broadcast addresses and the first address of a pool are never picked.
func (i *Identities) pick(pools []netip.Prefix, name string, taken func(netip.Addr) bool) (netip.Addr, bool) {
	var addresses []netip.Addr
	for _, pool := range pools {
		last := LastAddress(pool)
		for addr := pool.Masked().Addr().Next().Next(); addr.Less(last); addr = addr.Next() {
			addresses = append(addresses, addr)
		}
	}
	if len(addresses) == 0 {
		return netip.Addr{}, false
	}
	start := int(i.Number("address", name) % uint64(len(addresses)))
	for offset := range addresses {
		if addr := addresses[(start+offset)%len(addresses)]; !taken(addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// Network6 returns a /64 of the IPv6 range for documentation.
func (i *Identities) Network6(name string) netip.Prefix {
	bytes := [16]byte{0x20, 0x01, 0x0d, 0xb8}
	binary.BigEndian.PutUint32(bytes[4:8], uint32(i.Number("network6", name)))
	return netip.PrefixFrom(netip.AddrFrom16(bytes), 64)
}

// Password returns a root password for a server of that name.
func (i *Identities) Password(name string) string {
	return fmt.Sprintf("%016x", i.Number("password", name))
}
