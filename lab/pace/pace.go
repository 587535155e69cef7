// Package pace determines how long everything takes that the lab simulates.
package pace

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// Pace returns the duration of each step. The same seed gives the same durations: they depend only on the step, on its subject and on how often it happened.
type Pace struct {
	profile Profile
	seed    uint64

	mu    sync.Mutex
	times map[string]uint64
}

// New returns the pace of a profile, "fast" or "real".
func New(profile Profile, seed uint64) (*Pace, error) {
	if profile != Fast && profile != Real {
		return nil, fmt.Errorf("no profile %q: there are %q and %q", profile, Fast, Real)
	}
	return &Pace{profile: profile, seed: seed, times: map[string]uint64{}}, nil
}

// Profile returns the name of its profile.
func (p *Pace) Profile() Profile { return p.profile }

// Of returns how long the step takes this time.
func (p *Pace) Of(step Step, subject string) time.Duration {
	usual := durations[step]
	base := usual.fast
	if p.profile == Real {
		base = usual.real
	}
	key := string(step) + "\x00" + subject
	p.mu.Lock()
	p.times[key]++
	time := p.times[key]
	p.mu.Unlock()
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key))
	spread := rand.New(rand.NewPCG(p.seed, hash.Sum64()+time)).Float64()
	// Within a fifth of the usual duration, shorter or longer.
	return scale(base, 0.8+0.4*spread)
}

// Wait waits for the step's duration, or until the context ends.
func (p *Pace) Wait(ctx context.Context, step Step, subject string) error {
	timer := time.NewTimer(p.Of(step, subject))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func scale(d time.Duration, by float64) time.Duration {
	return time.Duration(float64(d) * by)
}
