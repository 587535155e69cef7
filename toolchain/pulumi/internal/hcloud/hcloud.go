// Package hcloud bridges the Hetzner Cloud provider, with the tokens of the @pulumi/hcloud SDK.
package hcloud

import (
	"context"

	"github.com/hetznercloud/terraform-provider-hcloud/hcloud"
	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/tokens"
	sdkv2 "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
)

// Version is that of the npm SDK, so that the engine takes this plugin for it.
const Version = "1.41.0"

// Provider describes the plugin.
func Provider(ctx context.Context) tfbridge.ProviderInfo {
	info := tfbridge.ProviderInfo{
		P:            pf.MuxShimWithPF(ctx, sdkv2.NewProvider(hcloud.Provider()), hcloud.NewPluginProvider()),
		Name:         "hcloud",
		Version:      Version,
		MetadataInfo: tfbridge.NewProviderMetadata([]byte("{}")),
	}

	info.MustComputeTokens(tokens.SingleModule("hcloud_", "index", tokens.MakeStandard("hcloud")))
	info.SetAutonaming(255, "-")

	return info
}
