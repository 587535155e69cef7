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

// Config describes a lab.
type Config struct {
	// Profile and Seed decide how long everything takes.
	Profile pace.Profile `json:"profile"`
	Seed    uint64       `json:"seed"`
	// Versions are those of Talos that the Image Factory has; by default all that the lab knows.
	Versions []string `json:"versions,omitempty"`
	// Snapshots are in the cloud from the start; by default one of the newest Talos of each minor release.
	Snapshots []Snapshot `json:"snapshots"`
	// MoreSnapshots are added to Snapshots, even to the default.
	MoreSnapshots []Snapshot `json:"moreSnapshots,omitempty"`
	// Machines are the existing machines, which no platform created.
	Machines []rack.Machine `json:"machines,omitempty"`
	// DHCP is the range of addresses that the routers of networks at home assign; by default the 100th to the 199th of each network.
	DHCP *Pool `json:"dhcp,omitempty"`
	// Proxmox is a cluster of Proxmox VE hosts; nil means none.
	Proxmox *Proxmox `json:"proxmox,omitempty"`
	// SampleRepository puts a repository for Flux on the git server.
	SampleRepository bool `json:"sampleRepository"`
	// Scenario is the list of faults to inject.
	Scenario []scenario.Entry `json:"scenario,omitempty"`
	// Tools are the programs that the lab runs, by name.
	Tools map[string]string `json:"tools,omitempty"`
	// Definitions is a folder with the definitions of Cilium's kinds, which its operator registers; without it there is no operator.
	Definitions string `json:"definitions,omitempty"`
}

// Snapshot is an image of Talos in the cloud.
type Snapshot struct {
	Talos     string `json:"talos"`
	Schematic string `json:"schematic"`
	// Customization is the content of the schematic, as YAML; without it the Image Factory must already know the schematic.
	Customization string            `json:"customization,omitempty"`
	Arch          string            `json:"arch"`
	Description   string            `json:"description,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	// Installs means that the snapshot contains the installer: a server that boots it has Talos on its disk only after it got its config.
	Installs bool `json:"installs,omitempty"`
}

// DefaultConfig returns the config of a lab without any configuration.
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

// Needs is what a lab must have in addition to its config.
type Needs struct {
	Snapshots []Snapshot     `json:"snapshots,omitempty"`
	Proxmox   *Proxmox       `json:"proxmox,omitempty"`
	Machines  []rack.Machine `json:"machines,omitempty"`
}

// ReadNeeds reads a file with what a lab must have.
func ReadNeeds(file string) (Needs, error) {
	var needs Needs
	err := readStrictly(file, &needs)
	return needs, err
}

// With returns the config with the needs added. If both have a Proxmox, or a machine of the same name, the config's own wins.
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

// readStrictly reads a file, YAML or JSON. An unknown key is an error.
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

// Check returns all faults of a config.
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
		return fmt.Errorf("%q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not a program", path)
	}
	return nil
}
