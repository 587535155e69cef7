package storage

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestHetznerVolumes(t *testing.T) {
	project := &project{volumes: map[string]schema.Volume{}}
	controller := startHetzner(t, project)
	location := func(r *csi.CreateVolumeRequest) {
		r.AccessibilityRequirements = &csi.TopologyRequirement{
			Preferred: []*csi.Topology{{Segments: map[string]string{"other": "x"}}, {Segments: map[string]string{HetznerTopology: "fsn1"}}},
		}
		r.Parameters = map[string]string{"csi.storage.k8s.io/pvc/name": "data"}
	}
	for range 2 {
		created, err := controller.CreateVolume(t.Context(), ask("pvc-1", location))
		require.NoError(t, err)
		require.Equal(t, "42", created.GetVolume().GetVolumeId())
		require.EqualValues(t, 10*gib, created.GetVolume().GetCapacityBytes(), "Hetzner's least")
		require.Equal(t, map[string]string{HetznerTopology: "fsn1"}, created.GetVolume().GetAccessibleTopology()[0].GetSegments())
	}
	require.Equal(t, []string{"POST fsn1 10"}, project.calls)
	require.Equal(t, map[string]string{"managed-by": "csi-driver", "pvc-name": "data"}, project.volumes["pvc-1"].Labels)

	_, err := controller.CreateVolume(t.Context(), ask("pvc-1", func(r *csi.CreateVolumeRequest) {
		location(r)
		r.CapacityRange.RequiredBytes = 20 * gib
	}))
	require.Equal(t, codes.AlreadyExists, status.Code(err))
	_, err = controller.CreateVolume(t.Context(), ask("pvc-2", func(r *csi.CreateVolumeRequest) { r.CapacityRange.LimitBytes = 5 * gib }))
	require.Equal(t, codes.OutOfRange, status.Code(err))
	_, err = controller.CreateVolume(t.Context(), ask("pvc-2", nil))
	require.ErrorContains(t, err, "no node says its location by the label csi.hetzner.cloud/location")

	able, err := controller.ControllerGetCapabilities(t.Context(), &csi.ControllerGetCapabilitiesRequest{})
	require.NoError(t, err)
	require.Len(t, able.GetCapabilities(), 1)
	_, err = controller.GetCapacity(t.Context(), &csi.GetCapacityRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err), "a cloud has no end")

	attached := project.volumes["pvc-1"]
	attached.Server = &[]int64{7}[0]
	project.volumes["pvc-1"] = attached
	for _, id := range []string{"42", "42", "no number"} {
		_, err := controller.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: id})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"POST fsn1 10", "detach", "DELETE"}, project.calls)
}

func TestHetznersDriverNeedsAToken(t *testing.T) {
	program := Programs(Options{Dir: t.TempDir()})[1]
	err := program.Run(t.Context(), cluster.Run{})
	require.EqualError(t, err, "driver csi.hetzner.cloud: you need to provide an API token by the variable HCLOUD_TOKEN")
}

func startHetzner(t *testing.T, project *project) csi.ControllerClient {
	t.Helper()
	api := httptest.NewServer(project.routes())
	t.Cleanup(api.Close)
	dir := t.TempDir()
	program := Programs(Options{Dir: dir, Endpoint: "http://192.0.2.1:1/v1", Timeline: timeline.New(time.Now, nil)})[1]
	socket := runProgram(t, program, dir, cluster.Run{Env: map[string]string{"HCLOUD_TOKEN": "token", "HCLOUD_ENDPOINT": api.URL}})
	return csi.NewControllerClient(connect(t, socket))
}

// project is a Hetzner project with volumes alone, by name.
type project struct {
	volumes map[string]schema.Volume
	calls   []string
}

func (p *project) routes() http.Handler {
	mux := http.NewServeMux()
	done := schema.Action{ID: 1, Status: "success", Progress: 100}
	mux.HandleFunc("GET /volumes", func(w http.ResponseWriter, r *http.Request) {
		found := []schema.Volume{}
		if volume, is := p.volumes[r.URL.Query().Get("name")]; is {
			found = append(found, volume)
		}
		answer(w, http.StatusOK, schema.VolumeListResponse{Volumes: found})
	})
	mux.HandleFunc("POST /volumes", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Name, Location string
			Size           int
			Labels         map[string]string
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		size, _ := json.Marshal(asked.Size)
		p.calls = append(p.calls, "POST "+asked.Location+" "+string(size))
		volume := schema.Volume{
			ID: 42, Name: asked.Name, Size: asked.Size, Labels: asked.Labels, Location: schema.Location{Name: asked.Location},
		}
		p.volumes[asked.Name] = volume
		answer(w, http.StatusCreated, schema.VolumeCreateResponse{Volume: volume, Action: &done})
	})
	one := func(w http.ResponseWriter, then func(schema.Volume)) {
		for _, volume := range p.volumes {
			then(volume)
			return
		}
		answer(w, http.StatusNotFound, schema.ErrorResponse{Error: schema.Error{Code: "not_found"}})
	}
	mux.HandleFunc("GET /volumes/42", func(w http.ResponseWriter, _ *http.Request) {
		one(w, func(volume schema.Volume) { answer(w, http.StatusOK, schema.VolumeGetResponse{Volume: volume}) })
	})
	mux.HandleFunc("POST /volumes/42/actions/detach", func(w http.ResponseWriter, _ *http.Request) {
		p.calls = append(p.calls, "detach")
		answer(w, http.StatusCreated, schema.VolumeActionDetachVolumeResponse{Action: done})
	})
	mux.HandleFunc("DELETE /volumes/42", func(w http.ResponseWriter, _ *http.Request) {
		one(w, func(volume schema.Volume) {
			p.calls = append(p.calls, "DELETE")
			delete(p.volumes, volume.Name)
			w.WriteHeader(http.StatusNoContent)
		})
	})
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
