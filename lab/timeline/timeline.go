// Package timeline keeps what was true in the lab and when: the facts against
// which a gate's delay and a run's overhead are computed.
package timeline

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Fact is one thing that became true.
type Fact struct {
	// Seq counts from 1.
	Seq int `json:"seq"`
	// At is measured: the seconds since the lab began.
	At float64 `json:"at"`
	// Subject is what it is about: a server, a node, a cluster, a cloud.
	Subject string `json:"subject"`
	// What is the kind of fact, such as "stage", "service" or "power".
	What string `json:"what"`
	// Value is what it became, such as "booting".
	Value string `json:"value"`
	// Detail says more. It holds nothing measured: the same seed gives the same.
	Detail map[string]string `json:"detail,omitempty"`
}

// Timeline is the list of facts of one lab. It is safe for concurrent use.
type Timeline struct {
	mu      sync.Mutex
	now     func() time.Time
	started time.Time
	facts   []Fact
	out     *json.Encoder
	more    chan struct{}
	heard   []func(Fact)
}

// New starts a timeline that also writes each fact to out as a line of JSON,
// unless out is nil.
func New(now func() time.Time, out io.Writer) *Timeline {
	t := &Timeline{now: now, started: now(), more: make(chan struct{})}
	if out != nil {
		t.out = json.NewEncoder(out)
	}
	return t
}

// Started is when the lab began, by the clock on the wall: the moments of facts
// are counted from it.
func (t *Timeline) Started() time.Time { return t.started }

// Hear calls a function with each fact that is recorded from now on, before
// Record returns: whoever records a fact goes on in a lab that has heard of it.
func (t *Timeline) Hear(each func(Fact)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = append(t.heard, each)
}

// Record adds a fact. Detail comes in pairs of key and value.
func (t *Timeline) Record(subject, what, value string, detail ...string) {
	fact := Fact{Subject: subject, What: what, Value: value}
	for i := 0; i+1 < len(detail); i += 2 {
		if fact.Detail == nil {
			fact.Detail = map[string]string{}
		}
		fact.Detail[detail[i]] = detail[i+1]
	}
	for _, each := range t.add(&fact) {
		each(fact)
	}
}

// add gives the fact its place and returns who wants to hear of it.
func (t *Timeline) add(fact *Fact) []func(Fact) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fact.Seq, fact.At = len(t.facts)+1, t.now().Sub(t.started).Seconds()
	t.facts = append(t.facts, *fact)
	if t.out != nil {
		// The file is for people; the lab goes on when the disk is full.
		_ = t.out.Encode(fact)
	}
	close(t.more)
	t.more = make(chan struct{})
	return t.heard
}

// After returns the facts that follow seq, and a channel that is closed when
// there are more.
func (t *Timeline) After(seq int) ([]Fact, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq >= len(t.facts) {
		return nil, t.more
	}
	return append([]Fact(nil), t.facts[max(seq, 0):]...), t.more
}
