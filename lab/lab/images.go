package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node"
)

// versions are the Talos versions that the lab can simulate, oldest first.
var versions = []string{
	"1.12.0", "1.12.1", "1.12.2", "1.12.3", "1.12.4", "1.12.5", "1.12.6",
	"1.13.0", "1.13.1", "1.13.2", "1.13.3", "1.13.4", "1.13.5", "1.13.6", "1.13.7", "1.13.8",
	"1.14.0", "1.14.1",
}

// imageFactory is the Image Factory, with what the cloud and the nodes need from it.
type imageFactory struct {
	*factory.Factory
	versions []string
}

func newFactory(parts daemon.Parts) (*imageFactory, error) {
	asked := parts.Config.Versions
	if len(asked) == 0 {
		asked = versions
	}
	var offered []string // oldest first, whatever the configured order
	for _, version := range versions {
		if slices.Contains(asked, version) {
			offered = append(offered, version)
		}
	}
	for _, version := range asked {
		if !slices.Contains(offered, version) {
			return nil, fmt.Errorf("versions: the lab cannot simulate Talos %s; it can simulate %s to %s", version, versions[0], versions[len(versions)-1])
		}
	}
	made, err := factory.New(factory.Options{Versions: offered, Pace: parts.Pace, Faults: parts.Faults, Timeline: parts.Timeline})
	if err != nil {
		return nil, err
	}
	return &imageFactory{Factory: made, versions: offered}, nil
}

// Has returns an error if there is no such image of Talos.
func (f *imageFactory) Has(talos, schematic, _ string) error {
	if !slices.Contains(f.versions, talos) {
		return fmt.Errorf("there is no Talos %s", talos)
	}
	_, err := f.Schematic(schematic)
	return err
}

// hasInstaller reports whether a node can pull such an installer. A plain one has no schematic.
func (f *imageFactory) hasInstaller(schematic, version string) bool {
	return f.Has(version, cmp.Or(schematic, factory.DefaultSchematic), "") == nil
}

// snapshots returns the configured ones, or by default one of the newest Talos of each minor release.
func (f *imageFactory) snapshots(asked []daemon.Snapshot) []daemon.Snapshot {
	if asked != nil {
		return asked
	}
	var found []daemon.Snapshot
	for i, version := range f.versions {
		if i+1 < len(f.versions) && minorOf(f.versions[i+1]) == minorOf(version) {
			continue
		}
		found = append(found, daemon.Snapshot{
			Talos: version, Schematic: factory.DefaultSchematic, Arch: "amd64", Description: "Talos " + version,
			Labels: map[string]string{"os": "talos", "version": version},
		})
	}
	return found
}

// learn uploads a schematic, unless its customization is empty.
func (f *imageFactory) learn(id, customization string) error {
	if customization == "" {
		return nil
	}
	uploaded, err := f.Upload([]byte(customization))
	if err == nil && uploaded != id {
		err = fmt.Errorf("its customization is that of schematic %s, not of %s", uploaded, id)
	}
	return err
}

// meta returns the META that a schematic adds to its images.
func (f *imageFactory) meta(schematic string) (map[uint8]string, error) {
	found, err := f.Schematic(schematic)
	if err != nil {
		return nil, err
	}
	values := map[uint8]string{}
	for _, one := range found.Customization.Meta {
		values[one.Key] = one.Value
	}
	return values, nil
}

// extensions returns those that a node finds in its image. A schematic that was not uploaded has none.
func (f *imageFactory) extensions(schematic, version string) []node.Extension {
	known, err := f.Extensions(schematic, version)
	if err != nil {
		return nil
	}
	var found []node.Extension
	for _, e := range known {
		found = append(found, node.Extension{Name: e.Name, Version: e.Version, Author: e.Author, Description: e.Description})
	}
	return found
}

// schematicText returns the content of a schematic as nodes report it, or "" for one that was not uploaded.
func (f *imageFactory) schematicText(id string) string {
	found, err := f.Schematic(id)
	if err != nil {
		return ""
	}
	text, err := found.Marshal()
	if err != nil {
		return ""
	}
	return string(text)
}
