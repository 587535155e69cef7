package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// validators judge configs with the code of the version of Talos that a node
// runs, where that is not the version that the lab is made of.
type validators map[string]string // a program by minor version, as "1.12"

// validatorsOf finds them among the lab's programs.
func validatorsOf(tools map[string]string) validators {
	found := validators{}
	for name, path := range tools {
		if minor, is := strings.CutPrefix(name, "configcheck-"); is {
			found[minor] = path
		}
	}
	return found
}

// validate asks the validator of the version, if there is one.
func (v validators) validate(version string, config []byte, mode string, installed bool) error {
	program, known := v[minorOf(version)]
	if !known {
		return nil
	}
	args := []string{"-node", "-mode", mode}
	if installed {
		args = append(args, "-installed")
	}
	command := exec.Command(program, args...)
	command.Stdin = bytes.NewReader(config)
	output, err := command.Output()
	// It ends with 1 when it finds something, and says what.
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Errorf("the validator of Talos %s: %w", version, err)
	}
	verdicts := map[string]struct {
		Documents int
		Faults    []string
	}{}
	if err := json.Unmarshal(output, &verdicts); err != nil {
		return fmt.Errorf("the validator of Talos %s: %w", version, err)
	}
	verdict := verdicts["-"]
	if len(verdict.Faults) == 0 {
		return nil
	}
	text := errors.New(strings.Join(verdict.Faults, "\n"))
	if verdict.Documents == 0 {
		return &talosapi.Unreadable{Err: text}
	}
	return text
}

func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
