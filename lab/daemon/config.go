package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/rack"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
)

// Config is what a lab is like.
type Config struct {
	// Profile and Seed decide how long everything takes.
	Profile pace.Profile `json:"profile"`
	Seed    uint64       `json:"seed"`
	// Versions are those of Talos that the Image Factory has; empty is all that
	// the lab knows.
	Versions []string `json:"versions,omitempty"`
	// Snapshots are in the cloud from the beginning; the default is one of the
	// newest Talos of each minor release.
	Snapshots []Snapshot `json:"snapshots"`
	// MoreSnapshots are there besides, whichever those are.
	MoreSnapshots []Snapshot `json:"moreSnapshots,omitempty"`
	// Machines are already there: a person put them up, and no cloud.
	Machines []rack.Machine `json:"machines,omitempty"`
	// DHCP is what the routers of networks at home give away; the default is
	// their hundredth to their 199th address.
	DHCP *Pool `json:"dhcp,omitempty"`
	// Proxmox is a cluster of Proxmox VE hosts, if there is to be one.
	Proxmox *Proxmox `json:"proxmox,omitempty"`
	// SampleRepository puts a repository for Flux on the git server.
	SampleRepository bool `json:"sampleRepository"`
	// Scenario is what shall go wrong.
	Scenario []scenario.Entry `json:"scenario,omitempty"`
	// Tools are the programs that the lab runs, by name.
	Tools map[string]string `json:"tools,omitempty"`
	// Definitions is a folder with the definitions of Cilium's kinds, which its
	// operator makes known; without it no operator does.
	Definitions string `json:"definitions,omitempty"`
}

// Snapshot is an image of Talos in the cloud.
type Snapshot struct {
	Talos     string `json:"talos"`
	Schematic string `json:"schematic"`
	// Customization is what the schematic says, YAML; without it the Image
	// Factory knows the schematic already.
	Customization string            `json:"customization,omitempty"`
	Arch          string            `json:"arch"`
	Description   string            `json:"description,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	// Installs says that it holds the installer: a server that boots it has Talos
	// on its disk only after it got its config.
	Installs bool `json:"installs,omitempty"`
}

// DefaultConfig is the lab that nobody said anything about.
func DefaultConfig() Config {
	return Config{Profile: pace.Fast, Seed: 1, SampleRepository: true}
}

// ReadConfig reads a file, YAML or JSON, over the defaults.
func ReadConfig(file string) (Config, error) {
	config := DefaultConfig()
	err := readStrictly(file, &config)
	return config, err
}

// ReadTools reads a file that gives the path of each tool by its name.
func ReadTools(file string) (map[string]string, error) {
	var tools map[string]string
	err := readStrictly(file, &tools)
	return tools, err
}

// Needs are what is asked of a lab besides, whatever its config says.
type Needs struct {
	Snapshots []Snapshot     `json:"snapshots,omitempty"`
	Proxmox   *Proxmox       `json:"proxmox,omitempty"`
	Machines  []rack.Machine `json:"machines,omitempty"`
}

// ReadNeeds reads a file that says what is asked of a lab.
func ReadNeeds(file string) (Needs, error) {
	var needs Needs
	err := readStrictly(file, &needs)
	return needs, err
}

// With is the config with what is asked for besides. What it says itself of
// Proxmox, or of a machine of that name, stays as it is.
func (c Config) With(needs Needs) Config {
	c.MoreSnapshots = append(slices.Clone(c.MoreSnapshots), needs.Snapshots...)
	if c.Proxmox == nil {
		c.Proxmox = needs.Proxmox
	}
	machines := slices.Clone(c.Machines)
	for _, needed := range needs.Machines {
		if !slices.ContainsFunc(c.Machines, func(there rack.Machine) bool { return there.Name == needed.Name }) {
			machines = append(machines, needed)
		}
	}
	c.Machines = machines
	return c
}

// readStrictly reads a file, YAML or JSON, which may have known keys only.
func readStrictly(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	// Not the YAML of Kubernetes, for which the key "on" of a fault means true.
	var plain any
	if err := yaml.Unmarshal(content, &plain); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// Check says all that is wrong with a config.
func (c Config) Check() error {
	var faults []error
	if _, err := pace.New(c.Profile, c.Seed); err != nil {
		faults = append(faults, fmt.Errorf("profile: %w", err))
	}
	faults = append(faults, checkSnapshots("snapshots", c.Snapshots)...)
	faults = append(faults, checkSnapshots("moreSnapshots", c.MoreSnapshots)...)
	if c.Proxmox != nil {
		faults = append(faults, c.Proxmox.check()...)
	}
	faults = append(faults, rack.Check(c.Machines)...)
	for i, entry := range c.Scenario {
		if err := entry.Check(); err != nil {
			faults = append(faults, fmt.Errorf("scenario[%d]: %w", i, err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		if err := checkTool(c.Tools[name]); err != nil {
			faults = append(faults, fmt.Errorf("tools.%s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

func checkSnapshots(path string, snapshots []Snapshot) []error {
	var faults []error
	for i, snapshot := range snapshots {
		for _, field := range []struct{ name, value string }{{"talos", snapshot.Talos}, {"schematic", snapshot.Schematic}, {"arch", snapshot.Arch}} {
			if field.value == "" {
				faults = append(faults, fmt.Errorf("%s[%d].%s: is missing", path, i, field.name))
			}
		}
	}
	return faults
}

func checkTool(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is no absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is no program", path)
	}
	return nil
}
