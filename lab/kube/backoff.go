package kube

import "time"

const (
	// longestBackoff and longRun are those of a kubelet, five and ten minutes, in
	// multiples of its first wait of ten seconds.
	longestBackoff = 30
	longRun        = 60
)

// backoff counts how often something was tried in vain.
type backoff struct {
	count  int
	spared bool
}

// spare says once that there is no need to wait: a container that ran is started
// again at once the first time.
func (b *backoff) spare() bool {
	first := !b.spared
	b.spared = true
	return first
}

// next is how long to wait now: the base, and twice as long each time after.
func (b *backoff) next(base time.Duration) time.Duration {
	b.count++
	delay := base
	for i := 1; i < b.count && delay < longestBackoff*base; i++ {
		delay *= 2
	}
	return min(delay, longestBackoff*base)
}

func (b *backoff) reset() { *b = backoff{} }
