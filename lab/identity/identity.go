// Package identity generates ids that are the same in every run with the same seed.
package identity

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/google/uuid"
)

// Source returns numbers that depend on the seed, on their purpose and on how many were requested for that purpose before: creating the same things in
// another order gives the same numbers.
type Source struct {
	seed  uint64
	times map[string]uint64
}

// NewSource starts one.
func NewSource(seed uint64) *Source {
	return &Source{seed: seed, times: map[string]uint64{}}
}

// Number returns the next number for a purpose.
func (s *Source) Number(purpose, name string) uint64 {
	key := purpose + "\x00" + name
	s.times[key]++
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.BigEndian, s.seed)
	_ = binary.Write(hash, binary.BigEndian, s.times[key])
	_, _ = hash.Write([]byte(key))
	return hash.Sum64()
}

// UUID returns a machine's UUID.
func (s *Source) UUID(name string) string {
	var data [8]byte
	binary.BigEndian.PutUint64(data[:], s.Number("uuid", name))
	return uuid.NewSHA1(uuid.NameSpaceOID, data[:]).String()
}
