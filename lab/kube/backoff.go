package kube

import "time"

const (
	// longestBackoff and longRun are a kubelet's five and ten minutes, as multiples of its first delay of ten seconds.
	longestBackoff = 30
	longRun        = 60
)

// backoff counts failed attempts.
type backoff struct {
	count  int
	spared bool
}

// spare skips the next delay once: a container that has run is first restarted at once.
func (b *backoff) spare() bool {
	first := !b.spared
	b.spared = true
	return first
}

// next returns the current delay: the base, doubled each time.
func (b *backoff) next(base time.Duration) time.Duration {
	b.count++
	delay := base
	for i := 1; i < b.count && delay < longestBackoff*base; i++ {
		delay *= 2
	}
	return min(delay, longestBackoff*base)
}

func (b *backoff) reset() { *b = backoff{} }
