package hetzner

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"

	"github.com/google/uuid"
)

// identities gives ids and addresses that follow from the seed, from what they
// are for and from how often that was there before: whoever creates the same
// resources in another order gets the same.
type identities struct {
	seed  uint64
	times map[string]uint64
}

func newIdentities(seed uint64) *identities {
	return &identities{seed: seed, times: map[string]uint64{}}
}

// number is the next one for a purpose.
func (i *identities) number(purpose, name string) uint64 {
	key := purpose + "\x00" + name
	i.times[key]++
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.BigEndian, i.seed)
	_ = binary.Write(hash, binary.BigEndian, i.times[key])
	_, _ = hash.Write([]byte(key))
	return hash.Sum64()
}

// id has eight digits and is not taken.
func (i *identities) id(kind, name string, taken func(int64) bool) int64 {
	const first, count = 10_000_000, 80_000_000
	id := int64(first + i.number(kind, name)%count)
	for taken(id) {
		id++
	}
	return id
}

// mac is one that Hetzner gives: 96:00 public and 86:00 private.
func (i *identities) mac(public bool, name string) string {
	prefix := 0x8600
	if public {
		prefix = 0x9600
	}
	var tail [4]byte
	binary.BigEndian.PutUint32(tail[:], uint32(i.number("mac", name)))
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", prefix>>8, prefix&0xff, tail[0], tail[1], tail[2], tail[3])
}

// uuid is a server's.
func (i *identities) uuid(name string) string {
	var data [8]byte
	binary.BigEndian.PutUint64(data[:], i.number("uuid", name))
	return uuid.NewSHA1(uuid.NameSpaceOID, data[:]).String()
}

// pick is an address of the pools that is not taken, or none. Network and
// broadcast addresses and the first one are left out.
func (i *identities) pick(pools []netip.Prefix, name string, taken func(netip.Addr) bool) (netip.Addr, bool) {
	var addresses []netip.Addr
	for _, pool := range pools {
		last := lastOf(pool)
		for addr := pool.Masked().Addr().Next().Next(); addr.Less(last); addr = addr.Next() {
			addresses = append(addresses, addr)
		}
	}
	if len(addresses) == 0 {
		return netip.Addr{}, false
	}
	start := int(i.number("address", name) % uint64(len(addresses)))
	for offset := range addresses {
		if addr := addresses[(start+offset)%len(addresses)]; !taken(addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// network6 is a /64 of the range for documentation.
func (i *identities) network6(name string) netip.Prefix {
	bytes := [16]byte{0x20, 0x01, 0x0d, 0xb8}
	binary.BigEndian.PutUint32(bytes[4:8], uint32(i.number("network6", name)))
	return netip.PrefixFrom(netip.AddrFrom16(bytes), 64)
}
