package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/control"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/rack"
)

func (o *options) machineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Add existing machines, turn them on and off, replace them",
	}
	cmd.AddCommand(
		o.addMachinesCommand(),
		o.buttonCommand("on", "Turn a machine on", (*control.Client).PowerOn),
		o.buttonCommand("off", "Cut a machine's power", (*control.Client).PowerOff),
		o.replaceCommand(),
	)
	return cmd
}

func (o *options) addMachinesCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Add the machines that the lab does not have, by name, and turn them on; prints their names",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			list, err := readFileOrStdin(cmd, file)
			if err != nil {
				return err
			}
			names, err := folder.Client().AddMachines(cmd.Context(), list)
			if err != nil {
				return err
			}
			for _, name := range names {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "a list of machines, as in the lab's config, in YAML or JSON; - reads standard input")
	_ = cmd.MarkFlagRequired("file") // it fails only for an unknown flag
	return cmd
}

func (o *options) buttonCommand(use, short string, press func(*control.Client, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   use + " <machine>",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			return press(folder.Client(), cmd.Context(), args[0])
		},
	}
}

func (o *options) replaceCommand() *cobra.Command {
	var by rack.Identity
	cmd := &cobra.Command{
		Use:   "replace <machine>",
		Short: "Replace a machine by another one with the same address and an empty disk; prints its identity",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			put, err := folder.Client().Replace(cmd.Context(), args[0], by)
			if err != nil {
				return err
			}
			return printJSON(cmd, put)
		},
	}
	cmd.Flags().StringVar(&by.MAC, "mac", "", "its MAC; generated unless given")
	cmd.Flags().StringVar(&by.UUID, "uuid", "", "its UUID; generated unless given")
	return cmd
}
