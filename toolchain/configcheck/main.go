// Judges machine configs as Talos itself does, with the configuration library of one Talos minor: what
// `talosctl validate --mode metal --strict` does, for many configs at once and with an answer that a program can read.
//
// go.mod is for the newest minor; the others have a module file of their own, as in `go build -modfile=v1.12.mod`.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

// metal is the mode that demands most: an install section, and all that only real machines have.
type metal struct{}

func (metal) String() string        { return "metal" }
func (metal) RequiresInstall() bool { return true }
func (metal) InContainer() bool     { return false }

type verdict struct {
	// Documents is the number of config documents; 0 where the config cannot be read.
	Documents int `json:"documents"`
	// Faults holds the warnings, one by one, and the errors, as one text; none where Talos has nothing to say.
	Faults []string `json:"faults,omitempty"`
}

func main() {
	verdicts, err := judge(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(verdicts)
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}

	for _, v := range verdicts {
		if len(v.Faults) > 0 {
			os.Exit(1)
		}
	}
}

// judge reads the named files, or standard input under the name "-" where none is named.
func judge(names []string) (map[string]verdict, error) {
	if len(names) == 0 {
		text, err := io.ReadAll(os.Stdin)

		return map[string]verdict{"-": check(text)}, err
	}

	verdicts := map[string]verdict{}

	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}

		verdicts[name] = check(text)
	}

	return verdicts, nil
}

func check(text []byte) verdict {
	config, err := configloader.NewFromBytes(text)
	if err != nil {
		return verdict{Faults: []string{err.Error()}}
	}

	// Even in strict mode documents other than the main one hand out their warnings apart.
	faults, err := config.Validate(metal{}, validation.WithLocal(), validation.WithStrict())
	if err != nil {
		faults = append(faults, err.Error())
	}

	return verdict{Documents: len(config.Documents()), Faults: faults}
}
