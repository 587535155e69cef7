// Package serve runs a bridged provider as a Pulumi plugin without the generated files that upstream plugins embed:
// the schema and the mux table are computed when the plugin starts, which takes about a tenth of a second.
package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfgen"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/x/muxer"
	"github.com/pulumi/pulumi-terraform-bridge/v3/unstable/metadata"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

// Framework serves a provider written for the plugin framework alone.
func Framework(ctx context.Context, info tfbridge.ProviderInfo) {
	pf.Main(ctx, info.Name, info, pf.ProviderMetadata{PackageSchema: mustSchema(info)})
}

// Muxed serves a provider that is partly written for the older SDK.
func Muxed(ctx context.Context, info tfbridge.ProviderInfo) {
	mux, ok := info.P.(interface {
		ResolveDispatch(*tfbridge.ProviderInfo) (muxer.DispatchTable, error)
	})
	if !ok {
		fail(fmt.Errorf("%s is not a muxed provider", info.Name))
	}

	table, err := mux.ResolveDispatch(&info)
	if err != nil {
		fail(err)
	}

	if err := metadata.Set(info.GetMetadata(), "mux", table); err != nil {
		fail(err)
	}

	pf.MainWithMuxer(ctx, info.Name, info, mustSchema(info))
}

// Schema describes the provider to SDK generators and to the engine.
func Schema(info tfbridge.ProviderInfo) (schema.PackageSpec, error) {
	// Documentation is drawn from the provider's own schema: no repository is searched for it.
	result, err := tfgen.GenerateSchemaWithOptions(tfgen.GenerateSchemaOptions{
		ProviderInfo:    info,
		DiagnosticsSink: diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never}),
		XInMemoryDocs:   true,
	})
	if err != nil {
		return schema.PackageSpec{}, fmt.Errorf("schema of %s: %w", info.Name, err)
	}

	return result.PackageSpec, nil
}

func mustSchema(info tfbridge.ProviderInfo) []byte {
	spec, err := Schema(info)
	if err != nil {
		fail(err)
	}

	text, err := json.Marshal(spec)
	if err != nil {
		fail(err)
	}

	return text
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
