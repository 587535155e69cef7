package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
)

func (o *options) execCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "exec -- <command> [arguments]",
		Short: "Run a command in the lab's network",
		Long: `Run a command in the lab's network. It sees the files of this machine, finds the lab's tools and the way to its cloud, ends with the lab,
and its exit code is this command's.`,
		Example: "  sluice-lab exec -- curl http://192.0.2.2/status\n  sluice-lab exec -- talosctl --nodes 198.51.100.1 version --insecure",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.enter(daemon.Command{Args: args})
		},
	}
}

func (o *options) shellCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "shell",
		Short: "Open a shell in the lab's network",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			args, env, err := folder.Shell(os.Getenv("SHELL"))
			if err != nil {
				return err
			}
			return o.enter(daemon.Command{Args: args, Env: env})
		},
	}
}

func (o *options) enter(command daemon.Command) error {
	folder, _, err := o.living()
	if err != nil {
		return err
	}
	self, err := ownPath()
	if err != nil {
		return err
	}
	command.Folder = folder
	command.Again = append([]string{self}, os.Args[1:]...)
	command.Become = []string{self, "become"}
	code, err := command.Run()
	if err != nil {
		return err
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
}

// ownPath returns the path of sluice-lab, which starts itself.
func ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the path of sluice-lab: %w", err)
	}
	return self, nil
}

// becomeCommand, recoverCommand, initCommand and serveCommand are the commands with which sluice-lab starts itself.

func becomeCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "become <path> <arguments, from the program's name on>",
		Short:              "Become a program that ends with the process that started it",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return daemon.Become(args[0], args[1:])
		},
	}
}

func recoverCommand() *cobra.Command {
	return &cobra.Command{
		Use:    recovery.Command,
		Short:  "Make the data of etcd from a snapshot, as the standard input asks for",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return recovery.Serve(os.Stdin, os.Stdout) },
	}
}

func (o *options) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "init",
		Short:  "Be the first process of a lab",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			folder, err := o.folder()
			if err != nil {
				return err
			}
			self, err := ownPath()
			if err != nil {
				return err
			}
			code, err := daemon.Init(folder, []string{self, "serve"})
			if err == nil && code != 0 {
				err = exitCode(code)
			}
			return err
		},
	}
}

func (o *options) serveCommand(compose daemon.Compose) *cobra.Command {
	return &cobra.Command{
		Use:    "serve",
		Short:  "Serve a lab in its namespaces",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return daemon.Serve(daemon.Folder(filepath.Clean(o.dir)), compose)
		},
	}
}
