package factory

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/siderolabs/image-factory/pkg/client"
	"github.com/siderolabs/image-factory/pkg/schematic"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestTheOfficialClientGetsTheOfficialIDs(t *testing.T) {
	lab := start(t)
	official, err := client.New(lab.url)
	require.NoError(t, err)
	guestAgent := schematic.SystemExtensions{OfficialExtensions: []string{"siderolabs/qemu-guest-agent"}}
	for id, customization := range map[string]schematic.Customization{
		DefaultSchematic: {},
		"ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515": {SystemExtensions: guestAgent},
		"a7f294c4436e874167652f711750f9bc607c89f12f7c27f183584a25763a2bca": {
			SystemExtensions: guestAgent, ExtraKernelArgs: []string{"talos.logging.kernel=udp://127.0.0.1:6050"},
		},
	} {
		got, err := official.SchematicCreate(t.Context(), schematic.Schematic{Customization: customization})
		require.NoError(t, err)
		require.Equal(t, id, got)
		kept, err := lab.factory.Schematic(id)
		require.NoError(t, err)
		require.Equal(t, customization, kept.Customization)
	}
}

func TestTheOfficialClientListsVersionsAndExtensions(t *testing.T) {
	lab := start(t)
	official, err := client.New(lab.url)
	require.NoError(t, err)
	versions, err := official.Versions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"v1.12.6", "v1.13.8"}, versions)
	extensions, err := official.ExtensionsVersions(t.Context(), "v1.13.8")
	require.NoError(t, err)
	require.Len(t, extensions, 24)
	require.Equal(t, "siderolabs/amd-ucode", extensions[0].Name)
	_, err = official.ExtensionsVersions(t.Context(), "v1.0.0")
	require.True(t, client.IsHTTPErrorCode(err, http.StatusInternalServerError), "%v", err)
}

func TestASchematicThatIsNoneIsRefused(t *testing.T) {
	lab := start(t)
	answer, err := http.Post(lab.url+"/schematics", "application/yaml", bytes.NewBufferString("customisation: {}\n"))
	require.NoError(t, err)
	status, body := read(t, answer)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "field customisation not found")
}

func TestImagesSayWhatTheyWereMadeFrom(t *testing.T) {
	lab := start(t)
	for file, want := range map[string]Image{
		"hcloud-amd64.raw.xz":        {Platform: "hcloud", Arch: "amd64"},
		"metal-amd64.raw.zst":        {Platform: "metal", Arch: "amd64"},
		"metal-arm64.raw.gz":         {Platform: "metal", Arch: "arm64"},
		"metal-amd64-secureboot.raw": {Platform: "metal", Arch: "amd64", SecureBoot: true},
		"nocloud-amd64.qcow2":        {Platform: "nocloud", Arch: "amd64"},
		"nocloud-amd64.qcow2.zst":    {Platform: "nocloud", Arch: "amd64"},
		"metal-amd64.iso":            {Platform: "metal", Arch: "amd64", ISO: true},
		"metal-amd64-secureboot.iso": {Platform: "metal", Arch: "amd64", SecureBoot: true, ISO: true},
	} {
		t.Run(file, func(t *testing.T) {
			answer, err := http.Get(lab.url + "/image/" + DefaultSchematic + "/v1.13.8/" + file)
			require.NoError(t, err)
			defer answer.Body.Close()
			require.Equal(t, http.StatusOK, answer.StatusCode)
			want.Schematic, want.Version = DefaultSchematic, "1.13.8"
			image, err := ParseImage(answer.Body)
			require.NoError(t, err)
			require.Equal(t, want, image)
		})
	}
}

func TestImagesThatCannotBeMade(t *testing.T) {
	lab := start(t)
	wrong := schematic.Schematic{Customization: schematic.Customization{
		SystemExtensions: schematic.SystemExtensions{OfficialExtensions: []string{"siderolabs/qemu-agent"}},
	}}
	id, err := wrong.ID()
	require.NoError(t, err)
	lab.factory.keep(id, &wrong)
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"0000/v1.13.8/metal-amd64.iso":                   {404, "schematic ID \"0000\" not found\n"},
		DefaultSchematic + "/v1.0.0/metal-amd64.iso":     {500, "internal server error\n"},
		DefaultSchematic + "/newest/metal-amd64.iso":     {500, "internal server error\n"},
		DefaultSchematic + "/v1.13.8/metal-amd64.vmdk":   {400, "error parsing profile from path: invalid profile path: \"metal-amd64.vmdk\"\n"},
		DefaultSchematic + "/v1.13.8/metal-amd64.iso.xz": {400, "error parsing profile from path: invalid profile path: \"metal-amd64.iso.xz\"\n"},
		DefaultSchematic + "/v1.13.8/metal-riscv64.raw":  {400, "error parsing profile from path: invalid architecture: \"riscv64\"\n"},
		DefaultSchematic + "/v1.13.8/toaster-amd64.raw":  {400, "error parsing profile from path: invalid platform-arch: \"toaster-amd64\"\n"},
		id + "/v1.13.8/metal-amd64.raw.xz":               {400, "error enhancing profile from schematic: official extension \"siderolabs/qemu-agent\" is not available for Talos version v1.13.8\n"},
	} {
		answer, err := http.Get(lab.url + "/image/" + path)
		require.NoError(t, err)
		status, body := read(t, answer)
		require.Equal(t, want.status, status, path)
		require.Equal(t, want.body, body, path)
	}
}

func TestWhatTheFactoryDidIsOnTheTimeline(t *testing.T) {
	lab := start(t)
	official, err := client.New(lab.url)
	require.NoError(t, err)
	const id = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
	agent := schematic.Schematic{Customization: schematic.Customization{
		SystemExtensions: schematic.SystemExtensions{OfficialExtensions: []string{"siderolabs/qemu-guest-agent"}},
	}}
	for range 2 {
		_, err = official.SchematicCreate(t.Context(), agent)
		require.NoError(t, err)
		answer, err := http.Get(lab.url + "/image/" + id + "/1.13.8/metal-amd64.iso")
		require.NoError(t, err)
		status, _ := read(t, answer)
		require.Equal(t, http.StatusOK, status)
	}
	facts, _ := lab.timeline.After(0)
	require.Len(t, facts, 2)
	require.Equal(t, [2]string{"schematic", id}, [2]string{facts[0].What, facts[0].Value})
	require.Equal(t, [2]string{"image", "metal-amd64.iso"}, [2]string{facts[1].What, facts[1].Value})
	require.Equal(t, map[string]string{"schematic": id, "version": "1.13.8"}, facts[1].Detail)
}

func TestExtensionsOfASchematic(t *testing.T) {
	lab := start(t)
	named := schematic.Schematic{Customization: schematic.Customization{
		SystemExtensions: schematic.SystemExtensions{OfficialExtensions: []string{"siderolabs/tailscale", "siderolabs/i915-ucode"}},
	}}
	lab.factory.keep("id", &named)
	extensions, err := lab.factory.Extensions("id", "v1.13.8")
	require.NoError(t, err)
	require.Len(t, extensions, 2)
	require.Equal(t, "siderolabs/tailscale", extensions[0].Name)
	require.Equal(t, "siderolabs/i915", extensions[1].Name, "by its new name")
	_, err = lab.factory.Extensions("other", "v1.13.8")
	require.EqualError(t, err, `schematic ID "other" not found`)
}

func TestAFactoryNeedsVersions(t *testing.T) {
	for want, versions := range map[string][]string{
		"an image factory needs at least one version of Talos":          nil,
		`version "v1.13" of Talos: No Major.Minor.Patch elements found`: {"v1.13"},
	} {
		_, err := New(Options{Versions: versions})
		require.EqualError(t, err, want)
	}
}

type lab struct {
	url      string
	factory  *Factory
	timeline *timeline.Timeline
}

func start(t *testing.T) lab {
	t.Helper()
	facts := timeline.New(time.Now, nil)
	fast, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	factory, err := New(Options{
		Versions: []string{"1.13.8", "1.12.6"}, Pace: fast, Faults: fault.NewSet(facts), Timeline: facts,
	})
	require.NoError(t, err)
	server := httptest.NewServer(factory)
	t.Cleanup(server.Close)
	return lab{url: server.URL, factory: factory, timeline: facts}
}

func read(t *testing.T, answer *http.Response) (int, string) {
	t.Helper()
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}
