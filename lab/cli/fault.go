package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
)

func (o *options) faultCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fault",
		Short: "Inject faults, list and remove them",
	}
	cmd.AddCommand(o.faultAddCommand(), o.faultListCommand(), o.faultRemoveCommand())
	return cmd
}

// faultFlags are the flags that describe an entry of a scenario.
type faultFlags struct {
	file        string
	entry       scenario.Entry
	on, do      string
	delay, by   time.Duration
	after, stay time.Duration
	when, until string
}

func (o *options) faultAddCommand() *cobra.Command {
	var f faultFlags
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Inject a fault; prints the fault's id",
		Long: `Inject a fault. Where it can happen, and by which name:
  cloud    a request to the cloud: name "POST /v1/servers", subject the cloud
  talos    a call to a node: name "ApplyConfiguration", subject the node
  kube     a request to Kubernetes: name "GET /api/v1/nodes", subject the cluster
  machine  a machine that is on: name "power"
  stage    a stage that a node enters: name "installing"
  install  an install: name "/dev/sda"
  service  a service of Talos that starts: name "kubelet"
  health   a health check: name "kubelet", subject the node; or of a target: name "dev-cp-1:6443", subject the load balancer
  clock    the clock of a node: name "boot" or "sync"
  member   an etcd member that would become a voter: name "promote"
  node     a Kubernetes node: name "register" or "lease"
  pod      a pod before it is Ready: name "kube-system/cilium-*", subject the node
  datapath a connection from a pod: name "10.96.0.1:443", subject the node
  image    an image that a node pulls: name "*/etcd:*", subject the node
  disk     a disk at a node's boot: name "/dev/sda"
  pki      a node's first boot: name "boot"
  host     a Proxmox host that is up: name "power", subject the host
Names and subjects are patterns in which * matches anything.`,
		Example: `  sluice-lab fault add --on cloud --name "POST /v1/servers" --do fail --code 503 --times 2
  sluice-lab fault add --on stage --name installing --subject w-1 --do hold --until stage=running@cp-1
  sluice-lab fault add --on machine --subject cp-2 --do crash --times 1
  sluice-lab fault add --on talos --subject cp-1 --do drop --when stage=booting@cp-1 --for 10s
  sluice-lab fault add --file scenario.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			name, content, err := f.content(cmd)
			if err != nil {
				return err
			}
			ids, err := folder.Client().AddFaults(cmd.Context(), name, content)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(ids, "\n"))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "faults in YAML or JSON, one or a list; - reads standard input")
	flags.StringVar(&f.entry.ID, "id", "", "the fault's id; generated unless given")
	flags.StringVar(&f.on, "on", "", "where it happens (see above)")
	flags.StringVar(&f.entry.Name, "name", "", "the name of what it affects; everything unless given")
	flags.StringVar(&f.entry.Subject, "subject", "", "the subject that it affects; every one unless given")
	flags.StringVar(&f.do, "do", "", "what happens: refuse, delay, drop, lose, cut, fail, hold, crash, skew, absent or other")
	flags.IntVar(&f.entry.Times, "times", 0, "how often; indefinitely unless given")
	flags.IntVar(&f.entry.Skip, "skip", 0, "how many matches it leaves alone first")
	flags.IntVar(&f.entry.Every, "every", 0, "only every such match: 10 is every tenth")
	flags.DurationVar(&f.delay, "delay", 0, "how long, for --do delay")
	flags.DurationVar(&f.by, "by", 0, "how far the clock is ahead, for --do skew; -1h is behind")
	flags.StringVar(&f.entry.Code, "code", "", "the error's code, for --do fail")
	flags.StringVar(&f.entry.Message, "message", "", "the error's text, for --do fail")
	flags.StringVar(&f.when, "when", "", "arm it when a fact is recorded: what=value@subject")
	flags.DurationVar(&f.after, "after", 0, "arm it after this time")
	flags.StringVar(&f.until, "until", "", "end it when a fact is recorded: what=value@subject")
	flags.DurationVar(&f.stay, "for", 0, "end it after this time")
	cmd.MarkFlagsOneRequired("file", "on")
	for _, other := range []string{"id", "on", "name", "subject", "do", "times", "skip", "delay", "by", "code", "message", "when", "after", "until", "for"} {
		cmd.MarkFlagsMutuallyExclusive("file", other)
	}
	return cmd
}

// content returns what to send, and its name in messages.
func (f *faultFlags) content(cmd *cobra.Command) (string, []byte, error) {
	if f.file != "" {
		content, err := readFileOrStdin(cmd, f.file)
		return f.file, content, err
	}
	entry := f.entry
	entry.On, entry.Do = fault.Kind(f.on), fault.Action(f.do)
	entry.By = fault.Offset(f.by)
	entry.Delay, entry.After, entry.For = fault.Duration(f.delay), fault.Duration(f.after), fault.Duration(f.stay)
	entry.When, entry.Until = moment(f.when), moment(f.until)
	// Checked here, so that errors name the flags and not a line of a file that does not exist.
	if err := entry.Check(); err != nil {
		return "", nil, err
	}
	content, err := json.Marshal(entry)
	return "flags", content, err
}

// moment parses "what=value@subject"; each part may be missing.
func moment(text string) *scenario.Moment {
	if text == "" {
		return nil
	}
	var found scenario.Moment
	fact, subject, _ := strings.Cut(text, "@")
	found.Subject = subject
	found.What, found.Value, _ = strings.Cut(fact, "=")
	return &found
}

func (o *options) faultListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Show the faults that are armed or wait for their moment, as JSON",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			listed, err := folder.Client().Faults(cmd.Context())
			if err != nil {
				return err
			}
			return printJSON(cmd, listed)
		},
	}
}

func (o *options) faultRemoveCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "remove <id>...",
		Short: "Remove faults; what they hold is released",
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return fmt.Errorf("name the faults to remove, or --all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			if all {
				return folder.Client().RemoveFaults(cmd.Context())
			}
			for _, id := range args {
				if err := folder.Client().RemoveFault(cmd.Context(), id); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all of them")
	return cmd
}
