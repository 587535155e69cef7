package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// report is a line that a lab writes while it starts.
type report struct {
	Step  string            `json:"step,omitempty"`
	Error string            `json:"error,omitempty"`
	Ready bool              `json:"ready,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
}

// errDied is the error if the lab ended before it was ready and reported no reason.
var errDied = errors.New("the lab ended before it was ready")

// follow reads reports until the lab is ready and returns its environment.
func follow(reports io.Reader, step func(string)) (map[string]string, error) {
	lines := json.NewDecoder(reports)
	for {
		var line report
		if err := lines.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				return nil, errDied
			}
			return nil, fmt.Errorf("read the lab's progress: %w", err)
		}
		switch {
		case line.Ready:
			return line.Env, nil
		case line.Error != "":
			return nil, errors.New(line.Error)
		default:
			step(line.Step)
		}
	}
}
