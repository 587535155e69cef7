// Command sluice-lab simulates, offline, what a cluster needs: a cloud, an image factory, machines that run Talos, and the Kubernetes that they form.
package main

import (
	"os"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cli"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/lab"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], lab.Compose))
}
