// Package cli is the command line of a lab.
package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
)

// defaultDir is the lab's folder unless --dir names one.
const defaultDir = ".work/lab/default"

// Run runs the command line and returns the exit code. compose puts labs together.
func Run(args []string, compose daemon.Compose) int {
	root := rootCommand(compose)
	root.SetArgs(args)
	err := root.Execute()
	var code exitCode
	switch {
	case errors.As(err, &code):
		return int(code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "sluice-lab:", err)
		if errors.Is(err, exec.ErrNotFound) {
			return 127
		}
		return 1
	}
	return 0
}

// exitCode is the exit code of a command that ran in the lab.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// options are those that every command has.
type options struct {
	dir string
}

func rootCommand(compose daemon.Compose) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "sluice-lab",
		Short: "A cloud, machines with Talos and Kubernetes, offline on this machine",
		Long: `sluice-lab simulates a cloud, an image factory, machines that run Talos and the Kubernetes that they form, offline on this machine.
A lab has a network of its own: commands reach it with "sluice-lab exec" and "sluice-lab shell". Any number of labs run side by side,
each in its own folder.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	dir := os.Getenv("SLUICE_LAB")
	if dir == "" {
		dir = defaultDir
	}
	root.PersistentFlags().StringVar(&o.dir, "dir", dir, "the lab's folder; SLUICE_LAB sets the default")
	root.AddCommand(
		o.upCommand(), o.runCommand(), o.downCommand(), o.statusCommand(), o.timelineCommand(), o.faultCommand(),
		o.machineCommand(), o.kubeconfigCommand(), o.execCommand(), o.shellCommand(), versionCommand(), becomeCommand(), recoverCommand(), o.initCommand(), o.serveCommand(compose),
	)
	return root
}

func (o *options) folder() (daemon.Folder, error) { return daemon.OpenFolder(o.dir) }

// living returns the folder of a running lab, and its Info.
func (o *options) living() (daemon.Folder, *daemon.Info, error) {
	folder, err := o.folder()
	if err != nil {
		return "", nil, err
	}
	info, err := folder.Living()
	if err == nil && info == nil {
		err = fmt.Errorf("no lab runs in %s; start one with: sluice-lab up --dir %s", folder, o.dir)
	}
	return folder, info, err
}

// say returns a function that prints the progress of a command.
func say(cmd *cobra.Command) func(string) {
	return func(step string) { cmd.PrintErrln("lab:", step) }
}
