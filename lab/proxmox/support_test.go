package proxmox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine/machinetest"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// bench is a cluster that is served, with a client and everything it depends on.
type bench struct {
	t        *testing.T
	cluster  *Cluster
	machines *machinetest.Maker
	faults   *fault.Set
	timeline *timeline.Timeline
	factory  *factory.Factory
	url      string
	client   *http.Client
	token    string
}

func newBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	t.Parallel()
	steps, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	facts := timeline.New(time.Now, nil)
	b := &bench{t: t, machines: &machinetest.Maker{}, faults: fault.NewSet(facts), timeline: facts}
	b.factory, err = factory.New(factory.Options{Versions: []string{"1.12.6", "1.13.8"}, Pace: steps, Faults: b.faults, Timeline: facts})
	require.NoError(t, err)
	images := httptest.NewServer(b.factory)
	options := Options{
		Machines: b.machines, Pace: steps, Faults: b.faults, Timeline: facts, Seed: 1, Hosts: []string{"pve", "pve2"},
		Storages: []Storage{
			{Name: "local", Content: []string{"import", "iso"}}, {Name: "local-lvm", Content: []string{"images"}}, {Name: "plain", Content: []string{"iso", "vztmpl"}},
		},
		Address: netip.MustParseAddr("10.0.0.2"), Factory: images.URL, Schematic: b.factory.Schematic,
	}
	for _, one := range change {
		one(&options)
	}
	b.cluster, err = New(options)
	require.NoError(t, err)
	b.token = b.cluster.AddToken("sluice@pve", "lab")
	server := httptest.NewTLSServer(b.cluster)
	b.url, b.client = server.URL, server.Client()
	t.Cleanup(func() {
		require.NoError(t, b.cluster.Close(context.WithoutCancel(t.Context())))
		server.Close()
		images.Close()
	})
	return b
}

// said is an answer as a client sees it.
type said struct {
	status string
	data   any
	errors map[string]string
}

// ask calls the API: parameters are "key=value".
func (b *bench) ask(token, method, path string, parameters ...string) said {
	b.t.Helper()
	form := url.Values{}
	for _, one := range parameters {
		key, value, _ := strings.Cut(one, "=")
		form.Set(key, value)
	}
	target, body := b.url+api.Prefix+path, io.Reader(nil)
	if method == http.MethodGet || method == http.MethodDelete {
		if len(form) > 0 {
			target += "?" + form.Encode()
		}
	} else {
		body = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(b.t.Context(), method, target, body)
	require.NoError(b.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if token != "" {
		request.Header.Set("Authorization", "PVEAPIToken="+token)
	}
	answered, err := b.client.Do(request)
	require.NoError(b.t, err)
	defer answered.Body.Close()
	var content struct {
		Data   any               `json:"data"`
		Errors map[string]string `json:"errors"`
	}
	require.NoError(b.t, json.NewDecoder(answered.Body).Decode(&content))
	return said{answered.Status, content.Data, content.Errors}
}

// get and do require success.
func (b *bench) get(path string, parameters ...string) any {
	b.t.Helper()
	return b.do(http.MethodGet, path, parameters...)
}

func (b *bench) do(method, path string, parameters ...string) any {
	b.t.Helper()
	answered := b.ask(b.token, method, path, parameters...)
	require.Equal(b.t, "200 OK", answered.status, answered.errors)
	return answered.data
}

// object returns an answer that is one.
func (b *bench) object(path string, parameters ...string) map[string]any {
	b.t.Helper()
	return b.get(path, parameters...).(map[string]any)
}

// run does something that is a task, waits for its end and returns how it ended.
func (b *bench) run(method, path string, parameters ...string) string {
	b.t.Helper()
	upid, is := b.do(method, path, parameters...).(string)
	require.True(b.t, is, "it answers with a task")
	host := strings.Split(upid, ":")[1]
	for {
		found := b.object("/nodes/" + host + "/tasks/" + url.PathEscape(upid) + "/status")
		if found["status"] == "stopped" {
			return found["exitstatus"].(string)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-b.t.Context().Done():
			b.t.Fatal("the task does not end")
		}
	}
}

// refused requires that an answer has this status line.
func (b *bench) refused(status, method, path string, parameters ...string) said {
	b.t.Helper()
	answered := b.ask(b.token, method, path, parameters...)
	require.Equal(b.t, status, answered.status, answered.errors)
	return answered
}

const agentSchematic = "customization:\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/qemu-guest-agent\n"

// image downloads an image of a schematic and returns its volume.
func (b *bench) image(host, customization, file string) string {
	b.t.Helper()
	id, err := b.factory.Upload([]byte(customization))
	require.NoError(b.t, err)
	require.Equal(b.t, "OK", b.run("POST", "/nodes/"+host+"/storage/local/download-url",
		"content=import", "filename="+file, "url=https://factory.example.com/image/"+id+"/v1.13.8/"+file))
	return "local:import/" + file
}

// vm makes one that boots from the image.
func (b *bench) vm(id int, name, image string, parameters ...string) {
	b.t.Helper()
	require.Equal(b.t, "OK", b.run("POST", "/nodes/pve/qemu", append([]string{
		fmt.Sprintf("vmid=%d", id), "name=" + name, "cores=2", "memory=4096", "machine=q35", "bios=ovmf", "scsihw=virtio-scsi-single", "agent=enabled=1",
		"efidisk0=file=local-lvm:1,efitype=4m", "scsi0=file=local-lvm:0,import-from=" + image + ",discard=on", "net0=model=virtio,bridge=vmbr0,macaddr=BC:24:11:00:00:01",
		"boot=order=scsi0", "serial0=socket",
	}, parameters...)...))
}

func (b *bench) power(id int, what string, parameters ...string) string {
	b.t.Helper()
	return b.run("POST", fmt.Sprintf("/nodes/pve/qemu/%d/status/%s", id, what), parameters...)
}
