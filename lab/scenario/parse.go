package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// Parse parses a list of entries, or a single one, in YAML or JSON. Its error contains all faults, each with the file's name and the line.
func Parse(file string, data []byte) ([]Entry, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	nodes := []*yaml.Node{document.Content[0]}
	if nodes[0].Kind == yaml.SequenceNode {
		nodes = nodes[0].Content
	}
	var entries []Entry
	var faults []error
	for _, node := range nodes {
		entry, err := parseEntry(file, node)
		entries = append(entries, entry)
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return entries, nil
}

func parseEntry(file string, node *yaml.Node) (Entry, error) {
	var entry Entry
	if node.Kind != yaml.MappingNode {
		return entry, fmt.Errorf("%s:%d: is not a fault: a fault has keys such as on and do", file, node.Line)
	}
	var faults []error
	lines := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if line, twice := lines[key.Value]; twice {
			faults = append(faults, fmt.Errorf("%s:%d: %s: is in line %d already", file, key.Line, key.Value, line))
			continue
		}
		lines[key.Value] = key.Line
		if err := set(&entry, key.Value, value); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %s: %w", file, key.Line, key.Value, err))
		}
	}
	// An entry that was read only in part would report the same faults again.
	if len(faults) == 0 {
		for _, wrong := range fields(entry.Check()) {
			line := lines[wrong.Field]
			if line == 0 {
				line = node.Line
			}
			faults = append(faults, fmt.Errorf("%s:%d: %w", file, line, wrong))
		}
	}
	return entry, errors.Join(faults...)
}

// set reads the value of one key.
func set(entry *Entry, key string, value *yaml.Node) error {
	var plain any
	if err := value.Decode(&plain); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{key: plain})
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(entry)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("is a %s, must be %s", kind.Value, kind.Type)
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		return errors.New(strings.Replace(strings.TrimPrefix(err.Error(), "json: "), "field", "key", 1))
	}
	return err
}

// fields splits the error of Check by field.
func fields(err error) []*fault.FieldError {
	var found []*fault.FieldError
	switch err := err.(type) {
	case *fault.FieldError:
		found = append(found, err)
	case interface{ Unwrap() []error }:
		for _, part := range err.Unwrap() {
			found = append(found, fields(part)...)
		}
	}
	return found
}
