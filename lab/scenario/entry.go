// Package scenario arms faults at their moment: at once, after a time, or when something became true in the lab.
package scenario

import (
	"errors"
	"path"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Entry is a fault with the time in which it is armed.
type Entry struct {
	fault.Rule
	// When is the fact that it waits for; by default none.
	When *Moment `json:"when,omitempty"`
	// After is how long it waits after that.
	After fault.Duration `json:"after,omitempty"`
	// Until is the fact that ends it; For is how long it is armed at most.
	Until *Moment        `json:"until,omitempty"`
	For   fault.Duration `json:"for,omitempty"`
}

// Moment is the recording of a fact: its fields are patterns like those of a rule.
type Moment struct {
	Subject string `json:"subject,omitempty"`
	What    string `json:"what,omitempty"`
	Value   string `json:"value,omitempty"`
}

// is reports whether the fact matches the moment.
func (m *Moment) is(fact timeline.Fact) bool {
	return fault.Like(m.Subject, fact.Subject) && fault.Like(m.What, fact.What) && fault.Like(m.Value, fact.Value)
}

// Check returns the faults of an entry: fault.FieldErrors, joined.
func (e Entry) Check() error {
	return errors.Join(e.Rule.Check(), e.When.check("when"), e.Until.check("until"))
}

func (m *Moment) check(field string) error {
	if m == nil {
		return nil
	}
	if *m == (Moment{}) {
		return &fault.FieldError{Field: field, Message: "names no fact: it needs one of subject, what and value"}
	}
	for _, pattern := range []string{m.Subject, m.What, m.Value} {
		if _, err := path.Match(pattern, ""); err != nil {
			return &fault.FieldError{Field: field, Message: "\"" + pattern + "\" is not a pattern"}
		}
	}
	return nil
}
