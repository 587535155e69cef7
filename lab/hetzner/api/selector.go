package api

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Selector is a label selector, as text and parsed: all of its terms must hold.
type Selector struct {
	Text  string
	terms []term
}

// term is one condition on a label.
type term struct {
	key string
	// values are the allowed values of the label, or any if nil.
	values []string
	// negated inverts the condition. A missing label has none of the values.
	negated bool
}

var (
	labelKey   = `(?:[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,251}[a-zA-Z0-9])?/)?[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?`
	labelValue = `(?:[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?)?`

	existsTerm = regexp.MustCompile(`^(!?)\s*(` + labelKey + `)$`)
	equalsTerm = regexp.MustCompile(`^(` + labelKey + `)\s*(==|=|!=)\s*(` + labelValue + `)$`)
	memberTerm = regexp.MustCompile(`^(` + labelKey + `)\s+(in|notin)\s*\(([^()]*)\)$`)
	onlyValue  = regexp.MustCompile(`^` + labelValue + `$`)
)

// ParseSelector reads the query language: k, !k, k=v, k==v, k!=v, k in (v,w) and
// k notin (v,w), joined by commas. An empty one selects everything.
func ParseSelector(text string) (Selector, error) {
	selector := Selector{Text: text}
	for _, part := range splitTerms(text) {
		parsed, err := parseTerm(strings.TrimSpace(part))
		if err != nil {
			return Selector{}, err
		}
		selector.terms = append(selector.terms, parsed)
	}
	return selector, nil
}

// RequireSelector returns a selector in the body of a request, which must not be empty.
func RequireSelector(text string) (Selector, error) {
	selector, err := ParseSelector(text)
	if err != nil || len(selector.terms) == 0 {
		return Selector{}, Invalid("label_selector", "'%s' is no label selector", text)
	}
	return selector, nil
}

// splitTerms splits at the commas outside of parentheses.
func splitTerms(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var parts []string
	depth, start := 0, 0
	for i, char := range text {
		switch {
		case char == '(':
			depth++
		case char == ')':
			depth--
		case char == ',' && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

func parseTerm(text string) (term, error) {
	if found := existsTerm.FindStringSubmatch(text); found != nil {
		return term{key: found[2], negated: found[1] == "!"}, nil
	}
	if found := equalsTerm.FindStringSubmatch(text); found != nil {
		return term{key: found[1], values: []string{found[3]}, negated: found[2] == "!="}, nil
	}
	found := memberTerm.FindStringSubmatch(text)
	if found == nil {
		return term{}, fmt.Errorf("%q is no label selector", text)
	}
	parsed := term{key: found[1], negated: found[2] == "notin"}
	for value := range strings.SplitSeq(found[3], ",") {
		value = strings.TrimSpace(value)
		if !onlyValue.MatchString(value) {
			return term{}, fmt.Errorf("%q is no label value", value)
		}
		parsed.values = append(parsed.values, value)
	}
	return parsed, nil
}

// Matches reports whether labels meet all terms.
func (s Selector) Matches(labels map[string]string) bool {
	for _, condition := range s.terms {
		value, present := labels[condition.key]
		holds := present && (condition.values == nil || slices.Contains(condition.values, value))
		if holds == condition.negated {
			return false
		}
	}
	return true
}

// CheckLabels returns an error if a resource cannot have these labels.
func CheckLabels(labels map[string]string) error {
	loose := make(map[string]any, len(labels))
	for key, value := range labels {
		if strings.HasPrefix(key, "hetzner.cloud/") {
			return Invalid("labels", "label key '%s' has a reserved prefix", key)
		}
		loose[key] = value
	}
	if ok, err := hcloud.ValidateResourceLabels(loose); !ok {
		return Invalid("labels", "%s", err)
	}
	return nil
}
