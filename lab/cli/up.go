package cli

import (
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
)

// configFlags are the flags with which up and run describe a lab.
type configFlags struct {
	config, profile, scenario, tools, definitions, needs string
	seed                                                 uint64
}

func (f *configFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "a file that describes the lab, YAML or JSON: profile, seed, versions, snapshots, proxmox, machines, dhcp, sampleRepository, scenario, tools")
	flags.StringVar(&f.profile, "profile", "", "how long everything takes: fast (for tests) or real (as on real platforms)")
	flags.Uint64Var(&f.seed, "seed", 0, "the same seed gives the same run")
	flags.StringVar(&f.scenario, "scenario", "", "a file with faults, and when each is injected")
	flags.StringVar(&f.needs, "needs", "", "a file with what the lab must have in addition to the config: snapshots, proxmox, machines")
	flags.StringVar(&f.tools, "tools", "", "a file that gives the path of each tool by its name")
	flags.StringVar(&f.definitions, "definitions", "", "a folder with the definitions of Cilium's kinds")
}

// read returns the config that the flags describe: flags override the file.
func (f *configFlags) read(cmd *cobra.Command) (daemon.Config, error) {
	config := daemon.DefaultConfig()
	if f.config != "" {
		var err error
		if config, err = daemon.ReadConfig(f.config); err != nil {
			return config, err
		}
	}
	if f.profile != "" {
		config.Profile = pace.Profile(f.profile)
	}
	if cmd.Flags().Changed("seed") {
		config.Seed = f.seed
	}
	if f.scenario != "" {
		content, err := os.ReadFile(f.scenario)
		if err != nil {
			return config, err
		}
		entries, err := scenario.Parse(f.scenario, content)
		if err != nil {
			return config, err
		}
		config.Scenario = append(config.Scenario, entries...)
	}
	if f.needs != "" {
		needs, err := daemon.ReadNeeds(f.needs)
		if err != nil {
			return config, err
		}
		config = config.With(needs)
	}
	if f.definitions != "" {
		config.Definitions = f.definitions
	}
	if f.tools != "" {
		tools, err := daemon.ReadTools(f.tools)
		if err != nil {
			return config, err
		}
		if config.Tools == nil {
			config.Tools = map[string]string{}
		}
		maps.Copy(config.Tools, tools)
	}
	return config, nil
}

func (o *options) upCommand() *cobra.Command {
	var flags configFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a lab in the background",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := o.start(cmd, &flags, false)
			return err
		},
	}
	flags.add(cmd)
	return cmd
}

func (o *options) runCommand() *cobra.Command {
	var flags configFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Start a lab and keep it until interrupted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			interrupted := make(chan os.Signal, 1)
			signal.Notify(interrupted, syscall.SIGINT, syscall.SIGTERM)
			started, err := o.start(cmd, &flags, true)
			if err != nil {
				return err
			}
			if started.Already {
				return fmt.Errorf("the lab in %s was started by another command; end it with: sluice-lab down --dir %s", o.dir, o.dir)
			}
			ended := make(chan error, 1)
			go func() { ended <- started.Wait() }()
			folder, err := o.folder()
			if err != nil {
				return err
			}
			select {
			case <-interrupted:
				_, err := folder.Down(cmd.Context(), say(cmd))
				return err
			case err := <-ended:
				// Ended by down, which cleans up, or by itself.
				if _, cleaned := folder.Down(cmd.Context(), say(cmd)); cleaned != nil {
					return cleaned
				}
				if err != nil {
					return fmt.Errorf("the lab ended: %w", err)
				}
				return nil
			}
		},
	}
	flags.add(cmd)
	return cmd
}

func (o *options) start(cmd *cobra.Command, flags *configFlags, attached bool) (*daemon.Started, error) {
	config, err := flags.read(cmd)
	if err != nil {
		return nil, err
	}
	folder, err := o.folder()
	if err != nil {
		return nil, err
	}
	self, err := ownPath()
	if err != nil {
		return nil, err
	}
	started, err := daemon.Start{Folder: folder, Config: config, Command: []string{self, "init"}, Attached: attached, Step: say(cmd)}.Up()
	if err != nil {
		return nil, err
	}
	if started.Already {
		say(cmd)(fmt.Sprintf("runs already, as process %d", started.Info.Process.PID))
	} else {
		say(cmd)(fmt.Sprintf("ready after %.2f s", started.Took.Seconds()))
	}
	o.describe(cmd, folder, started.Info)
	return started, nil
}

// describe prints all addresses of the lab.
func (o *options) describe(cmd *cobra.Command, folder daemon.Folder, info *daemon.Info) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%-28s %s\n", "folder", folder)
	fmt.Fprintf(out, "%-28s http://%s\n", "control, on this machine", info.Control)
	fmt.Fprintf(out, "%-28s https://%s\n", "Kubernetes, on this machine", info.Kubernetes)
	for _, place := range []struct{ what, where string }{
		{"control, in the lab", "http://" + network.Control.String()},
		{"cloud, in the lab", "http://" + network.Cloud.String() + "/v1"},
		{"Image Factory, in the lab", "http://" + network.Factory.String()},
		{"git, in the lab", "http://" + network.Git.String()},
	} {
		fmt.Fprintf(out, "%-28s %s\n", place.what, place.where)
	}
	fmt.Fprintf(out, "\nCommands in the lab: sluice-lab exec --dir %s -- <command>, or sluice-lab shell. They get:\n", o.dir)
	for _, name := range slices.Sorted(maps.Keys(info.Env)) {
		fmt.Fprintf(out, "  %s=%s\n", name, info.Env[name])
	}
}

func (o *options) downCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "End the lab and remove what it left",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := o.folder()
			if err != nil {
				return err
			}
			ran, err := folder.Down(cmd.Context(), say(cmd))
			if err != nil {
				return err
			}
			if !ran {
				say(cmd)(fmt.Sprintf("none runs in %s", folder))
			} else {
				say(cmd)("ended")
			}
			return nil
		},
	}
}
