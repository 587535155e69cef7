// Package talos bridges the Talos provider, with the tokens and type names of the @pulumiverse/talos SDK.
package talos

import (
	"context"

	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/tokens"
	"github.com/siderolabs/terraform-provider-talos/pkg/talos"
)

// Version is that of the official plugin, so that with internet access the engine fetches that one for the same SDK.
const Version = "0.8.1"

// downloadURL is where the engine looks for the official plugin.
const downloadURL = "github://api.github.com/pulumiverse"

// Provider describes the plugin.
func Provider(ctx context.Context) tfbridge.ProviderInfo {
	info := tfbridge.ProviderInfo{
		P:                 pf.ShimProviderWithContext(ctx, talos.New()),
		Name:              "talos",
		Description:       "Machine secrets, machine configurations and client configurations of Talos Linux clusters.",
		License:           "MPL-2.0",
		Version:           Version,
		PluginDownloadURL: downloadURL,
		MetadataInfo:      tfbridge.NewProviderMetadata([]byte("{}")),
		ExtraTypes:        sharedTypes(),
		Resources: map[string]*tfbridge.ResourceInfo{
			"talos_machine_bootstrap":           {Fields: fields(clientConfiguration)},
			"talos_machine_configuration_apply": {Fields: fields(clientConfiguration, timeouts)},
			"talos_machine_secrets":             {Fields: fields(clientConfiguration, machineSecrets)},
		},
		DataSources: map[string]*tfbridge.DataSourceInfo{
			"talos_machine_configuration": {Fields: fields(machineSecrets)},
		},
		JavaScript: &tfbridge.JavaScriptInfo{
			RespectSchemaVersion: true,
			PackageName:          "@pulumiverse/talos",
			Dependencies:         map[string]string{"@pulumi/pulumi": "^3.0.0"},
		},
	}

	info.MustComputeTokens(tokens.KnownModules(
		"talos_", "index", []string{"client", "cluster", "machine", "image_factory"}, tokens.MakeStandard("talos"),
	))
	info.SetAutonaming(255, "-")

	return info
}
