// One binary for three resource plugins: the engine starts it as pulumi-resource-<name> and it serves that provider.
// Apart they would be 300 MB, most of it the same bridge. Started as talos-sdk it writes the SDK of the Talos plugin.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sluice.invalid/toolchain/pulumi/internal/hcloud"
	"sluice.invalid/toolchain/pulumi/internal/proxmoxve"
	"sluice.invalid/toolchain/pulumi/internal/sdk"
	"sluice.invalid/toolchain/pulumi/internal/serve"
	"sluice.invalid/toolchain/pulumi/internal/talos"
)

func main() {
	ctx := context.Background()

	switch name := filepath.Base(os.Args[0]); name {
	case "pulumi-resource-talos":
		serve.Framework(ctx, talos.Provider(ctx))
	case "pulumi-resource-hcloud":
		serve.Muxed(ctx, hcloud.Provider(ctx))
	case "pulumi-resource-proxmoxve":
		serve.Muxed(ctx, proxmoxve.Provider(ctx))
	case "talos-sdk":
		if len(os.Args) != 2 {
			fail("usage: talos-sdk <folder>")
		}

		if err := sdk.Generate(os.Args[1], talos.Provider(ctx)); err != nil {
			fail(err.Error())
		}
	default:
		fail(fmt.Sprintf("started as %q: want pulumi-resource-talos, -hcloud, -proxmoxve or talos-sdk", name))
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
