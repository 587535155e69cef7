// Package factory simulates the Image Factory: it keeps schematics and serves images that contain what they were made from.
package factory

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/image-factory/pkg/schematic"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/faulthttp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Subject is the factory's name in facts and faults.
const Subject = "factory"

// DefaultSchematic is the id of the schematic without customization.
const DefaultSchematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// Options are what a factory needs.
type Options struct {
	// Versions of Talos that images are made of, such as "1.13.8".
	Versions []string
	Pace     *pace.Pace
	Faults   *fault.Set
	Timeline *timeline.Timeline
}

// Factory is the service. It is safe for concurrent use.
type Factory struct {
	versions []semver.Version
	pace     *pace.Pace
	timeline *timeline.Timeline
	handler  http.Handler

	mu         sync.Mutex
	schematics map[string]*schematic.Schematic
	// built are the images that were requested before, by path.
	built map[string]bool
}

// New makes a factory that knows the default schematic only.
func New(options Options) (*Factory, error) {
	f := &Factory{
		pace:       options.Pace,
		timeline:   options.Timeline,
		schematics: map[string]*schematic.Schematic{DefaultSchematic: {}},
		built:      map[string]bool{},
	}
	for _, text := range options.Versions {
		version, err := semver.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("version %q of Talos: %w", text, err)
		}
		f.versions = append(f.versions, version)
	}
	if len(f.versions) == 0 {
		return nil, errors.New("an image factory needs at least one version of Talos")
	}
	slices.SortFunc(f.versions, semver.Version.Compare)
	f.handler = faulthttp.Handler(options.Faults, Subject, f.routes())
	return f, nil
}

// ServeHTTP answers as the factory does.
func (f *Factory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.handler.ServeHTTP(w, r)
}

// Schematic returns what was uploaded under the id.
func (f *Factory) Schematic(id string) (schematic.Schematic, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, known := f.schematics[id]
	if !known {
		return schematic.Schematic{}, fmt.Errorf("schematic ID %q not found", id)
	}
	return *found, nil
}

// Extensions returns those of a schematic, in the order in which it names them and in which they are built into an image of this version of Talos.
func (f *Factory) Extensions(id, version string) ([]Extension, error) {
	found, err := f.Schematic(id)
	if err != nil {
		return nil, err
	}
	return choose(found.Customization.SystemExtensions.OfficialExtensions, version)
}

// Upload stores a schematic, YAML, and returns its id.
func (f *Factory) Upload(text []byte) (string, error) {
	uploaded, err := schematic.Unmarshal(text)
	if err != nil {
		return "", err
	}
	id, err := uploaded.ID()
	if err != nil {
		return "", err
	}
	if f.keep(id, uploaded) {
		f.timeline.Record(Subject, "schematic", id)
	}
	return id, nil
}

// keep stores a schematic and reports whether it is new.
func (f *Factory) keep(id string, uploaded *schematic.Schematic) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.schematics[id]; known {
		return false
	}
	f.schematics[id] = uploaded
	return true
}

// isBuilt reports whether the image was built before. setBuilt records that it is, and reports whether this was the first time.
func (f *Factory) isBuilt(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.built[path]
}

func (f *Factory) setBuilt(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.built[path]
	f.built[path] = true
	return first
}

// offers reports whether there are images of this version, with or without a v.
func (f *Factory) offers(text string) (semver.Version, bool) {
	version, err := semver.ParseTolerant(text)
	if err != nil {
		return version, false
	}
	return version, slices.ContainsFunc(f.versions, version.EQ)
}
