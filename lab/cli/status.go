package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func (o *options) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the state of the lab, as JSON",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			status, err := folder.Client().Status(cmd.Context())
			if err != nil {
				return err
			}
			return printJSON(cmd, status)
		},
	}
}

func (o *options) kubeconfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the kubeconfig of the first cluster, for programs outside of the lab",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			kubeconfig, err := folder.Client().Kubeconfig(cmd.Context())
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(kubeconfig)
			return err
		},
	}
}

func printJSON(cmd *cobra.Command, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
	return err
}

func (o *options) timelineCommand() *cobra.Command {
	var follow, asJSON bool
	var since int
	cmd := &cobra.Command{
		Use:   "timeline",
		Short: "Show what was true in the lab, and when",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, _, err := o.living()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			err = folder.Client().Timeline(ctx, since, follow, func(fact timeline.Fact) error {
				if asJSON {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(fact)
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), line(fact))
				return err
			})
			if ctx.Err() != nil && context.Cause(cmd.Context()) == nil {
				return nil // an interrupt ends --follow
			}
			return err
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new facts until interrupted")
	cmd.Flags().IntVar(&since, "since", 0, "only facts after this number")
	cmd.Flags().BoolVar(&asJSON, "json", false, "a line of JSON for each fact")
	return cmd
}

// line formats a fact for users.
func line(fact timeline.Fact) string {
	text := fmt.Sprintf("%5d %9.3f  %-24s %-12s %s", fact.Seq, fact.At, fact.Subject, fact.What, fact.Value)
	for _, key := range slices.Sorted(maps.Keys(fact.Detail)) {
		text += fmt.Sprintf(" %s=%s", key, fact.Detail[key])
	}
	return text
}

// simulatedBy are the modules whose versions determine what a lab simulates.
var simulatedBy = []string{"github.com/siderolabs/talos", "github.com/hetznercloud/hcloud-go/v2", "k8s.io/client-go"}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions that sluice-lab is built from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines := []string{"sluice-lab, built with " + runtime.Version()}
			if build, ok := debug.ReadBuildInfo(); ok {
				for _, dep := range build.Deps {
					if slices.Contains(simulatedBy, dep.Path) {
						lines = append(lines, dep.Path+" "+dep.Version)
					}
				}
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n"))
			return err
		},
	}
}

// readFileOrStdin reads a file, or standard input for "-".
func readFileOrStdin(cmd *cobra.Command, file string) ([]byte, error) {
	if file != "-" {
		return os.ReadFile(file)
	}
	return io.ReadAll(cmd.InOrStdin())
}
