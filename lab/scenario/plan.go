package scenario

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// State is the state of an entry.
type State string

// The states of entries that are listed.
const (
	Waiting State = "waiting" // for its moment
	Armed   State = "armed"
)

// Listed is an entry as Plan.List shows it.
type Listed struct {
	Entry
	State State `json:"state"`
}

// Plan arms the entries of a lab and ends them. It is safe for concurrent use.
type Plan struct {
	faults *fault.Set

	mu      sync.Mutex
	entries []*planned
	closed  bool
}

// planned is an entry that has not ended.
type planned struct {
	Entry
	state State
	due   bool        // its moment has come, it waits for time to pass
	timer *time.Timer // of the time that it waits for, if any
}

// NewPlan returns a plan without entries.
func NewPlan(faults *fault.Set, facts *timeline.Timeline) *Plan {
	p := &Plan{faults: faults}
	facts.Hear(p.hear)
	return p
}

// Add plans entries, all or none, and returns their ids. Facts from now on count as their moments.
func (p *Plan) Add(entries ...Entry) ([]string, error) {
	var ids []string
	for i, entry := range entries {
		id, err := p.add(entry)
		if err != nil {
			for _, id := range ids {
				_ = p.Remove(id) // if it was spent in the meantime, it is gone too
			}
			if len(entries) > 1 {
				err = fmt.Errorf("entry %d: %w", i+1, err)
			}
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (p *Plan) add(entry Entry) (string, error) {
	if err := entry.Check(); err != nil {
		return "", err
	}
	if entry.ID == "" {
		entry.ID = p.faults.NewID()
	}
	added := &planned{Entry: entry, state: Waiting}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return "", fmt.Errorf("the lab is going down")
	}
	p.forgetSpent()
	taken := slices.ContainsFunc(p.entries, func(other *planned) bool { return other.ID == entry.ID })
	if !taken {
		p.entries = append(p.entries, added)
	}
	p.mu.Unlock()
	if taken {
		return "", fmt.Errorf("there is a fault %q already", entry.ID)
	}
	if entry.When == nil {
		p.begin(added)
	}
	return entry.ID, nil
}

// hear is called with each fact.
func (p *Plan) hear(fact timeline.Fact) {
	var begin, end []*planned
	p.mu.Lock()
	for _, entry := range p.entries {
		switch {
		case entry.state == Armed && entry.Until != nil && entry.Until.is(fact):
			end = append(end, entry)
		case entry.state == Waiting && !entry.due && entry.When != nil && entry.When.is(fact):
			entry.due = true
			begin = append(begin, entry)
		}
	}
	p.mu.Unlock()
	for _, entry := range end {
		p.end(entry)
	}
	for _, entry := range begin {
		p.begin(entry)
	}
}

// begin arms an entry whose moment has come, or starts its delay.
func (p *Plan) begin(entry *planned) {
	if entry.After == 0 {
		p.arm(entry)
		return
	}
	p.later(entry, entry.After, p.arm)
}

func (p *Plan) arm(entry *planned) {
	p.mu.Lock()
	over := !p.has(entry)
	p.mu.Unlock()
	if over {
		return
	}
	// It was checked, together with its id, and nothing else adds to the set.
	_, _ = p.faults.Add(entry.Rule)
	p.mu.Lock()
	over = !p.has(entry)
	entry.state = Armed
	p.mu.Unlock()
	switch {
	case over:
		// It was removed while it still counted as waiting.
		_ = p.faults.Remove(entry.ID)
	case entry.For > 0:
		p.later(entry, entry.For, p.end)
	}
}

// later does something with an entry, unless it has ended by then.
func (p *Plan) later(entry *planned, after fault.Duration, do func(*planned)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.has(entry) {
		entry.timer = time.AfterFunc(time.Duration(after), func() { do(entry) })
	}
}

// has reports whether an entry has not ended; the lock is held.
func (p *Plan) has(entry *planned) bool { return slices.Contains(p.entries, entry) }

func (p *Plan) end(entry *planned) {
	// If it is already gone, nothing needs to be done.
	_ = p.Remove(entry.ID)
}

// Remove ends an entry, whether it waits or is armed.
func (p *Plan) Remove(id string) error {
	p.mu.Lock()
	i := slices.IndexFunc(p.entries, func(entry *planned) bool { return entry.ID == id })
	waiting := false
	if i >= 0 {
		entry := p.entries[i]
		waiting = entry.state == Waiting
		if entry.timer != nil {
			entry.timer.Stop()
		}
		p.entries = slices.Delete(p.entries, i, i+1)
	}
	p.mu.Unlock()
	if waiting {
		return nil
	}
	return p.faults.Remove(id)
}

// List returns the waiting and armed entries; a spent rule is neither.
func (p *Plan) List() []Listed {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetSpent()
	found := []Listed{}
	for _, entry := range p.entries {
		found = append(found, Listed{Entry: entry.Entry, State: entry.state})
	}
	return found
}

// forgetSpent removes entries whose rule is spent; the lock is held.
func (p *Plan) forgetSpent() {
	rules := p.faults.Rules()
	p.entries = slices.DeleteFunc(p.entries, func(entry *planned) bool {
		return entry.state == Armed && !slices.ContainsFunc(rules, func(rule fault.Rule) bool { return rule.ID == entry.ID })
	})
}

// Close ends all entries, so that no fault holds anything any more.
func (p *Plan) Close() {
	p.mu.Lock()
	p.closed = true
	entries := slices.Clone(p.entries)
	p.mu.Unlock()
	for _, entry := range entries {
		p.end(entry)
	}
}
