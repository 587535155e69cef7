package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
)

func listed(t *testing.T, dir string) []scenario.Listed {
	t.Helper()
	var found []scenario.Listed
	require.NoError(t, json.Unmarshal([]byte(lab(t, dir, "fault", "list")), &found))
	return found
}

func TestFaults(t *testing.T) {
	dir := folder(t)
	planned := filepath.Join(t.TempDir(), "scenario.yaml")
	require.NoError(t, os.WriteFile(planned, []byte("- {id: planned, on: stage, do: hold, when: {what: state, value: ready}}\n"), 0o600))
	lab(t, dir, "up", "--scenario", planned)
	require.Equal(t, []scenario.Listed{{
		Entry: scenario.Entry{Rule: fault.Rule{ID: "planned", On: fault.Stage, Do: fault.Hold}, When: &scenario.Moment{What: "state", Value: "ready"}},
		State: scenario.Armed,
	}}, listed(t, dir), "its moment was when the lab became ready")

	require.Equal(t, "fault-1\n", lab(t, dir, "fault", "add", "--on", "cloud", "--name", "POST /v1/servers", "--do", "fail", "--code", "503", "--times", "2"))
	require.Equal(t, "late\n", lab(t, dir, "fault", "add", "--id", "late", "--on", "talos", "--subject", "cp-1", "--do", "delay", "--delay", "2s", "--when", "stage=booting@cp-*", "--until", "@cp-1", "--for", "1m"))
	require.Equal(t, "clock\n", lab(t, dir, "fault", "add", "--id", "clock", "--on", "clock", "--name", "boot", "--do", "skew", "--by", "-1h"))
	lab(t, dir, "fault", "remove", "clock")
	stdin := command(t, dir, "fault", "add", "--file", "-")
	stdin.Stdin = strings.NewReader("[{id: a, on: pod, do: hold}, {id: b, on: pod, do: hold}]")
	require.Equal(t, result{0, "a\nb\n", ""}, run(t, stdin))
	found := listed(t, dir)
	require.Len(t, found, 5)
	require.Equal(t, scenario.Listed{Entry: scenario.Entry{
		Rule: fault.Rule{ID: "late", On: fault.Talos, Subject: "cp-1", Do: fault.Delay, Delay: 2e9},
		When: &scenario.Moment{Subject: "cp-*", What: "stage", Value: "booting"}, Until: &scenario.Moment{Subject: "cp-1"}, For: 60e9,
	}, State: scenario.Waiting}, found[2])

	lab(t, dir, "fault", "remove", "a", "late")
	require.Len(t, listed(t, dir), 3)
	lab(t, dir, "fault", "remove", "--all")
	require.Empty(t, listed(t, dir))

	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"add", "--on", "pod", "--do", "crash"}, `do: "crash" is not possible on "pod"; possible is one of ["delay" "fail" "hold"]`},
		{[]string{"add", "--file", planned, "--on", "pod"}, "if any flags in the group [file on] are set none of the others can be; [file on] were all set"},
		{[]string{"add"}, "at least one of the flags in the group [file on] is required"},
		{[]string{"remove"}, "name the faults to remove, or --all"},
		{[]string{"remove", "a"}, `there is no fault "a"`},
	} {
		require.Equal(t, result{1, "", "sluice-lab: " + test.want + "\n"}, run(t, command(t, dir, append([]string{"fault"}, test.args...)...)), test.args)
	}
}

func TestMachinesAreInAPersonsHand(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	list := filepath.Join(t.TempDir(), "machines.yaml")
	require.NoError(t, os.WriteFile(list, []byte("- {name: box, address: 10.0.1.31/24}"), 0o600))
	require.Equal(t, "box\n", lab(t, dir, "machine", "add", "--file", list))
	require.Empty(t, lab(t, dir, "machine", "off", "box"))
	require.Empty(t, lab(t, dir, "machine", "on", "box"))
	require.JSONEq(t, `{"mac": "02:00:00:00:00:09"}`, lab(t, dir, "machine", "replace", "box", "--mac", "02:00:00:00:00:09"))
	require.Regexp(t, `(?s) box +hand +added.* box +hand +off.* box +hand +on.* box +hand +replaced`, lab(t, dir, "timeline"))
	require.Equal(t, result{1, "", "sluice-lab: no machine \"vm\"\n"}, run(t, command(t, dir, "machine", "on", "vm")))
}

func TestKubeconfig(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	require.Equal(t, "kind: Config\n", lab(t, dir, "kubeconfig"))
	lab(t, dir, "down")
}

func TestTimeline(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	lab(t, dir, "fault", "add", "--id", "a", "--on", "pod", "--do", "hold")
	lines := strings.Split(strings.TrimSpace(lab(t, dir, "timeline")), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `^1 +[0-9.]+  lab +state +ready$`, lines[0])
	require.Regexp(t, `^ +2 +[0-9.]+  a +fault +armed do=hold name= on=pod subject=$`, lines[1])
	require.Regexp(t, `^{"seq":2,"at":[0-9.]+,"subject":"a","what":"fault","value":"armed",.*}\n$`, lab(t, dir, "timeline", "--since", "1", "--json"))

	follow := command(t, dir, "timeline", "--follow", "--json", "--since", "2")
	output, err := follow.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, follow.Start())
	lab(t, dir, "fault", "remove", "a")
	var fact struct{ Subject, Value string }
	require.NoError(t, json.NewDecoder(output).Decode(&fact))
	require.Equal(t, "a", fact.Subject)
	require.Equal(t, "removed", fact.Value)
	lab(t, dir, "down")
	require.NoError(t, follow.Wait(), "it ends with the lab")
}

func TestFollowingEndsWhenInterrupted(t *testing.T) {
	dir := folder(t)
	lab(t, dir, "up")
	follow := command(t, dir, "timeline", "--follow")
	output, err := follow.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, follow.Start())
	_, err = output.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, follow.Process.Signal(os.Interrupt))
	require.NoError(t, follow.Wait())
}

func TestAConfigIsCheckedBeforeAnythingStarts(t *testing.T) {
	for name, test := range map[string]struct{ flag, content, want string }{
		"a key":      {"--config", "profil: fast", `FILE: unknown field "profil"`},
		"a value":    {"--config", "profile: slow", `the lab's config: profile: no profile "slow": there are "fast" and "real"`},
		"a scenario": {"--scenario", "- on: pod\n  do: hold\n  for: ever", `FILE:3: for: "ever" is not a duration such as "1m30s"`},
		"a tool":     {"--tools", "{helm: helm}", `the lab's config: tools.helm: "helm" is not an absolute path`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			file := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(file, []byte(test.content), 0o600))
			want := "sluice-lab: " + strings.ReplaceAll(test.want, "FILE", file) + "\n"
			require.Equal(t, result{1, "", want}, run(t, command(t, dir, "up", test.flag, file)))
		})
	}
}

func TestFlagsWinOverTheConfigFile(t *testing.T) {
	dir := folder(t)
	file := filepath.Join(t.TempDir(), "lab.yaml")
	require.NoError(t, os.WriteFile(file, []byte("{profile: real, seed: 4}"), 0o600))
	lab(t, dir, "up", "--config", file, "--seed", "6")
	config := living(t, dir).Config
	require.Equal(t, uint64(6), config.Seed)
	require.EqualValues(t, "real", config.Profile)
}

func TestVersionSaysWhatItIsBuiltFrom(t *testing.T) {
	require.Regexp(t, `^sluice-lab, built with go1\.`, lab(t, t.TempDir(), "version"))
}
