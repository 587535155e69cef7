// Package proxmoxve bridges the Proxmox provider, with the tokens of the @muhlba91/pulumi-proxmoxve SDK.
package proxmoxve

import (
	"context"
	"strings"

	"github.com/bpg/terraform-provider-proxmox/fwprovider"
	"github.com/bpg/terraform-provider-proxmox/proxmoxtf/provider"
	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/info"
	sdkv2 "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
)

// Version is that of the npm SDK, so that the engine takes this plugin for it.
const Version = "8.6.0"

const name = "proxmoxve"

// Provider describes the plugin.
func Provider(ctx context.Context) tfbridge.ProviderInfo {
	provider := tfbridge.ProviderInfo{
		P:              pf.MuxShimWithPF(ctx, sdkv2.NewProvider(provider.ProxmoxVirtualEnvironment()), fwprovider.New(Version)()),
		Name:           name,
		ResourcePrefix: "proxmox",
		Version:        Version,
		MetadataInfo:   tfbridge.NewProviderMetadata([]byte("{}")),
	}

	provider.MustComputeTokens(info.Strategy{Resource: resourceToken, DataSource: dataSourceToken})
	provider.SetAutonaming(255, "-")

	return provider
}

func resourceToken(terraformName string, resource *info.Resource) error {
	module, class := split(terraformName)
	resource.Tok = tfbridge.MakeResource(name, module, class)

	return nil
}

func dataSourceToken(terraformName string, dataSource *info.DataSource) error {
	module, class := split(terraformName)
	dataSource.Tok = tfbridge.MakeDataSource(name, module, "get"+class)

	return nil
}

// split follows the SDK: every word but the last is a module, and what Terraform still calls
// proxmox_virtual_environment_* carries the suffix Legacy, for the short name is taken by its successor.
func split(terraformName string) (module, class string) {
	rest := strings.TrimPrefix(terraformName, "proxmox_")
	rest, legacy := strings.CutPrefix(rest, "virtual_environment_")

	words := strings.Split(rest, "_")
	last := words[len(words)-1]
	class = strings.ToUpper(last[:1]) + last[1:]

	if legacy {
		class += "Legacy"
	}

	if module = strings.Join(words[:len(words)-1], "/"); module == "" {
		module = "index"
	}

	return module, class
}
