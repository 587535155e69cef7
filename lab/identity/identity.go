// Package identity makes up ids that are the same in every run of a seed.
package identity

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/google/uuid"
)

// Source gives numbers that follow from the seed, from what they are for and
// from how often that was there before: whoever creates the same things in
// another order gets the same.
type Source struct {
	seed  uint64
	times map[string]uint64
}

// NewSource begins one.
func NewSource(seed uint64) *Source {
	return &Source{seed: seed, times: map[string]uint64{}}
}

// Number is the next one for a purpose.
func (s *Source) Number(purpose, name string) uint64 {
	key := purpose + "\x00" + name
	s.times[key]++
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.BigEndian, s.seed)
	_ = binary.Write(hash, binary.BigEndian, s.times[key])
	_, _ = hash.Write([]byte(key))
	return hash.Sum64()
}

// UUID is that of a machine.
func (s *Source) UUID(name string) string {
	var data [8]byte
	binary.BigEndian.PutUint64(data[:], s.Number("uuid", name))
	return uuid.NewSHA1(uuid.NameSpaceOID, data[:]).String()
}
