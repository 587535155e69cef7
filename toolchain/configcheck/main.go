// Judges machine configs as Talos itself does, with the configuration library of one Talos minor: what
// `talosctl validate --mode metal --strict` does, for many configs at once and with an answer that a program can read.
//
// With -node it judges as a node does that is sent the config: errors alone, by the rules for the mode that it runs in.
//
// go.mod is for the newest minor; the others have a module file of their own, as in `go build -modfile=v1.12.mod`.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

// mode is what the config is for. The default demands most: metal that is not installed needs an install section, and
// all that only real machines have.
type mode struct {
	name      string
	installed bool
}

func (m mode) String() string        { return m.name }
func (m mode) RequiresInstall() bool { return m.name == "metal" && !m.installed }
func (m mode) InContainer() bool     { return m.name == "container" }

type verdict struct {
	// Documents is the number of config documents; 0 where the config cannot be read.
	Documents int `json:"documents"`
	// Faults holds the warnings, one by one, and the errors, as one text; none where Talos has nothing to say.
	Faults []string `json:"faults,omitempty"`
}

// judgement is how strictly, and for what, configs are judged.
type judgement struct {
	mode    mode
	options []validation.Option
	// errorsOnly leaves out the warnings.
	errorsOnly bool
}

func main() {
	var target mode
	flag.StringVar(&target.name, "mode", "metal", "what the config is for: metal, cloud or container")
	flag.BoolVar(&target.installed, "installed", false, "Talos is on the disk already")
	node := flag.Bool("node", false, "judge as a node does that is sent the config")
	flag.Parse()

	as := judgement{mode: target, errorsOnly: *node}
	if !*node {
		as.options = []validation.Option{validation.WithLocal(), validation.WithStrict()}
	}

	verdicts, err := as.judge(flag.Args())
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
func (j judgement) judge(names []string) (map[string]verdict, error) {
	if len(names) == 0 {
		text, err := io.ReadAll(os.Stdin)

		return map[string]verdict{"-": j.check(text)}, err
	}

	verdicts := map[string]verdict{}

	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}

		verdicts[name] = j.check(text)
	}

	return verdicts, nil
}

func (j judgement) check(text []byte) verdict {
	config, err := configloader.NewFromBytes(text)
	if err != nil {
		return verdict{Faults: []string{err.Error()}}
	}

	// Even in strict mode documents other than the main one hand out their warnings apart.
	faults, err := config.Validate(j.mode, j.options...)
	if j.errorsOnly {
		faults = nil
	}

	if err != nil {
		faults = append(faults, err.Error())
	}

	return verdict{Documents: len(config.Documents()), Faults: faults}
}
