package factory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/image-factory/pkg/client"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// refusal is an error whose text the client gets; any other error becomes "internal server error", as in the real factory.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

func (f *Factory) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, handler func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(w, handler(w, r)) })
	}
	handle("GET /healthz", func(http.ResponseWriter, *http.Request) error { return nil })
	handle("POST /schematics", f.createSchematic)
	handle("GET /versions", f.listVersions)
	handle("GET /version/{version}/extensions/official", f.listExtensions)
	handle("GET /version/{version}/overlays/official", f.listOverlays)
	handle("GET /image/{schematic}/{version}/{file}", f.getImage)
	return mux
}

func answer(w http.ResponseWriter, err error) {
	var refused refusal
	switch {
	case err == nil:
	case errors.As(err, &refused):
		http.Error(w, err.Error(), refused.status)
	default:
		http.Error(w, "internal server error", http.StatusInternalServerError)
	}
}

func (f *Factory) createSchematic(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	id, err := f.Upload(data)
	if err != nil {
		return refusal{http.StatusBadRequest, err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	return json.NewEncoder(w).Encode(map[string]string{"id": id})
}

func (f *Factory) listVersions(w http.ResponseWriter, _ *http.Request) error {
	tags := make([]string, 0, len(f.versions))
	for _, version := range f.versions {
		tags = append(tags, "v"+version.String())
	}
	return json.NewEncoder(w).Encode(tags)
}

func (f *Factory) listExtensions(w http.ResponseWriter, r *http.Request) error {
	if _, err := f.version(r); err != nil {
		return err
	}
	infos := make([]client.ExtensionInfo, 0, len(official))
	for _, extension := range official {
		infos = append(infos, extension.info())
	}
	return json.NewEncoder(w).Encode(infos)
}

// listOverlays returns an empty list: overlays are for single-board computers.
func (f *Factory) listOverlays(w http.ResponseWriter, r *http.Request) error {
	if _, err := f.version(r); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode([]client.OverlayInfo{})
}

func (f *Factory) getImage(w http.ResponseWriter, r *http.Request) error {
	id, file := r.PathValue("schematic"), r.PathValue("file")
	if _, err := f.Schematic(id); err != nil {
		return refusal{http.StatusNotFound, err.Error()}
	}
	asked, err := parseFile(file)
	if err != nil {
		return fmt.Errorf("error parsing profile from path: %w", err)
	}
	version, err := f.version(r)
	if err != nil {
		return err
	}
	if _, err := f.Extensions(id, "v"+version.String()); err != nil {
		return refusal{http.StatusBadRequest, "error enhancing profile from schematic: " + err.Error()}
	}
	asked.image.Schematic, asked.image.Version = id, version.String()
	content, err := asked.encode()
	if err != nil {
		return err
	}
	// The first request waits for the build; the factory keeps what it built.
	if !f.isBuilt(r.URL.Path) {
		if err := f.pace.Wait(r.Context(), pace.ImageBuild, r.URL.Path); err != nil {
			return err
		}
		if f.setBuilt(r.URL.Path) {
			f.timeline.Record(Subject, "image", file, "schematic", id, "version", version.String())
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if kind := mime.TypeByExtension(path.Ext(file)); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", file))
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = w.Write(content)
	return err
}

// version returns that of the request. Like the real factory, it does not distinguish an unknown version from any other failure.
func (f *Factory) version(r *http.Request) (semver.Version, error) {
	text := r.PathValue("version")
	version, offered := f.offers(text)
	if !offered {
		return version, fmt.Errorf("no images of Talos %q", text)
	}
	return version, nil
}
