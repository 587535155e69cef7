package hetzner

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// selector is a parsed label selector: all of its terms must hold.
type selector []term

// term is one condition on a label.
type term struct {
	key string
	// values are those that the label may have, or any when nil.
	values []string
	// negated turns the condition around. A label that is missing has no value:
	// it is not one of the values.
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

// parseSelector reads the query language: k, !k, k=v, k==v, k!=v, k in (v,w) and
// k notin (v,w), joined by commas.
func parseSelector(text string) (selector, error) {
	var all selector
	for _, part := range splitTerms(text) {
		parsed, err := parseTerm(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, parsed)
	}
	return all, nil
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

func (s selector) matches(labels map[string]string) bool {
	for _, condition := range s {
		value, present := labels[condition.key]
		holds := present && (condition.values == nil || slices.Contains(condition.values, value))
		if holds == condition.negated {
			return false
		}
	}
	return true
}

// checkLabels says what is wrong with the labels of a resource.
func checkLabels(labels map[string]string) error {
	loose := make(map[string]any, len(labels))
	for key, value := range labels {
		if strings.HasPrefix(key, "hetzner.cloud/") {
			return invalid("labels", "label key '%s' has a reserved prefix", key)
		}
		loose[key] = value
	}
	if ok, err := hcloud.ValidateResourceLabels(loose); !ok {
		return invalid("labels", "%s", err)
	}
	return nil
}
